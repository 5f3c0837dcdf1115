#include "world.hpp"

#include "base/hostlist.hpp"
#include "restart/core/act/act.hpp"
#include "restart/core/store/state_json.hpp"
#include "restart/rm/slurm_words.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>

using restart::ActionKind;
using restart::JobPhase;

namespace {

base::Error ended() {
    return {base::Code::not_found, "the job has ended"};
}

bool is_theirs(const restart::RmNode& node) {
    return node.drain && restart::owner_of(node.reason).empty();
}

} // namespace

World::~World() = default;
World::World(std::size_t hosts, std::size_t per_unit)
    : start_(base::time_from_seconds(1'700'000'000)), now_(start_) {
    policy = restart::Policy::from(base::Conf());
    policy.words = restart::slurm_words();
    policy.observe_only = false;
    policy.max_drained_percent = 50;
    policy.max_lost_percent = 100;
    policy.repair.max_at_once = 0;
    auto& fabric = fabric_;
    for (std::size_t i = 1; i <= hosts; ++i) {
        const auto name = fmt::format("n{:03}", i);
        auto& host = hosts_[name];
        host.node.name = name;
        host.node.state = "IDLE";
        host.node.address = name;
        host.node.port = 6818;
        const auto unit = (i - 1) / per_unit;
        fabric.units[name] = fmt::format("su{}", unit + 1);
        fabric.pods[name] = fmt::format("pod{}", unit / 2 + 1);
        for (int rail = 0; rail < 2; ++rail)
            fabric.leaves[name].push_back(fmt::format("leaf-su{}-r{}", unit + 1, rail));
    }
    send(restart::Started{});
    send(fabric);
    snapshot();
    run(10);
}

base::JobId World::submit(const std::vector<std::string>& nodes, std::optional<bool> restart) {
    const base::JobId id(next_job_++);
    auto& job = jobs_[id];
    job.rm.id = id;
    job.rm.uid = 1000;
    job.rm.phase = JobPhase::running;
    job.rm.nodes = nodes;
    job.rm.node_count = static_cast<std::uint32_t>(nodes.size());
    job.rm.start = now_;
    job.rm.requeue = restart.value_or(false);
    job.rm.restart = restart;
    job.rm.ckpt_dir = "/scratch/run";
    return id;
}

void World::send(const restart::Event& event) {
    std::optional<restart::State> copy;
    if (round_trip != 0 && ++steps_ % round_trip == 0) {
        auto read = restart::state_from_json(to_json(state_));
        REQUIRE(read);
        copy = *std::move(read);
        REQUIRE(*copy == state_);
    }
    auto out = restart::step(std::move(state_), event, now_, policy);
    if (copy) {
        const auto again = restart::step(*std::move(copy), event, now_, policy);
        REQUIRE(again.state == out.state);
        REQUIRE(again.actions == out.actions);
        REQUIRE(again.notes == out.notes);
    }
    if (recorded) recorded(event, out);
    state_ = std::move(out.state);
    refused = out.refused;
    notes.insert(notes.end(), out.notes.begin(), out.notes.end());
    for (const auto& action : out.actions) {
        actions.push_back(action);
        if (watch) watch(action);
        CHECK(out.durable);
        if (!perform) continue;
        if (!rm_answers) {
            send(restart::ActionDone{
                action.id, base::Error{base::Code::unavailable, "slurmctld does not answer"}, false});
            continue;
        }
        if (const auto why = restart::why_obsolete(state_, policy, now_, action); !why.empty()) {
            send(restart::ActionDone{action.id, base::Error{base::Code::unfit, why}, true});
            continue;
        }
        const auto error = obey(action);
        if (report_outcomes) send(restart::ActionDone{action.id, error, false});
    }
}

void World::run(double seconds) {
    const auto end = now_ + base::duration_from_seconds(seconds);
    while (now_ < end) {
        now_ += beat;
        const auto beats = (now_ - start_) / beat;
        for (auto& [id, job] : jobs_) {
            if (job.saves_at && *job.saves_at <= now_) commit(id, job.commit ? job.commit->step + 100 : 100);
            settle(job);
            launch(job);
        }
        if (!never_restart) schedule();
        std::int64_t offset = 0;
        for (auto& [name, host] : hosts_) {
            finish_boot(name, host);
            if (host.mute_at && *host.mute_at <= now_) {
                host.node.not_responding = true;
                host.node.state = "IDLE*";
            }
            if (host.agent && ((beats + offset++) % 4 == 0 || has_news(host))) heartbeat(name, host);
        }
        if (beats % 4 == 2) snapshot();
        send(restart::Tick{});
    }
}

void World::restart_daemon() {
    auto state = restart::state_from_json(to_json(state_));
    REQUIRE(state);
    state_ = *std::move(state);
    send(restart::Started{});
}

void World::snapshot() {
    if (!rm_answers) return send(restart::RmUnavailable{"connection refused"});
    restart::RmSnapshot snapshot;
    for (const auto& [name, host] : hosts_)
        snapshot.nodes.push_back(host.node);
    for (const auto& [id, job] : jobs_)
        snapshot.jobs.push_back(job.rm);
    snapshot.config = config;
    send(restart::RmRead{snapshot});
}

// The resource manager, and what restart/rm promises: looking before acting.
std::optional<base::Error> World::obey(const restart::Action& action) {
    performed.push_back(restart::describe(action));
    if (done) done(action);
    return std::visit([&](const auto& what) { return carry_out(what); }, action.what);
}

std::optional<base::Error> World::carry_out(const restart::DrainHost& action) {
    auto& node = hosts_.at(action.host).node;
    if (is_theirs(node)) return base::Error{base::Code::denied, "drained already"};
    if (action.renew && !node.drain) return base::Error{base::Code::denied, "not drained any more"};
    node.drain = true;
    node.reason = action.reason;
    return {};
}

std::optional<base::Error> World::carry_out(const restart::DownHost& action) {
    auto& node = hosts_.at(action.host).node;
    const bool theirs = is_theirs(node);
    node.down = true;
    node.automatic = false;
    node.drain = node.drain || action.drain;
    if (!action.reason.empty() && !theirs) node.reason = action.reason;
    end_jobs_on(action.host);
    return {};
}

std::optional<base::Error> World::carry_out(const restart::ResumeHost& action) {
    auto& node = hosts_.at(action.host).node;
    if (is_theirs(node)) return base::Error{base::Code::denied, "not ours"};
    node.drain = node.down = false;
    node.reason.clear();
    return {};
}

// As Slurm does it: a job on a host that is set down is requeued; one of --no-kill goes on without, unless
// its script was there.
void World::end_jobs_on(const std::string& host) {
    for (auto& [id, job] : jobs_) {
        auto& nodes = job.rm.nodes;
        if (job.fails_at || std::find(nodes.begin(), nodes.end(), host) == nodes.end()) continue;
        if (!job.run || nodes.front() == host) {
            requeue(job);
            continue;
        }
        std::erase(nodes, host);
        --job.rm.node_count;
    }
}

void World::run_inside(base::JobId id, std::size_t spares) {
    auto& job = jobs_.at(id);
    const auto& nodes = job.rm.nodes;
    const auto first = nodes.end() - static_cast<std::ptrdiff_t>(spares);
    job.run = restart::JobRun{0, base::fold_hostlist({nodes.begin(), first}),
                              base::fold_hostlist({first, nodes.end()}), false};
    job.rm.no_kill = true;
}

void World::end_railrun(base::JobId id) {
    jobs_.at(id).run.reset();
}

// What railrun does with an order.
void World::launch(Job& job) {
    if (!job.run || !job.order || now_ < job.launches_at) return;
    const auto before = *base::expand_hostlist(job.run->hosts),
               ranks = *base::expand_hostlist(job.order->hosts);
    auto spares = *base::expand_hostlist(job.run->spares);
    std::erase_if(
        spares, [&](const auto& host) { return std::find(ranks.begin(), ranks.end(), host) != ranks.end(); });
    CHECK(before.size() == ranks.size());
    job.run = restart::JobRun{job.run->launch + 1, job.order->hosts, base::fold_hostlist(spares), false};
    job.order.reset();
}

void World::requeue(Job& job) {
    ++job.rm.restarts;
    job.rm.phase = JobPhase::completing;
    job.rm.nodes.clear();
    job.rm.failure.reset();
    job.saves_at.reset();
    job.run.reset(); // of the start that ends
    job.order.reset();
    job.ends_at = now_ + base::duration_from_seconds(end_delay);
    job.begin_at_end = false;
}

// restart/rm waits a moment for the end of the job's processes; a later end puts the job off.
void World::let_begin(Job& job) {
    if (job.rm.phase == JobPhase::pending) job.rm.begin = now_;
    if (job.ends_at && *job.ends_at <= now_ + base::Duration(400)) job.begin_at_end = true;
}

void World::exclude(Job& job, const std::vector<std::string>& hosts) {
    for (const auto& host : hosts)
        if (std::find(job.rm.excluded.begin(), job.rm.excluded.end(), host) == job.rm.excluded.end())
            job.rm.excluded.push_back(host);
}

World::Job* World::find_job(base::JobId id) {
    const auto found = jobs_.find(id);
    return found == jobs_.end() ? nullptr : &found->second;
}

std::optional<base::Error> World::carry_out(const restart::RequeueJob& action) {
    auto* job = find_job(action.job.id);
    if (job == nullptr) return ended();
    const auto& failure = job->rm.failure;
    if (job->fails_at || job->rm.forgotten ||
        (failure && (failure->code == sched::no_restart_code || job->rm.restarts != action.job.epoch)) ||
        (failure && failure->code == 0 && !failure->step_failed && !action.ended))
        return ended();
    const bool there = failure || job->rm.phase == JobPhase::running;
    if (job->rm.restarts == action.job.epoch && there) requeue(*job);
    exclude(*job, action.exclude);
    if (action.hold) job->held = true;
    let_begin(*job);
    return {};
}

std::optional<base::Error> World::carry_out(const restart::UpdateJob& action) {
    auto* job = find_job(action.job.id);
    if (job == nullptr) return ended();
    if (action.release) job->held = job->rm.unlaunched = false;
    exclude(*job, action.exclude);
    let_begin(*job);
    return {};
}

std::optional<base::Error> World::carry_out(const restart::KeepOff& action) {
    auto* job = find_job(action.job.id);
    if (job == nullptr) return ended();
    if (job->rm.phase != JobPhase::pending) return {};
    for (const auto& host : action.readmit)
        std::erase(job->rm.excluded, host);
    exclude(*job, action.exclude);
    return {};
}

std::optional<base::Error> World::carry_out(const restart::NotifyJob& action) {
    return find_job(action.job.id) == nullptr ? std::optional(ended()) : std::nullopt;
}

void World::settle(Job& job) {
    if (job.fails_at && *job.fails_at <= now_) {
        job.rm.phase = JobPhase::ended;
        job.rm.failure =
            restart::RmFailure{job.code, *std::exchange(job.fails_at, {}), std::exchange(job.rm.nodes, {}),
                               std::exchange(job.signalled, false), std::exchange(job.step_failed, false)};
    }
    if (!job.ends_at || *job.ends_at > now_) return;
    job.ends_at.reset();
    job.rm.phase = JobPhase::pending;
    job.rm.begin = job.begin_at_end ? now_ : now_ + base::Duration(121'000);
}

void World::schedule() {
    std::set<std::string> busy;
    for (const auto& [id, job] : jobs_)
        busy.insert(job.rm.nodes.begin(), job.rm.nodes.end());
    for (auto& [id, job] : jobs_) {
        if (!job.rm.home.empty()) {
            schedule_gang(job, busy);
            continue;
        }
        if (job.rm.phase != JobPhase::pending || job.held ||
            now_ < job.rm.begin + base::duration_from_seconds(start_delay))
            continue;
        std::vector<std::string> nodes;
        for (const auto& [name, host] : hosts_) {
            const auto& out = job.rm.excluded;
            if (nodes.size() == job.rm.node_count || busy.contains(name) || host.node.drain ||
                host.node.down || host.node.not_responding ||
                std::find(out.begin(), out.end(), name) != out.end())
                continue;
            nodes.push_back(name);
        }
        if (nodes.size() < job.rm.node_count) continue;
        busy.insert(nodes.begin(), nodes.end());
        job.rm.nodes = nodes;
        job.rm.phase = JobPhase::running;
        job.rm.start = now_;
    }
}

void World::fail_job(base::JobId id, std::uint32_t code, bool signalled) {
    auto& job = jobs_.at(id);
    job.signalled = signalled;
    job.rm.phase = JobPhase::completing;
    job.code = code;
    job.fails_at = now_ + base::duration_from_seconds(failure_settles);
    job.saves_at.reset();
    settle(job);
}

void World::complete_job(base::JobId id, bool step_failed) {
    jobs_.at(id).step_failed = step_failed;
    fail_job(id, 0);
}

void World::fail_launch(base::JobId id) {
    auto& job = jobs_.at(id);
    requeue(job);
    job.held = job.rm.unlaunched = true;
    job.rm.why = "launch failed requeued held";
}

void World::power_off(const std::string& host, double heard_for) {
    auto& off = hosts_.at(host);
    off.agent = false;
    off.dead = true;
    off.mute_at = now_ + base::duration_from_seconds(heard_for);
}

void World::rm_sets_down(const std::string& host) {
    auto& down = hosts_.at(host).node;
    down.down = down.automatic = true;
    down.state = "DOWN*";
    down.reason = "Not responding";
    end_jobs_on(host);
}

void World::set_away(const std::string& host, bool away) {
    auto& one = hosts_.at(host);
    one.agent = !away;
    one.node.away = away;
    one.node.not_responding = false;
    one.node.state = away ? "IDLE+POWERED_DOWN" : "IDLE";
}

void World::add_silent_host(const std::string& host) {
    auto& added = hosts_[host];
    added.node.name = added.node.address = host;
    added.node.port = 6818;
    added.agent = false;
}

void World::sleep(double seconds) {
    now_ += base::duration_from_seconds(seconds);
}

void World::set_heard(const std::string& host, bool reports, bool answers) {
    auto& one = hosts_.at(host);
    one.agent = reports;
    if (one.node.not_responding == !answers) return;
    one.node.not_responding = !answers;
    one.node.state = answers ? "IDLE" : "IDLE*";
    if (!answers || !one.node.automatic) return;
    one.node.down = one.node.automatic = false;
    if (!one.node.drain) one.node.reason.clear();
}

void World::stop_agent(const std::string& host) {
    hosts_.at(host).agent = false;
}

void World::start_agent(const std::string& host) {
    auto& on = hosts_.at(host);
    on.agent = true;
    on.dead = false;
    on.mute_at.reset();
    on.node.not_responding = false;
}

void World::find(const std::string& host, restart::Severity severity, const std::string& rule,
                 const std::string& fault) {
    hosts_.at(host).findings.push_back(
        {rule, "gpu3", severity, now_, "clock event reasons 0x80 for 5.2 s", fault});
}

void World::wire_up(int rails, int spines) {
    for (const auto& [name, unit] : fabric_.units)
        for (int rail = 0; rail < rails; ++rail) {
            const auto leaf = fmt::format("{}r{}", unit, rail);
            fabric_.ports[name].push_back({fmt::format("mlx5_{}:1", rail), rail, leaf, {}});
            auto& one = fabric_.switches[leaf];
            one.tier = 0;
            if (one.links == 0) one.links = static_cast<std::uint32_t>(spines);
            ++one.links;
        }
    const auto leaves = static_cast<std::uint32_t>(fabric_.switches.size());
    for (int i = 1; i <= spines; ++i)
        fabric_.switches[fmt::format("spine{}", i)] = {1, {}, leaves, {}};
    send(fabric_);
}

void World::find_port(const std::string& host, int rail, const std::string& rule) {
    hosts_.at(host).findings.push_back({rule, fmt::format("mlx5_{}:1", rail), restart::Severity::evict, now_,
                                        "state DOWN, physical state Polling"});
}

void World::clear_port(const std::string& host, int rail) {
    std::erase_if(hosts_.at(host).findings, [&](const restart::Finding& finding) {
        return finding.component == fmt::format("mlx5_{}:1", rail);
    });
}

void World::sweep(const std::vector<restart::DownLink>& down, bool complete) {
    restart::FabricReport report;
    report.complete = complete;
    report.links_down = down;
    send(restart::FabricSwept{report});
}

void World::clear(const std::string& host) {
    hosts_.at(host).findings.clear();
}

void World::reads_file(const std::string& host, const std::string& digest) {
    hosts_.at(host).fabric = digest;
}

void World::commit(base::JobId id, std::uint64_t step, double cost_s) {
    auto& job = jobs_.at(id);
    job.saves_at.reset();
    job.commit = restart::Commit{step, fmt::format("/scratch/run/ckpt-{}", step), now_, cost_s, 1000};
}

void World::person_drains(const std::string& host, const std::string& reason) {
    node(host).drain = true;
    node(host).reason = reason;
    drained_by_person.insert(host);
}

void World::person_resumes(const std::string& host) {
    node(host).drain = node(host).down = false;
    node(host).reason.clear();
    drained_by_person.erase(host);
}

std::size_t World::count(ActionKind kind) const {
    return static_cast<std::size_t>(std::count_if(
        actions.begin(), actions.end(), [&](const restart::Action& a) { return kind_of(a) == kind; }));
}

bool World::noted(std::string_view text) const {
    return std::any_of(notes.begin(), notes.end(),
                       [&](const restart::Note& n) { return n.text.find(text) != std::string::npos; });
}

std::string World::story() const {
    std::string text;
    for (const auto& note : notes)
        text += fmt::format("{:8.2f} {:4} {:5} {:8} {}\n", base::to_seconds(note.time - start_),
                            note.incident, note.host, restart::to_string(note.kind), note.text);
    return text;
}
