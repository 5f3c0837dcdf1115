#include "restart/watch/job_book.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace restart {
namespace {

// A process whose steps are longer than a window keeps its last marks for this many windows.
constexpr int most_windows_without = 3;

} // namespace

base::Expected<void> JobBook::join(const JobKey& job) {
    const std::lock_guard lock(mutex_);
    if (const auto known = entries_.find(job); known != entries_.end()) {
        ++known->second.clients;
        known->second.idle = 0;
        return {};
    }
    const auto full = [&] {
        const auto of_user = static_cast<std::size_t>(std::count_if(
            entries_.begin(), entries_.end(), [&](const auto& entry) { return entry.first.uid == job.uid; }));
        return entries_.size() >= most_entries || of_user >= most_entries_a_uid;
    };
    if (full()) std::erase_if(entries_, [](const auto& entry) { return entry.second.silent(); });
    if (full())
        return base::Error{base::Code::unfit,
                           fmt::format("too many jobs on this host speak for uid {}", job.uid)};
    entries_[job].clients = 1;
    return {};
}

void JobBook::leave(const JobKey& job) {
    const std::lock_guard lock(mutex_);
    const auto known = entries_.find(job);
    if (known != entries_.end()) --known->second.clients;
}

void JobBook::commit(const JobKey& job, Commit commit) {
    const std::lock_guard lock(mutex_);
    const auto known = entries_.find(job);
    if (known == entries_.end()) return;
    known->second.commit = std::move(commit);
    known->second.reported = false;
    known->second.own_save_by.reset();
}

void JobBook::save(const JobKey& job, base::Time by) {
    const std::lock_guard lock(mutex_);
    const auto known = entries_.find(job);
    if (known != entries_.end()) known->second.own_save_by = by;
}

void JobBook::mark(const JobKey& job, const JobMark& mark, Clock::time_point now) {
    const std::lock_guard lock(mutex_);
    const auto known = entries_.find(job);
    if (known == entries_.end()) return;
    if (auto& entry = known->second; mark.first && !entry.stepped) {
        entry.stepped =
            now - std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(mark.seconds));
        entry.stepped_said = 0;
    }
    auto& marked = known->second.marked;
    if (marked.size() >= most_paced_ranks && !marked.contains(mark.rank)) return;
    auto& sums = marked[mark.rank];
    sums.steps += static_cast<double>(mark.steps);
    sums.seconds += mark.seconds;
    sums.waited_s += mark.waited_s;
}

bool JobBook::end_window() {
    const std::lock_guard lock(mutex_);
    bool any = false;
    for (auto& [key, entry] : entries_) {
        entry.ranks.clear();
        for (auto at = entry.marked.begin(); at != entry.marked.end();) {
            auto& [rank, sums] = *at;
            sums.windows_without = sums.seconds > 0 ? 0 : sums.windows_without + 1;
            if (sums.seconds > 0)
                sums.last = {rank, std::min(1e6, rounded(sums.steps / sums.seconds)),
                             std::clamp(rounded(sums.waited_s / sums.seconds), 0.0, 1.0)};
            sums.steps = sums.seconds = sums.waited_s = 0;
            if (sums.windows_without > most_windows_without) {
                at = entry.marked.erase(at);
                continue;
            }
            entry.ranks.push_back(sums.last);
            ++at;
        }
        any = any || !entry.ranks.empty();
    }
    return any;
}

void JobBook::put_nccl(std::uint32_t uid, const std::optional<NcclWord>& word) {
    const std::lock_guard lock(mutex_);
    // With several jobs of one user the job is ambiguous.
    const bool one = jobs_of(uid) == 1;
    for (auto& [key, entry] : entries_)
        if (key.uid == uid) entry.nccl = one && entry.clients > 0 ? word : std::nullopt;
}

void JobBook::put_fault(std::uint32_t uid, std::optional<std::uint32_t> job, const ProgramFault& fault) {
    const std::lock_guard lock(mutex_);
    Entry* of = nullptr; // the last of the job's starts
    for (auto& [key, entry] : entries_)
        if (key.uid == uid && (job ? key.id == *job : entry.clients > 0)) of = &entry;
    if (of == nullptr || of->faulted || (!job && jobs_of(uid) != 1)) return;
    of->fault = fault;
    of->faulted = true;
}

std::size_t JobBook::jobs_of(std::uint32_t uid) const {
    return static_cast<std::size_t>(std::count_if(entries_.begin(), entries_.end(), [&](const auto& entry) {
        return entry.first.uid == uid && entry.second.clients > 0;
    }));
}

