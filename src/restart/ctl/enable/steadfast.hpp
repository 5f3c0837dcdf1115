// While slurmctld is stopped the order must go on to its end, whatever becomes of the terminal.
#pragma once

#include <array>
#include <csignal>

namespace restart::enable {

// As long as it lives a closed terminal (SIGHUP, SIGPIPE) is nothing to this process, and the first SIGINT or
// SIGTERM only cuts short the waiting for people; the second ends it. One at a time.
class Steadfast {
public:
    Steadfast();
    ~Steadfast();
    Steadfast(const Steadfast&) = delete;
    Steadfast& operator=(const Steadfast&) = delete;

    static bool interrupted();

private:
    static constexpr std::array numbers{SIGHUP, SIGPIPE, SIGINT, SIGTERM};
    std::array<struct sigaction, numbers.size()> before_{};
};

} // namespace restart::enable
