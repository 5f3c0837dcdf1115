#include "restart/watch/job_book.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace restart {

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
}

Advice JobBook::advice(const JobKey& job) const {
    const std::lock_guard lock(mutex_);
    const auto known = entries_.find(job);
    return known == entries_.end() ? Advice{} : known->second.advice;
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
    return {entry.run && entry.run == entry.run_told, entry.suspected, entry.order};
}

JobBook::Awaited JobBook::awaited() const {
    const std::lock_guard lock(mutex_);
    auto awaited = Awaited::nothing;
    for (const auto& [key, entry] : entries_) {
        if (!entry.run) continue;
        if (entry.run->ended || entry.advice.save_by) return Awaited::now;
        awaited = Awaited::later;
    }
    return awaited;
}

std::vector<JobReport> JobBook::entries() const {
    const std::lock_guard lock(mutex_);
    std::vector<JobReport> jobs;
    for (const auto& [key, entry] : entries_)
        jobs.push_back({key.id, key.epoch, key.uid, std::nullopt, std::nullopt});
    std::size_t bytes = 0, i = 0;
    for (const auto& [key, entry] : entries_) {
        auto& job = jobs[i++];
        if (!entry.run || bytes + entry.run->hosts.size() + entry.run->spares.size() > most_run_bytes)
            continue;
        bytes += entry.run->hosts.size() + entry.run->spares.size();
        job.run = entry.run;
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

void JobBook::delivered(const std::vector<JobReport>& sent, const Reply& reply) {
    const std::lock_guard lock(mutex_);
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
        if (said != reply.jobs.end())
            entry.advice = {said->interval_s, said->save_by, said->incident};
        else // restartd no longer requests anything; the last interval stays valid
            entry.advice = {entry.advice.interval_s, std::nullopt, std::nullopt};
        entry.order = said != reply.jobs.end() ? said->order : std::nullopt;
        entry.suspected = said != reply.jobs.end() && said->suspected;
    }
}

std::size_t JobBook::undelivered() const {
    const std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(std::count_if(entries_.begin(), entries_.end(),
                                                  [](const auto& entry) { return !entry.second.reported; }));
}

} // namespace restart
