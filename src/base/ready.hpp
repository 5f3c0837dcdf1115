// How a daemon reports that it serves: to the process that gave it a descriptor (--ready-fd), and to systemd.
#pragma once

#include "base/expected.hpp"

#include <string_view>

namespace base {

// Writes "READY\n" to `fd` and closes it (fd < 0: nobody asked), and sends READY=1 to $NOTIFY_SOCKET where
// that is set (sd_notify(3), units of Type=notify). Error (Code::io): `fd` is no open descriptor or nobody
// reads it.
Expected<void> report_ready(int fd);

// Sends a state of sd_notify(3), such as "STOPPING=1", to $NOTIFY_SOCKET where that is set. A daemon without
// systemd, or whose systemd does not listen, serves all the same.
void notify_systemd(std::string_view state);

} // namespace base
