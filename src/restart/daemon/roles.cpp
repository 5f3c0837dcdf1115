#include "restart/daemon/roles.hpp"

#include "base/host_port.hpp"
#include "base/user.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <grp.h>
#include <strings.h>
#include <sys/types.h>
#include <vector>

namespace restart {
namespace {

constexpr std::size_t entry_bytes = 1 << 20; // groups list their members; longer entries count as absent

std::optional<gid_t> find_group(const std::string& name) {
    std::vector<char> room(entry_bytes);
    group entry{};
    group* found = nullptr;
    if (::getgrnam_r(name.c_str(), &entry, room.data(), room.size(), &found) != 0 || found == nullptr)
        return {};
    return entry.gr_gid;
}

std::vector<gid_t> groups_of(const base::User& user) {
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

Roles Roles::from(const base::RestartdConf& conf) {
    Roles roles{static_cast<std::uint32_t>(conf.agent_uid),
                conf.operators,
                conf.operator_groups,
                conf.open_reading,
                {}};
    for (const auto& url : conf.url)
        if (auto read = base::parse_url(url)) roles.names.push_back(std::move(read->host));
    return roles;
}

bool Roles::is_own_name(std::string_view host) const {
    const auto bracket = host.find(']');
    const auto colon = host.find(':', bracket == std::string_view::npos ? 0 : bracket);
    const std::string name(host.substr(0, colon));
    if (name.find('.') == std::string::npos) return true; // "", "localhost", "head", "[::1]"
    in_addr address{};
    return ::inet_pton(AF_INET, name.c_str(), &address) == 1 ||
           std::any_of(names.begin(), names.end(),
                       [&](const std::string& own) { return ::strcasecmp(own.c_str(), name.c_str()) == 0; });
}

bool Roles::is_operator(std::uint32_t uid, std::optional<std::uint32_t> rm_owner) const {
    if (uid == 0 || uid == rm_owner) return true;
    if (operators.empty() && operator_groups.empty()) return false;
    const auto user = base::find_user(uid);
    if (!user) return false;
    if (contains(operators, user->name)) return true;
    if (operator_groups.empty()) return false;
    const auto member_of = groups_of(*user);
    return std::any_of(operator_groups.begin(), operator_groups.end(), [&](const std::string& name) {
        const auto group = find_group(name);
        return group && contains(member_of, *group);
    });
}

} // namespace restart
