// Waits for a descriptor, up to a deadline.
#pragma once

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <poll.h>

namespace base {

// Waits until `fd` is ready for `events` (poll(2)), has an error or is closed. False: the deadline passed.
inline bool wait_ready(int fd, short events, std::chrono::steady_clock::time_point deadline) {
    for (;;) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
        pollfd watched{fd, events, 0};
        const int n = ::poll(&watched, 1, static_cast<int>(std::max<std::int64_t>(0, left.count())));
        if (n > 0) return true;
        if (n == 0 || errno != EINTR) return false;
    }
}

} // namespace base
