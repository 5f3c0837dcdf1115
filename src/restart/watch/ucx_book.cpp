#include "restart/watch/ucx_book.hpp"

#include "base/utf8.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace restart {
namespace {

std::string rank_of(const JobUcx& said) {
    auto text = fmt::format("rank {}", said.rank);
    if (!said.devices.empty()) text += fmt::format(" (rail {})", said.devices);
    return text;
}

// Counts from the start of a process; a lower value comes from a new process in its place.
std::uint64_t growth(std::uint64_t before, std::uint64_t now) {
    return now >= before ? now - before : now;
}

// Garbage must not wrap a sum, which would look like a reset.
void add(UcxCount& sum, std::uint64_t more, const std::string& words) {
    if (more == 0) return;
    constexpr auto most = std::uint64_t{1} << 62;
    sum.total = std::min(most, sum.total + std::min(most, more));
    sum.last = words;
}

} // namespace

base::Expected<void> UcxBook::join(const JobKey& job) {
    const std::lock_guard lock(mutex_);
    if (auto fits = check(job, true); !fits) return fits;
    ++jobs_[job].speakers;
    return {};
}

void UcxBook::leave(const JobKey& job) {
    const std::lock_guard lock(mutex_);
    const auto known = jobs_.find(job);
    if (known != jobs_.end() && --known->second.speakers == 0) jobs_.erase(known);
}

void UcxBook::count(const JobKey& job, std::uint64_t tcp_bytes, const std::string& tcp, std::uint64_t packets,
                    const std::string& dropped) {
    const std::lock_guard lock(mutex_);
    const auto known = jobs_.find(job);
    if (known == jobs_.end()) return;
    known->second.counted = true;
    add(known->second.tcp_bytes, tcp_bytes, tcp);
    add(known->second.dropped, packets, dropped);
}

base::Expected<void> UcxBook::check(const JobKey& job, bool known_speaker) const {
    const auto full = [&](std::string_view what) {
        return base::Error{base::Code::unfit,
                           fmt::format("too many {} on this host speak of UCX for uid {}", what, job.uid)};
    };
    const auto of_user = [&](const auto& entries, auto uid) {
        return static_cast<std::size_t>(std::count_if(
            entries.begin(), entries.end(), [&](const auto& entry) { return uid(entry) == job.uid; }));
    };
    if (!known_speaker && (speakers_.size() >= most_speakers || of_user(speakers_, [](const auto& entry) {
                                                                    return entry.second.job.uid;
                                                                }) >= most_speakers_a_uid))
        return full("processes");
    if (!jobs_.contains(job) && (jobs_.size() >= most_jobs || of_user(jobs_, [](const auto& entry) {
                                                                  return entry.first.uid;
                                                              }) >= most_jobs_a_uid))
        return full("jobs");
    return {};
}

base::Expected<std::uint64_t> UcxBook::tell(std::uint64_t speaker, std::uint32_t uid, JobUcx said) {
    // A user's text goes into findings, which are truncated: a multi-byte character could be cut, and
    // restartd would reject the host's whole report.
    for (auto* text : {&said.tls, &said.devices, &said.unseen, &said.last, &said.resent_to})
        *text = base::printable(*text);
    for (auto& path : said.paths)
        for (auto* text : {&path.over, &path.to})
            *text = base::printable(*text);
    const std::lock_guard lock(mutex_);
    const JobKey job{said.job, said.epoch, uid};
    auto known = speakers_.find(speaker);
    if (known != speakers_.end() && known->second.job != job) {
        leave_locked(speaker);
        known = speakers_.end();
    }
    if (auto fits = check(job, known != speakers_.end()); !fits) return std::move(fits).error();
    if (known == speakers_.end()) {
        speaker = ++last_;
        known = speakers_.emplace(speaker, Speaker{job, {}}).first;
        ++jobs_[job].speakers;
    }
    auto& sums = jobs_[job];
    const auto& before = known->second.said;
    const auto count = [&](UcxCount& sum, std::uint64_t old, std::uint64_t now, const std::string& words) {
        add(sum, growth(old, now), words);
    };
    const auto last = fmt::format("{}, {}", rank_of(said), said.last);
    count(sums.failed, before.failed, said.failed, last);
    count(sums.timeouts, before.timeouts, said.timeouts, last);
    count(sums.refused, before.refused, said.refused, last);
    count(sums.resent, before.resent, said.resent,
          fmt::format("{}, {} to peer {}", rank_of(said), growth(before.resent, said.resent),
                      said.resent_to.empty() ? "(not known)" : said.resent_to));
    known->second.said = std::move(said);
    return speaker;
}

void UcxBook::leave_locked(std::uint64_t speaker) {
    const auto known = speakers_.find(speaker);
    if (known == speakers_.end()) return;
    const auto job = jobs_.find(known->second.job);
    if (job != jobs_.end() && --job->second.speakers == 0) jobs_.erase(job);
    speakers_.erase(known);
}

void UcxBook::leave(std::uint64_t speaker) {
    const std::lock_guard lock(mutex_);
    leave_locked(speaker);
}

std::vector<UcxJob> UcxBook::jobs() {
    const std::lock_guard lock(mutex_);
    std::vector<UcxJob> all;
    std::map<JobKey, std::size_t> places;
    for (auto& [key, sums] : jobs_) {
        // A process of the same job number is here with another start or, by its claim, another user.
        const auto same = std::count_if(jobs_.begin(), jobs_.end(),
                                        [&, id = key.id](const auto& other) { return other.first.id == id; });
        auto name = fmt::format("job{}", base::to_string(key.id));
        if (same > 1) name += fmt::format(".uid{}.{}", key.uid, key.epoch);
        places[key] = all.size();
        UcxJob job{std::move(name), {}, {}, {}, {}, {}, {}, {}};
        if (sums.counted) {
            job.tcp_bytes.emplace();
            job.dropped.emplace();
            // Statistics may start long after the job was first shown.
            if (std::exchange(sums.statistics_shown, true)) {
                job.tcp_bytes = sums.tcp_bytes;
                job.dropped = sums.dropped;
            }
        }
        if (std::exchange(sums.shown, true)) {
            job.failed = sums.failed;
            job.timeouts = sums.timeouts;
            job.refused = sums.refused;
            job.resent = sums.resent;
        }
        all.push_back(std::move(job));
    }
    for (const auto& [number, speaker] : speakers_) {
        const auto& said = speaker.said;
        UcxJob::Rank rank{said.rank, said.tls, said.devices, said.unseen, {}};
        for (const auto& path : said.paths)
            rank.paths.push_back({path.over, path.endpoints, path.to});
        all[places.at(speaker.job)].ranks.push_back(std::move(rank));
    }
    for (auto& job : all)
        std::stable_sort(job.ranks.begin(), job.ranks.end(),
                         [](const UcxJob::Rank& a, const UcxJob::Rank& b) { return a.rank < b.rank; });
    return all;
}

} // namespace restart
