// A listening Unix stream socket at a path, for everybody on this host.
#pragma once

#include "base/expected.hpp"
#include "base/unique_fd.hpp"

#include <filesystem>
#include <string_view>

namespace restart {

// Listens at `path` (mode 0666, not blocking). A file that a dead server left there is replaced, and a client
// finds either that or a listening socket; a missing last directory is made (mode 0755). `key` names the
// configuration's key in errors: Code::unavailable when another server answers there; Code::io with the path
// and the reason; Code::input for a path that is too long for a socket. Who removes the file is the caller.
base::Expected<base::UniqueFd> listen_unix(const std::filesystem::path& path, std::string_view key,
                                           int backlog);

} // namespace restart
