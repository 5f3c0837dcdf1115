// While slurmctld is stopped the plan must be completed, whatever happens to the terminal.
#pragma once

#include <array>
#include <csignal>

namespace restart::enable {

// While it exists this process ignores a closed terminal (SIGHUP, SIGPIPE), and the first SIGINT or SIGTERM
// only cuts short waiting for people; the second ends it. One at a time.
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
