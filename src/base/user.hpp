// Users by name and number. Looked up on each call, so that a directory service that was unavailable at start
// has no lasting effect. Each call may block on that service.
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
    gid_t group = 0; // the primary one
};

std::optional<User> find_user(uid_t uid);

// The number of a user given by name or number. Errors: Code::input for a name that this host does not know.
Expected<uid_t> find_uid(const std::string& user);

// The user's name, or the number as text if there is none.
std::string user_name(uid_t uid);

} // namespace base
