// How a daemon reports that it is ready: to the process that passed it a descriptor (--ready-fd), and to
// systemd.
#pragma once

#include "base/expected.hpp"

#include <string_view>

namespace base {

// Writes "READY\n" to `fd` and closes it (fd < 0: not requested), and sends READY=1 to $NOTIFY_SOCKET if that
// is set (sd_notify(3), units of Type=notify). Error (Code::io): `fd` is not an open descriptor, or has no
// reader.
Expected<void> report_ready(int fd);

// Sends a state of sd_notify(3), such as "STOPPING=1", to $NOTIFY_SOCKET if that is set. Failures are
// ignored: a daemon also works without systemd, or if systemd does not listen.
void notify_systemd(std::string_view state);

} // namespace base
