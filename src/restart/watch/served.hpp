// What the daemon's main thread serves between signals: sockets of others, for none of whom it waits.
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

    // Adds the descriptors to be polled next. Returns when serve() is due whatever they say; max(): never.
    virtual Clock::time_point watch(std::vector<pollfd>& into) = 0;
    // What they said: those that watch() added, in that order.
    virtual void serve(std::span<const pollfd> watched) = 0;
};

// One poll, until that time at the latest, of `own` descriptors, which stand first, and those of all that are
// served; null ones are passed over. Returns with what `own` said. `own` is put back to its length.
void poll_and_serve(std::vector<pollfd>& own, std::span<Served* const> all, Served::Clock::time_point until);

} // namespace restart
