// Files of a user's directory, opened so that nothing in it can lead or hold the reader elsewhere.
#pragma once

#include "base/unique_fd.hpp"

#include <string_view>

namespace restart::ckpt {

// Opens the file or folder `name` below the folder `root` for reading, following no link in any component; an
// errno in `failed`, 0 when it is open. A pipe in its place does not hang the caller.
base::UniqueFd open_beneath(int root, std::string_view name, int& failed);

// Whether a process has the file open for writing. A read lease (fcntl(2)) is granted only where none has;
// unknown: this file system or this user cannot have one. On network file systems the answer is about this
// host alone.
enum class Writers { none, some, unknown };
Writers writers_of(int fd);

} // namespace restart::ckpt
