// Users by name and number. Looked up when asked for, so that a directory service that was away at start does
// not count for ever. Each call may wait for that service.
#pragma once

#include "base/expected.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace base {

struct User {
    std::string name;
    uid_t uid = 0;
    gid_t group = 0; // the first
};

std::optional<User> find_user(uid_t uid);

// The number of a user given by name or number. Errors: Code::input for a name that this host does not know.
Expected<uid_t> find_uid(const std::string& user);

// The user's name, or the number as text for a user without one.
std::string user_name(uid_t uid);

} // namespace base
