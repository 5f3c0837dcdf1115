// What the daemon's main thread serves between signals: client sockets, none of which it waits for.
#pragma once

#include <chrono>
#include <poll.h>
#include <span>
#include <vector>

namespace restart {

class Served {
public:
    using Clock = std::chrono::steady_clock;

    Served() = default;
    Served(const Served&) = delete;
    Served& operator=(const Served&) = delete;
    virtual ~Served() = default;

    // Adds the descriptors to poll next. Returns the time at which serve() is due regardless of them; max():
    // never.
    virtual Clock::time_point watch(std::vector<pollfd>& into) = 0;
    // The poll results of the descriptors that watch() added, in the same order.
    virtual void serve(std::span<const pollfd> watched) = 0;
};

// Polls once, until that time at the latest, `own` descriptors and those of all that are served; null entries
// are skipped. Returns with the results for `own`, restored to its length.
void poll_and_serve(std::vector<pollfd>& own, std::span<Served* const> all, Served::Clock::time_point until);

} // namespace restart
