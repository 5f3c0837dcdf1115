#include "restart/core/facts/kept_jobs.hpp"

#include "restart/core/facts/peer_hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

namespace restart {
namespace {

// A report and a reading of the resource manager this far apart did not cross.
constexpr base::Duration apart{2'000};

// How long LSF lets a job save on its signals; what has not ended by then may hang for ever.
constexpr base::Duration awaited{30'000};

// Whether the resource manager was read completely after that time.
bool read_since(const State& state, base::Time since) {
    return state.rm_answers && state.rm_read && *state.rm_read >= since + apart;
}

const JobState* job_of(const State& state, base::JobId id, const KeptJob& kept) {
    const auto job = state.jobs.find(id);
    const bool theirs = job != state.jobs.end() && is_gang(job->second.rm) && job->second.rm.uid == kept.uid;
    return theirs ? &job->second : nullptr;
}

// By the resource manager's last answer the gang is not on this host, and not about to start there.
bool is_elsewhere(const JobState& job, const std::string& host) {
    const auto& rm = job.rm;
    if (rm.phase == JobPhase::pending) return !is_released(rm) && (!job.plan || !job.plan->holds());
    return rm.phase == JobPhase::running &&
           std::find(rm.nodes.begin(), rm.nodes.end(), host) == rm.nodes.end();
}

// Its first host, which holds it together, is lost, and it will be restarted: what still runs of it elsewhere
// is of no use, and must be gone by then.
bool lost_its_head(const State& state, const JobState& job, base::Time now) {
    const auto& rm = job.rm;
    if (rm.phase != JobPhase::running || !rm.restart.value_or(false) || rm.nodes.empty()) return false;
    const auto first = state.hosts.find(rm.nodes.front());
    return first != state.hosts.end() && first->second.lost && first->second.lost_at + apart <= now;
}

// Gangs' leftover processes: call(host's name, host, gang) for each host and each gang that still has
// processes there.
template <class Call> void each_left_over(const State& state, const Call& call) {
    for (const auto& [name, host] : state.hosts)
        for (const auto& [id, kept] : host.kept)
            if (const auto* job = job_of(state, id, kept);
                kept.kept == Kept::here && job != nullptr && is_elsewhere(*job, name))
                call(name, host, *job);
}

std::string place_of(const HostPlace& host) {
    if (!host.unit.empty()) return host.unit;
    return host.leaves.empty() ? std::string() : host.leaves.front();
}

bool is_sound(const HostState& host) {
    return host.last_report && !host.lost && host.node && !host.node->down && !host.node->not_responding &&
           !host.node->away;
}

} // namespace

void take_kept(HostAgent& host, const Report& report, base::Time now) {
    std::map<base::JobId, KeptJob> kept;
    for (const auto& job : report.jobs) {
        if (job.kept == Kept::no) continue;
        KeptJob one{job.epoch, job.uid, job.kept, now};
        const auto before = host.kept.find(job.id);
        if (before != host.kept.end() && before->second.since <= now &&
            std::tie(before->second.epoch, before->second.uid, before->second.kept) ==
                std::tie(one.epoch, one.uid, one.kept))
            one.since = before->second.since;
        kept[job.id] = one;
    }
    if (host.kept != kept) host.kept = std::move(kept);
}

std::vector<JobEnd> ends_for(const State& state, const Report& report) {
    std::vector<JobEnd> ends;
    const auto host = state.hosts.find(report.host);
    if (host == state.hosts.end()) return ends;
    for (const auto& [id, kept] : host->second.kept) {
        const auto* job = job_of(state, id, kept);
        if (job == nullptr || !read_since(state, kept.since)) continue;
        if (is_elsewhere(*job, report.host))
            ends.push_back({id, kept.epoch,
                            job->rm.phase == JobPhase::pending
                                ? fmt::format("job {} waits to be started again", job->rm.name)
                                : fmt::format("job {} runs without {}", job->rm.name, report.host)});
        else if (host->second.last_report && lost_its_head(state, *job, *host->second.last_report))
            ends.push_back(
                {id, kept.epoch,
                 fmt::format("job {} has lost its first host, {}", job->rm.name, job->rm.nodes.front())});
    }
    return ends;
}

std::set<std::string> hosts_with_left_overs(const State& state) {
    std::set<std::string> hosts;
    each_left_over(state, [&](const std::string& name, const auto&, const auto&) { hosts.insert(name); });
    return hosts;
}

std::set<base::JobId> gangs_not_ended(const State& state, const Policy& policy, base::Time now) {
    const auto may_run = [&](const HostState& host, const JobState& job) {
        if (!host.last_report) return false;
        const auto silent = now - *host.last_report;
        if (!host.lost && silent <= policy.silent) return job.left && now - *job.left < awaited;
        return policy.cut_off_after > base::Duration{0} && silent < policy.cut_off_after + base::cut_off_ends;
    };
    std::set<base::JobId> gangs;
    each_left_over(state, [&](const auto&, const HostState& host, const JobState& job) {
        if (may_run(host, job)) gangs.insert(job.rm.id);
    });
    return gangs;
}

std::string ended_on(const State& state, const JobState& job) {
    for (const auto& name : job.rm.nodes) {
        const auto host = state.hosts.find(name);
        if (host == state.hosts.end() || host->second.lost) continue;
        const auto kept = host->second.kept.find(job.rm.id);
        if (kept != host->second.kept.end() && kept->second.kept == Kept::ended &&
            kept->second.uid == job.rm.uid && read_since(state, kept->second.since))
            return name;
    }
    return {};
}

std::vector<Witness> witnesses_for(const State& state, std::string_view host) {
    struct Candidate {
        std::uint64_t order;
        const std::string* name;
        const RmNode* node;
    };
    // The first of each place, then the others, in an order that differs from host to host.
    std::map<std::string, Candidate> first;
    std::vector<Candidate> others;
    for (const auto& [name, one] : state.hosts) {
        if (name == host || !is_sound(one)) continue;
        Candidate next{spread(host, name), &name, &*one.node};
        const auto [known, is_new] = first.try_emplace(place_of(one), next);
        if (is_new) continue;
        if (next.order < known->second.order) std::swap(next, known->second);
        others.push_back(next);
    }
    std::vector<Candidate> chosen;
    for (const auto& [place, one] : first)
        chosen.push_back(one);
    const auto sooner = [](const Candidate& a, const Candidate& b) { return a.order < b.order; };
    std::sort(chosen.begin(), chosen.end(), sooner);
    std::sort(others.begin(), others.end(), sooner);
    chosen.insert(chosen.end(), others.begin(), others.end());
    std::vector<Witness> witnesses;
    for (const auto& one : chosen) {
        if (witnesses.size() == most_witnesses) break;
        Witness witness{*one.name, one.node->address, one.node->port};
        if (check(witness)) witnesses.push_back(std::move(witness));
    }
    return witnesses;
}

} // namespace restart
