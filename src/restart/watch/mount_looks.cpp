#include "restart/watch/mount_looks.hpp"

#include <optional>

namespace restart {
namespace {

using Clock = std::chrono::steady_clock;

} // namespace

struct MountLooks::Mount {
    base::Duration interval;
    Look look;
    std::mutex mutex; // of the members below
    probe::MountSample last;
    std::optional<Clock::time_point> asked; // and not yet answered

    TaskLoop::Clock::time_point look_again() {
        const auto path = last.path; // constant
        {
            const std::lock_guard lock(mutex);
            asked = Clock::now();
        }
        auto fresh = look(path);
        const std::lock_guard lock(mutex);
        asked.reset();
        // After a failure only that is known.
        if (fresh.failed != 0)
            last.failed = fresh.failed;
        else
            last = std::move(fresh);
        return next_beat(interval);
    }
};

MountLooks::MountLooks(TaskLoop& loop, const std::vector<std::string>& paths, base::Duration interval,
                       const Look& look) {
    for (const auto& path : paths) {
        auto mount = std::shared_ptr<Mount>(new Mount{interval, look, {}, {}, {}});
        mount->last.path = path;
        mounts_.push_back(mount);
        tasks_.push_back(loop.add([mount] { return mount->look_again(); }));
    }
}

std::vector<probe::MountSample> MountLooks::samples() const {
    std::vector<probe::MountSample> samples;
    for (const auto& mount : mounts_) {
        const std::lock_guard lock(mount->mutex);
        auto& sample = samples.emplace_back(mount->last);
        if (mount->asked)
            sample.silent_s = std::chrono::duration<double>(Clock::now() - *mount->asked).count();
    }
    return samples;
}

} // namespace restart
