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
    known->second.told = false;
}

Advice JobBook::advice(const JobKey& job) const {
    const std::lock_guard lock(mutex_);
    const auto known = entries_.find(job);
    return known == entries_.end() ? Advice{} : known->second.advice;
}

std::vector<JobReport> JobBook::entries() const {
    const std::lock_guard lock(mutex_);
    std::vector<JobReport> jobs;
    for (const auto& [key, entry] : entries_)
        jobs.push_back({key.id, key.epoch, key.uid, std::nullopt});
    std::size_t bytes = 0;
    for (const bool told : {false, true}) {
        std::size_t i = 0;
        for (const auto& [key, entry] : entries_) {
            auto& job = jobs[i++];
            if (!entry.commit || entry.told != told || bytes + entry.commit->path.size() > most_path_bytes)
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
        entry.told = entry.told || (job.ckpt && job.ckpt == entry.commit);
        if (entry.silent() && ++entry.idle > idle_answers) entries_.erase(known);
    }
    for (auto& [key, entry] : entries_) {
        const auto said =
            std::find_if(reply.jobs.begin(), reply.jobs.end(), [&, &k = key](const JobReply& job) {
                return job.id == k.id && job.epoch == k.epoch;
            });
        if (said != reply.jobs.end())
            entry.advice = {said->interval_s, said->save_by, said->incident};
        else // restartd no longer asks for anything; the interval stays good advice
            entry.advice = {entry.advice.interval_s, std::nullopt, std::nullopt};
    }
}

std::size_t JobBook::undelivered() const {
    const std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(std::count_if(entries_.begin(), entries_.end(),
                                                  [](const auto& entry) { return !entry.second.told; }));
}

} // namespace restart
