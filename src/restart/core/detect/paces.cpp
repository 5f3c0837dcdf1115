// Keeps the last windows of each host, and judges those of each running job periodically.

#include "restart/core/straggle/paces.hpp"

#include "restart/core/detect/detect.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace restart {
namespace {

// A suspect that this many judgements in a row do not find again is cleared.
constexpr std::uint32_t until_cleared = 2;

// To the digits that agents send, whatever came: what is kept must be the same after it was written and read,
// or a replay reaches another judgement.
void round_all(StoredPace& stored) {
    const auto maybe = [](std::optional<double>& number) {
        if (number) number = rounded(*number);
    };
    stored.pace.seconds = rounded(stored.pace.seconds);
    for (auto& gpu : stored.pace.gpus)
        for (auto* number : {&gpu.sm_mhz, &gpu.mem_mhz, &gpu.power_w, &gpu.busy, &gpu.pcie_gbs, &gpu.limit_w,
                             &gpu.capped, &gpu.capped_mhz, &gpu.slowed, &gpu.sm_active, &gpu.tensor_active})
            maybe(*number);
    for (auto& port : stored.pace.ports) {
        for (auto* number : {&port.mb_s, &port.peak_mb_s, &port.resent, &port.gbps})
            *number = rounded(*number);
        maybe(port.waits);
    }
    for (auto& marks : stored.marks)
        for (auto& rank : marks.ranks) {
            rank.steps = rounded(rank.steps);
            rank.waited = rounded(rank.waited);
        }
}

const JobMarks* marks_of(const StoredPace& stored, const JobState& job) {
    const auto found = std::find_if(stored.marks.begin(), stored.marks.end(), [&](const JobMarks& marks) {
        return marks.id == job.rm.id && marks.epoch == job.rm.restarts;
    });
    return found == stored.marks.end() ? nullptr : &*found;
}

// The job's hosts that run other jobs as well: what their GPUs and ports do is then not only the job's.
std::set<std::string_view> shared_hosts(const State& state, const JobState& job) {
    const std::set<std::string_view> own(job.rm.nodes.begin(), job.rm.nodes.end());
    std::set<std::string_view> shared;
    for (const auto& [id, other] : state.jobs) {
        if (id == job.rm.id || other.rm.phase != JobPhase::running) continue;
        for (const auto& node : other.rm.nodes)
            if (const auto found = own.find(node); found != own.end()) shared.insert(*found);
    }
    return shared;
}

// The windows of this start that are no older than a few times their length.
std::vector<PaceWindow> windows_of(const HostState& host, const JobState& job, base::Time now, bool shared) {
    std::vector<PaceWindow> windows;
    for (const auto& stored : host.paces) {
        const auto length = base::duration_from_seconds(stored.pace.seconds);
        const bool before = stored.came - length < job.rm.start;
        if (before || now - stored.came > length * static_cast<int>(most_pace_windows + 2)) continue;
        auto& window = windows.emplace_back();
        if (const auto* marks = marks_of(stored, job)) {
            window.ranks = marks->ranks;
            window.ras = marks->ras;
        }
        if (shared) continue;
        window.gpus = stored.pace.gpus;
        window.ports = stored.pace.ports;
    }
    return windows;
}

StragglerJudgement judged(const StepContext& ctx, const JobState& job) {
    const auto shared = shared_hosts(ctx.state, job);
    std::vector<std::vector<PaceWindow>> windows; // does not grow once hosts point into it
    std::vector<PacedHost> hosts;
    windows.reserve(job.rm.nodes.size());
    for (const auto& name : job.rm.nodes) {
        const auto host = ctx.state.hosts.find(name);
        auto& paced = hosts.emplace_back();
        paced.host = name;
        if (host == ctx.state.hosts.end() || job.dropped_nodes.contains(name)) continue;
        windows.push_back(windows_of(host->second, job, ctx.now, shared.contains(name)));
        for (const auto& window : windows.back())
            paced.windows.push_back(&window);
        const auto& names = host->second.port_names;
        for (const auto& port : host->second.ports) {
            const auto named = std::find_if(names.begin(), names.end(), [&](const PortName& one) {
                return one.listed == port.component;
            });
            const auto& component = named == names.end() ? port.component : named->port;
            paced.rails[component] = port.rail;
            if (!port.leaf.empty()) paced.leaves[component] = port.leaf;
        }
    }
    auto made = judge_stragglers(hosts, ctx.policy.straggler_least);
    if (!shared.empty())
        made.missing.push_back(
            fmt::format("the GPUs and ports of {} hosts, which other jobs use too", shared.size()));
    return made;
}

bool same(const Straggler& a, const Straggler& b) {
    return a.host == b.host && a.gpu == b.gpu && a.port == b.port && a.rail == b.rail && a.leaf == b.leaf;
}

// For the job and, if one is suspected, for the host.
void note(StepContext& ctx, const JobState& job, const Straggler& suspect, const std::string& text) {
    ctx.note_job(NoteKind::signal, job.rm, state_text(text));
    if (!suspect.host.empty())
        ctx.note_host(NoteKind::signal, suspect.host, state_text("a job on it: " + text));
}

void take_judgement(StepContext& ctx, JobState& job, StragglerJudgement made) {
    auto pace = job.pace.value_or(JobPace());
    pace.judged = ctx.now;
    pace.verdict = made.verdict;
    pace.missing = std::move(made.missing);
    pace.gpus = std::move(made.gpus);
    const bool clear =
        made.verdict == StragglerVerdict::found && made.suspect.confidence >= ctx.policy.straggler_confidence;
    if (pace.held_back && clear && same(pace.suspect, made.suspect)) {
        pace.cleared = 0;
    } else if (pace.held_back && ++pace.cleared >= until_cleared) {
        note(ctx, job, pace.suspect, fmt::format("no longer held back by {}", name_of(pace.suspect)));
        pace.held_back = false;
    }
    if (clear && !pace.held_back) {
        pace.held_back = true;
        pace.since = ctx.now;
        pace.cleared = 0;
        note(ctx, job, made.suspect,
             fmt::format("held back by {}: score {:.2f}, confidence {:.2f}: {}", name_of(made.suspect),
                         made.suspect.score, made.suspect.confidence,
                         fmt::join(made.suspect.evidence, "; ")));
    }
    // A suspect that is kept until it is cleared keeps its own evidence.
    if (!pace.held_back || (clear && same(pace.suspect, made.suspect)) || pace.since == ctx.now)
        pace.suspect = std::move(made.suspect);
    job.pace = std::move(pace);
}

bool is_paced(const State& state, const JobState& job) {
    return std::any_of(job.rm.nodes.begin(), job.rm.nodes.end(), [&](const std::string& name) {
        const auto host = state.hosts.find(name);
        return host != state.hosts.end() && !host->second.paces.empty();
    });
}

} // namespace

