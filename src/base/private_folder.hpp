// Folders where root puts files for others to read, and which no other user can replace by a link.
#pragma once

#include "base/expected.hpp"

#include <string>
#include <sys/types.h>

namespace base {

// Makes a folder that only this user can write to, with its parents, or checks that an existing one is.
// Errors (Code::io): it is a link, belongs to another user or is writable by others, or another user could
// replace it through a parent folder: then no file may be put there. `mode`: 0711 if others need the files in
// it, but must not open and lock the folder itself.
Expected<void> private_folder(const std::string& path, mode_t mode = 0755);

} // namespace base
