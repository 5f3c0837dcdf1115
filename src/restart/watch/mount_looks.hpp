// Checks file systems, each in its own task: a server that does not answer delays no other, and the time
// without an answer is what is reported.
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

    // Checks each path at once and then at this interval. `look` may block forever.
    MountLooks(TaskLoop& loop, const std::vector<std::string>& paths, base::Duration interval,
               const Look& look);

    // The current state, by path in the given order; before its first answer a path has only its waiting
    // time. Never waits.
    std::vector<probe::MountSample> samples() const;

private:
    struct Mount; // shared with its task, which may outlive us
    std::vector<std::shared_ptr<Mount>> mounts_;
    std::vector<TaskLoop::Task> tasks_;
};

} // namespace restart
