// Looks at file systems, each in a task of its own: a server that does not answer holds up no other, and how
// long it has not is what is told.
#pragma once

#include "base/clock.hpp"
#include "probe/sample.hpp"
#include "restart/watch/task_loop.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace restart {

class MountLooks {
public:
    using Look = std::function<probe::MountSample(const std::string& path)>;

    // Looks at each path at once and then at this interval. `look` may block for ever.
    MountLooks(TaskLoop& loop, const std::vector<std::string>& paths, base::Duration interval,
               const Look& look);

    // What is known now, by path in the order given; a path without a first answer has only how long it has
    // been waited for. Never waits.
    std::vector<probe::MountSample> samples() const;

private:
    struct Mount; // shared with its task, which may outlive us
    std::vector<std::shared_ptr<Mount>> mounts_;
    std::vector<TaskLoop::Task> tasks_;
};

} // namespace restart
