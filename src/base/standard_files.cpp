#include "base/standard_files.hpp"

#include <fcntl.h>
#include <initializer_list>
#include <unistd.h>

namespace base {

void open_standard_files() {
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (::fcntl(fd, F_GETFD) == -1) ::open("/dev/null", O_RDWR); // the lowest free number: this one
}

} // namespace base
