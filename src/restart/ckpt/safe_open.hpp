// Opens files of a user's directory so that nothing in it can redirect or block the reader.
#pragma once

#include "base/unique_fd.hpp"

#include <string_view>

namespace restart::ckpt {

// Opens the file or folder `name` below the folder `root` for reading, following no link in any component;
// sets `failed` to an errno, 0 when it is open. A FIFO in its place does not block the caller.
base::UniqueFd open_beneath(int root, std::string_view name, int& failed);

// Whether a process has the file open for writing. A read lease (fcntl(2)) is granted only if none has;
// unknown: this file system or this user cannot have one. On network file systems the answer covers this host
// alone.
enum class Writers { none, some, unknown };
Writers writers_of(int fd);

} // namespace restart::ckpt