bool JobBook::has_user(std::uint32_t uid) const {
    const std::lock_guard lock(mutex_);
    return std::any_of(entries_.begin(), entries_.end(),
                       [&](const auto& entry) { return entry.first.uid == uid && entry.second.clients > 0; });
}

bool JobBook::has_clients() const {
    const std::lock_guard lock(mutex_);
    return std::any_of(entries_.begin(), entries_.end(),
                       [](const auto& entry) { return entry.second.clients > 0; });
}

Advice JobBook::advice(const JobKey& job) const {
    const std::lock_guard lock(mutex_);
    const auto known = entries_.find(job);
    if (known == entries_.end()) return {};
    auto advice = known->second.advice;
    const auto& own = known->second.own_save_by;
    if (own && (!advice.save_by || *own < *advice.save_by)) advice.save_by = own;
    return advice;
}

base::Expected<bool> JobBook::run(const JobKey& job, std::uint64_t holder, std::optional<JobRun> run) {
    const std::lock_guard lock(mutex_);
    const auto known = entries_.find(job);
    if (known == entries_.end()) return false;
    auto& entry = known->second;
    if (entry.run && entry.holder != holder) {
        if (!run) return false;
        return base::Error{base::Code::unfit, "another railrun of this job speaks for it already"};
    }
    if (entry.run == run) return false;
    entry.holder = holder;
    entry.run = std::move(run);
    if (!entry.run) entry.order.reset();
    return true;
}

std::uint64_t JobBook::new_holder() {
    const std::lock_guard lock(mutex_);
    return ++holders_;
}

RunAdvice JobBook::run_advice(const JobKey& job) const {
    const std::lock_guard lock(mutex_);
    const auto known = entries_.find(job);
    if (known == entries_.end()) return {};
    const auto& entry = known->second;
    return {answered_ && entry.run && entry.run == entry.run_told, entry.suspected, entry.order};
}

void JobBook::preflight(const JobKey& job, Preflight preflight) {
    const std::lock_guard lock(mutex_);
    const auto known = entries_.find(job);
    if (known == entries_.end() || known->second.preflight == preflight) return;
    known->second.preflight = std::move(preflight);
    known->second.preflight_advice = {};
    known->second.preflight_said = 0;
}

void JobBook::end_preflight(const JobKey& job) {
    const std::lock_guard lock(mutex_);
    const auto known = entries_.find(job);
    if (known != entries_.end() && known->second.preflight) known->second.preflight->requeue = false;
}

PreflightAdvice JobBook::preflight_advice(const JobKey& job) const {
    const std::lock_guard lock(mutex_);
    const auto known = entries_.find(job);
    return known == entries_.end() ? PreflightAdvice() : known->second.preflight_advice;
}

void JobBook::keep(const JobKey& job, Kept before, Kept now) {
    const std::lock_guard lock(mutex_);
    const auto known = entries_.find(job);
    if (known == entries_.end()) return;
    auto& entry = known->second;
    const auto count = [&](Kept kept, int by) {
        if (kept != Kept::no) entry.keepers += static_cast<std::size_t>(by);
        if (kept == Kept::ended) entry.ended += static_cast<std::size_t>(by);
    };
    count(before, -1);
    count(now, 1);
    if (entry.keepers == 0) entry.end.reset();
}

KeepAdvice JobBook::keep_advice(const JobKey& job) const {
    const std::lock_guard lock(mutex_);
    const auto known = entries_.find(job);
    return {known == entries_.end() ? std::nullopt : known->second.end, cut_off_};
}

bool JobBook::keeps_any() const {
    const std::lock_guard lock(mutex_);
    return std::any_of(entries_.begin(), entries_.end(),
                       [](const auto& entry) { return entry.second.keepers > 0; });
}

void JobBook::set_cut_off(std::optional<std::string> why) {
    const std::lock_guard lock(mutex_);
    cut_off_ = std::move(why);
}

JobBook::Awaited JobBook::awaited() const {
    const std::lock_guard lock(mutex_);
    auto awaited = Awaited::nothing;
    for (const auto& [key, entry] : entries_) {
        if (entry.preflight && entry.preflight->requeue) return Awaited::now;
        if (!entry.run) continue;
        if (entry.run->ended || entry.advice.save_by) return Awaited::now;
        awaited = Awaited::later;
    }
    return awaited;
}

