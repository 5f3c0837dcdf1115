// How a daemon tells that it serves: to whoever gave it a descriptor (--ready-fd), and to systemd.
#pragma once

#include "base/expected.hpp"

namespace base {

// Writes "READY\n" to `fd` and closes it (fd < 0: nobody asked), and sends READY=1 to $NOTIFY_SOCKET where
// that is set (sd_notify(3), units of Type=notify). Error (Code::io): `fd` is no open descriptor or nobody
// reads it.
Expected<void> tell_ready(int fd);

} // namespace base
