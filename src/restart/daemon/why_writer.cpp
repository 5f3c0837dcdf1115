#include "restart/daemon/why_writer.hpp"

#include "base/log.hpp"
#include "restart/daemon/situation.hpp"
#include "sched/say/words.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>

namespace restart {
namespace {

using namespace std::chrono_literals;

constexpr base::Duration between_passes = 5s;
constexpr base::Duration between_changes = 1min;
constexpr base::Duration driver_within = 5s;
constexpr std::size_t most_changes = 16;
constexpr std::size_t most_explained = 200;
// Of gangs that restartd places (LSF), this many from the front of the order; those behind wait for these,
// and each text is an event that LSF keeps.
constexpr std::size_t most_gangs = 100;

bool concerns_us(const QueueJob& job, std::uint32_t largest_unit) {
    const auto& hints = job.hints;
    return hints.span || hints.segment || hints.spares || hints.order || job.least > largest_unit;
}

std::uint32_t largest_unit(const sched::PlacementIndex& index) {
    std::uint32_t most = 0;
    for (const auto& unit : index.units)
        most = std::max(most, unit.size);
    return most;
}

} // namespace

std::vector<WhyPlan::Change> WhyPlan::due(const RmQueue& queue, const sched::Placing& placing, bool explain,
                                          const std::optional<RmPrivacy>& hides) {
    std::vector<Change> changes;
    std::vector<const QueueJob*> waiting;
    const auto unit = largest_unit(placing.placer.index());
    std::size_t gangs = 0;
    for (const auto& job : queue.jobs) {
        const bool ours = job.standing ? gangs++ < most_gangs : concerns_us(job, unit);
        const bool wanted = explain && job.phase == QueuePhase::waiting && ours;
        if (wanted)
            waiting.push_back(&job);
        else if (job.phase != QueuePhase::leaving && !job.shown.empty() && changes.size() < most_changes)
            changes.push_back({job.id, {}});
    }
    std::sort(waiting.begin(), waiting.end(),
              [](const QueueJob* a, const QueueJob* b) { return a->id < b->id; });
    std::map<base::JobId, base::Time> still;
    for (const auto* job : waiting)
        if (const auto last = written_.find(job->id); last != written_.end()) still.insert(*last);
    written_ = std::move(still);
    // In turn, so that a long queue is processed over several passes.
    const auto first =
        std::find_if(waiting.begin(), waiting.end(), [&](const QueueJob* job) { return job->id > next_; });
    std::rotate(waiting.begin(), first, waiting.end());
    std::size_t explained = 0;
    for (const auto* job : waiting) {
        if (explained == most_explained || changes.size() >= most_changes) break;
        const auto last = written_.find(job->id);
        if (last != written_.end() && queue.read - last->second < between_changes) continue;
        ++explained;
        next_ = job->id;
        const auto view = view_of_owner(job->owner, hides);
        const auto situation = situation_of(queue, placing, job->id, view);
        const auto text = situation ? sentence_of(*situation, placing) : std::string();
        if (sched::as_phrase(text, sched::longest_shown) == job->shown) continue;
        changes.push_back({job->id, text});
        written_[job->id] = queue.read;
    }
    return changes;
}

WhyWriter::WhyWriter(Driver& driver)
    : driver_(driver), thread_([this](const std::stop_token& stop) { run(stop); }) {}

void WhyWriter::run(const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any sleep;
    std::unique_lock lock(mutex);
    while (!stop.stop_requested()) {
        pass();
        sleep.wait_for(lock, stop, between_passes, [] { return false; });
    }
}

void WhyWriter::pass() {
    const auto [observing, explain] = driver_.look([](const State&, const DriverStatus& status) {
        return std::pair(status.policy.observe_only, status.explain_pending);
    });
    const auto placing = driver_.placing();
    if (observing || !placing || (!explain && clean_)) return;
    const auto queue = driver_.queue(driver_within);
    if (!queue) return; // the driver has logged that the resource manager is away
    const auto changes = plan_.due(**queue, *placing, explain, driver_.privacy());
    clean_ = !explain && changes.empty();
    std::string failed;
    for (const auto& change : changes) {
        const auto done = driver_.write_why(change.job, change.text, driver_within);
        if (done) continue;
        if (done.error().code == base::Code::unavailable) return;
        if (failed.empty()) failed = done.error().text;
    }
    if (!failed.empty() && failed_ != failed)
        base::log::warning("the comment of a job that waits: {}", failed);
    failed_ = failed;
}

} // namespace restart
