#include "restart/watch/mount_looks.hpp"

#include <optional>

namespace restart {
namespace {

using Clock = std::chrono::steady_clock;

} // namespace

struct MountLooks::Mount {
    base::Duration interval;
    Look look;
    std::mutex mutex; // of all below
    probe::MountSample last;
    std::optional<Clock::time_point> asked; // and not answered yet

    void run(std::stop_token stop) {
        const auto path = last.path; // nobody changes it
        do {
            {
                const std::lock_guard lock(mutex);
                asked = Clock::now();
            }
            auto fresh = look(path);
            const std::lock_guard lock(mutex);
            asked.reset();
            // A look that failed says nothing of the rest.
            if (fresh.failed != 0)
                last.failed = fresh.failed;
            else
                last = std::move(fresh);
        } while (pause(stop, interval));
    }
};

MountLooks::MountLooks(const std::vector<std::string>& paths, base::Duration interval, const Look& look) {
    for (const auto& path : paths) {
        auto mount = std::shared_ptr<Mount>(new Mount{interval, look, {}, {}, {}});
        mount->last.path = path;
        mounts_.push_back(mount);
        threads_.push_back(std::make_unique<Background>([mount](std::stop_token stop) { mount->run(stop); }));
    }
}

MountLooks::~MountLooks() {
    for (const auto& thread : threads_) // together: each is waited for
        thread->stop();
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
