#include "base/user.hpp"

#include "base/units.hpp"

#include <array>
#include <pwd.h>

namespace base {
namespace {

using Room = std::array<char, 16 << 10>; // for an entry's strings; longer ones count as absent

User user_of(const passwd& entry) {
    return {entry.pw_name, entry.pw_uid, entry.pw_gid};
}

} // namespace

std::optional<User> find_user(uid_t uid) {
    Room room{};
    passwd entry{};
    passwd* found = nullptr;
    if (::getpwuid_r(uid, &entry, room.data(), room.size(), &found) != 0 || found == nullptr) return {};
    return user_of(entry);
}

Expected<uid_t> find_uid(const std::string& user) {
    if (const auto number = parse_count(user); number && *number < static_cast<uid_t>(-1))
        return static_cast<uid_t>(*number);
    Room room{};
    passwd entry{};
    passwd* found = nullptr;
    if (::getpwnam_r(user.c_str(), &entry, room.data(), room.size(), &found) != 0 || found == nullptr)
        return Error{Code::input, "this host knows no user \"" + user + "\""};
    return entry.pw_uid;
}

std::string user_name(uid_t uid) {
    const auto user = find_user(uid);
    return user ? user->name : std::to_string(uid);
}

} // namespace base
