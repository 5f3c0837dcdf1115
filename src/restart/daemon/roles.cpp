#include "restart/daemon/roles.hpp"

#include <algorithm>
#include <array>
#include <grp.h>
#include <pwd.h>
#include <sys/types.h>

namespace restart {
namespace {

constexpr std::size_t entry_bytes =
    16 << 10; // getpwuid_r's and getgrnam_r's room; longer entries count as absent

struct User {
    std::string name;
    gid_t group = 0;
};

std::optional<User> find_user(std::uint32_t uid) {
    std::array<char, entry_bytes> room{};
    passwd entry{};
    passwd* found = nullptr;
    if (::getpwuid_r(uid, &entry, room.data(), room.size(), &found) != 0 || found == nullptr) return {};
    return User{entry.pw_name, entry.pw_gid};
}

std::optional<gid_t> find_group(const std::string& name) {
    std::vector<char> room(entry_bytes * 64); // groups list their members
    group entry{};
    group* found = nullptr;
    if (::getgrnam_r(name.c_str(), &entry, room.data(), room.size(), &found) != 0 || found == nullptr)
        return {};
    return entry.gr_gid;
}

std::vector<gid_t> groups_of(const User& user) {
    std::vector<gid_t> groups(64);
    int count = static_cast<int>(groups.size());
    if (::getgrouplist(user.name.c_str(), user.group, groups.data(), &count) < 0) {
        groups.resize(static_cast<std::size_t>(std::max(count, 1)));
        count = static_cast<int>(groups.size());
        if (::getgrouplist(user.name.c_str(), user.group, groups.data(), &count) < 0) count = 0;
    }
    groups.resize(static_cast<std::size_t>(std::max(count, 0)));
    return groups;
}

bool contains(const auto& list, const auto& value) {
    return std::find(list.begin(), list.end(), value) != list.end();
}

} // namespace

Roles Roles::from(const base::Conf& conf) {
    Roles roles;
    roles.agent_uid = static_cast<std::uint32_t>(conf.count("restartd", "agent_uid"));
    roles.operators = conf.text_list("restartd", "operators");
    roles.operator_groups = conf.text_list("restartd", "operator_groups");
    roles.open_reading = conf.boolean("restartd", "open_reading");
    return roles;
}

bool Roles::is_operator(std::uint32_t uid, std::optional<std::uint32_t> rm_owner) const {
    if (uid == 0 || uid == rm_owner) return true;
    if (operators.empty() && operator_groups.empty()) return false;
    const auto user = find_user(uid);
    if (!user) return false;
    if (contains(operators, user->name)) return true;
    if (operator_groups.empty()) return false;
    const auto member_of = groups_of(*user);
    return std::any_of(operator_groups.begin(), operator_groups.end(), [&](const std::string& name) {
        const auto group = find_group(name);
        return group && contains(member_of, *group);
    });
}

std::string user_name(std::uint32_t uid) {
    const auto user = find_user(uid);
    return user ? user->name : std::to_string(uid);
}

} // namespace restart
