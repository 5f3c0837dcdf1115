// Signals as something to poll: SIGTERM and SIGINT ask to stop, SIGHUP to read the configuration again.
#pragma once

#include "base/clock.hpp"
#include "base/unique_fd.hpp"

#include <vector>

namespace restart {

class Signals {
public:
    // Blocks the three in this thread and those it will make, and ignores SIGPIPE: call before any thread.
    Signals();

    // Waits, at most so long, for a signal or until the descriptor `other` can be read.
    enum class What { nothing, stop, reload };
    What wait(base::Duration longest, int other = -1) const;

    // Readable while a signal waits to be taken.
    int fd() const { return fd_.get(); }

private:
    base::UniqueFd fd_;
};

} // namespace restart
