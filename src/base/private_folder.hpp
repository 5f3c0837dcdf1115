// Folders that root puts files into for others to read, and which no other user can replace by a link.
#pragma once

#include "base/expected.hpp"

#include <string>
#include <sys/types.h>

namespace base {

// Makes a folder that only this user can write to, with its parents, or finds that it is one. Errors
// (Code::io): it is a link, another user's or open to others, or a folder above it is one in which another
// could exchange it: no file of ours may be put there. `mode`: 0711 where files in it are for others, but not
// the folder, which they could open and lock.
Expected<void> private_folder(const std::string& path, mode_t mode = 0755);

} // namespace base