std::vector<JobReport> JobBook::entries(Clock::time_point now) const {
    const std::lock_guard lock(mutex_);
    std::vector<JobReport> jobs;
    for (const auto& [key, entry] : entries_) {
        auto& job = jobs.emplace_back(
            JobReport{key.id, key.epoch, key.uid, std::nullopt, std::nullopt, entry.nccl, entry.ranks});
        if (entry.stepped)
            job.stepped_s = rounded(std::chrono::duration<double>(now - *entry.stepped).count());
        if (entry.keepers > 0) job.kept = entry.ended == entry.keepers ? Kept::ended : Kept::here;
    }
    std::size_t bytes = 0, i = 0;
    for (const auto& [key, entry] : entries_) {
        auto& job = jobs[i++];
        if (!entry.run || bytes + entry.run->hosts.size() + entry.run->spares.size() > most_run_bytes)
            continue;
        bytes += entry.run->hosts.size() + entry.run->spares.size();
        job.run = entry.run;
    }
    std::size_t faults = 0;
    i = 0;
    for (const auto& [key, entry] : entries_) {
        auto& job = jobs[i++];
        if (entry.fault && faults++ < most_faults) job.fault = entry.fault;
    }
    std::size_t preflights = 0;
    for (const bool asks : {true, false}) {
        i = 0;
        for (const auto& [key, entry] : entries_) {
            auto& job = jobs[i++];
            if (!entry.preflight || entry.preflight->requeue != asks || preflights == most_preflights)
                continue;
            ++preflights;
            job.preflight = entry.preflight;
        }
    }
    bytes = 0;
    for (const bool reported : {false, true}) {
        i = 0;
        for (const auto& [key, entry] : entries_) {
            auto& job = jobs[i++];
            if (!entry.commit || entry.reported != reported ||
                bytes + entry.commit->path.size() > most_path_bytes)
                continue;
            bytes += entry.commit->path.size();
            job.ckpt = entry.commit;
        }
    }
    return jobs;
}

void JobBook::unanswered() {
    const std::lock_guard lock(mutex_);
    answered_ = false;
}

void JobBook::delivered(const std::vector<JobReport>& sent, const Reply& reply) {
    const std::lock_guard lock(mutex_);
    answered_ = true;
    for (const auto& job : sent) {
        const auto known = entries_.find({job.id, job.epoch, job.uid});
        if (known == entries_.end()) continue;
        auto& entry = known->second;
        entry.reported = entry.reported || (job.ckpt && job.ckpt == entry.commit);
        entry.run_told = job.run;
        if (entry.silent() && ++entry.idle > idle_answers) entries_.erase(known);
    }
    for (auto& [key, entry] : entries_) {
        const auto said =
            std::find_if(reply.jobs.begin(), reply.jobs.end(), [&, &k = key](const JobReply& job) {
                return job.id == k.id && job.epoch == k.epoch;
            });
        if (entry.stepped && std::any_of(sent.begin(), sent.end(), [&, &k = key](const JobReport& job) {
                return job.stepped_s && job.id == k.id && job.epoch == k.epoch && job.uid == k.uid;
            })) // a job that has just started may not be known yet
            if (said != reply.jobs.end() || ++entry.stepped_said >= most_stepped_said) entry.stepped.reset();
        if (entry.fault && std::any_of(sent.begin(), sent.end(), [&, &k = key](const JobReport& job) {
                return job.fault && job.id == k.id && job.epoch == k.epoch && job.uid == k.uid;
            }))
            if (said != reply.jobs.end() || ++entry.fault_said >= most_stepped_said) entry.fault.reset();
        if (said != reply.jobs.end())
            entry.advice = {said->interval_s, said->save_by, said->incident};
        else // restartd no longer requests anything; the last interval stays valid
            entry.advice = {entry.advice.interval_s, std::nullopt, std::nullopt};
        entry.order = said != reply.jobs.end() ? said->order : std::nullopt;
        if (entry.preflight && said != reply.jobs.end()) entry.preflight_advice = said->preflight;
        // A request is repeated until the requester has left.
        if (entry.preflight && !entry.preflight->requeue &&
            std::any_of(sent.begin(), sent.end(), [&, &k = key, &e = entry](const JobReport& job) {
                return job.preflight == e.preflight && job.id == k.id && job.epoch == k.epoch &&
                       job.uid == k.uid;
            }))
            if (said != reply.jobs.end() || ++entry.preflight_said >= most_stepped_said)
                entry.preflight.reset();
        entry.suspected = said != reply.jobs.end() && said->suspected;
        const auto over =
            std::find_if(reply.ends.begin(), reply.ends.end(),
                         [&, &k = key](const JobEnd& end) { return end.id == k.id && end.epoch == k.epoch; });
        entry.end = over == reply.ends.end() || entry.keepers == 0 ? std::nullopt : std::optional(over->why);
    }
}

std::size_t JobBook::undelivered() const {
    const std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(std::count_if(entries_.begin(), entries_.end(),
                                                  [](const auto& entry) { return !entry.second.reported; }));
}

} // namespace restart