void take_pace(StepContext& ctx, HostAgent& host, const Report& report) {
    if (ctx.policy.straggler_every == base::Duration{}) {
        host.paces.clear();
        return;
    }
    if (!report.pace || (!host.paces.empty() && host.paces.back().pace.window == report.pace->window)) return;
    StoredPace stored{ctx.now, *report.pace, {}};
    for (const auto& said : report.jobs) {
        const auto ras = said.nccl ? said.nccl->here : std::vector<RasSign>();
        if (said.ranks.empty() && ras.empty()) continue;
        const auto* job = ctx.state.find_job(said.id);
        if (job == nullptr || said.uid != job->rm.uid || said.epoch != job->rm.restarts ||
            !has_name(job->rm.nodes, report.host))
            continue;
        stored.marks.push_back({job->rm.id, said.epoch, said.ranks, ras});
    }
    round_all(stored);
    host.paces.push_back(std::move(stored));
    if (host.paces.size() > most_pace_windows) host.paces.erase(host.paces.begin());
}

// One job per tick, so that judgements of thousands of hosts never add up.
void judge_paces(StepContext& ctx) {
    const auto every = ctx.policy.straggler_every;
    JobState* due = nullptr;
    for (auto& [id, job] : ctx.state.jobs) {
        const bool runs = job.rm.phase == JobPhase::running && job.rm.nodes.size() >= 2;
        if (job.pace && (!runs || every == base::Duration{})) {
            job.pace.reset();
            for (const auto& name : job.rm.nodes)
                if (const auto host = ctx.state.hosts.find(name); host != ctx.state.hosts.end())
                    host->second.paces.clear();
        }
        if (!runs || every == base::Duration{} || (job.pace && ctx.now - job.pace->judged < every)) continue;
        if (due != nullptr && due->pace && (!job.pace || job.pace->judged >= due->pace->judged)) continue;
        if (!job.pace && due != nullptr && !due->pace) continue;
        if (job.pace || is_paced(ctx.state, job)) due = &job;
    }
    if (due != nullptr) take_judgement(ctx, *due, judged(ctx, *due));
}

} // namespace restart
