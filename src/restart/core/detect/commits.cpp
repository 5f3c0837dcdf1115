// What a job's commits show: its progress, and what a checkpoint costs it.

#include "restart/core/detect/detect.hpp"

#include <algorithm>
#include <cmath>

namespace restart {
namespace {

constexpr base::Duration day = std::chrono::hours(24);

// The newest has the largest weight, but one slow write does not triple the deadline.
std::chrono::microseconds blended(std::chrono::microseconds before, double seconds) {
    constexpr double weight = 0.5;
    const auto newest = seconds * 1e6, known = static_cast<double>(before.count());
    const auto mixed = known > 0 ? known + weight * (newest - known) : newest;
    return std::chrono::microseconds(std::max<std::int64_t>(1, std::llround(mixed)));
}

} // namespace

void record_commit(JobState& job, const Commit& commit) {
    if (!job.commit || commit.step > job.commit->step) job.crashes.futile = 0;
    job.commit = commit;
    job.cost = blended(job.cost, commit.cost_s);
    job.safe_after = blended(job.safe_after, std::max(commit.cost_s, commit.safe_s));
}

void credit_progress(JobState& job, base::Time until) {
    auto& crashes = job.crashes;
    if (crashes.all == 0 && crashes.futile == 0) return;
    // A job that reports no commits is assumed to progress while it runs.
    const bool tells = job.commit.has_value();
    crashes.progress += std::max((tells ? job.commit->committed : until) - job.ran_since, base::Duration{});
    for (; crashes.progress >= day && crashes.all > 0; crashes.progress -= day) {
        crashes.all /= 2;
        if (!tells) crashes.futile /= 2;
    }
    if (crashes.all == 0) crashes.progress = {};
}

} // namespace restart
