// Looks at file systems, each from a thread of its own: a server that does not answer holds up one thread and
// nobody else, and how long it has not is what is told.
#pragma once

#include "base/clock.hpp"
#include "probe/sample.hpp"
#include "restart/watch/background.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace restart {

class MountLooks {
public:
    using Look = std::function<probe::MountSample(const std::string& path)>;

    // Looks at each path at once and then at this interval. `look` may block for ever.
    MountLooks(const std::vector<std::string>& paths, base::Duration interval, const Look& look);
    ~MountLooks();
    MountLooks(const MountLooks&) = delete;
    MountLooks& operator=(const MountLooks&) = delete;

    // What is known now, by path in the order given; a path without a first answer has only how long it has
    // been waited for. Never waits.
    std::vector<probe::MountSample> samples() const;

private:
    struct Mount; // shared with its thread, which may outlive us
    std::vector<std::shared_ptr<Mount>> mounts_;
    std::vector<std::unique_ptr<Background>> threads_;
};

} // namespace restart
