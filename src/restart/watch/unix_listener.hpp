// A listening Unix stream socket at a path, for all users of this host.
#pragma once

#include "base/expected.hpp"
#include "base/unique_fd.hpp"

#include <filesystem>
#include <string_view>

namespace restart {

// Listens at `path` (mode 0666, non-blocking). A stale socket file is replaced, and a client finds either
// that or a listening socket; a missing last directory is created (mode 0755). `key` is the configuration key
// to name in errors: Code::unavailable when another server answers there; Code::io with the path and the
// reason; Code::input for a path that is too long for a socket. The caller removes the file.
base::Expected<base::UniqueFd> listen_unix(const std::filesystem::path& path, std::string_view key,
                                           int backlog);

} // namespace restart
