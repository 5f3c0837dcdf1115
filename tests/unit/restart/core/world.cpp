#include "world.hpp"

#include "base/hostlist.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>

using restart::ActionKind;
using restart::JobPhase;

World::World(std::size_t hosts, std::size_t per_unit)
    : start_(base::time_from_seconds(1'700'000'000)), now_(start_) {
    policy = restart::Policy::from(base::Conf());
    policy.observe_only = false;
    policy.max_drained_percent = 50;
    restart::FabricLoaded fabric;
    for (std::size_t i = 1; i <= hosts; ++i) {
        const auto name = fmt::format("n{:03}", i);
        auto& host = hosts_[name];
        host.node.name = name;
        host.node.state = "IDLE";
        fabric.units[name] = fmt::format("su{}", (i - 1) / per_unit + 1);
    }
    tell(restart::Started{});
    tell(fabric);
    snapshot();
    run(10);
}

std::uint32_t World::submit(const std::vector<std::string>& nodes, std::optional<bool> restart) {
    const auto id = next_job_++;
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

void World::tell(const restart::Event& event) {
    std::optional<restart::State> copy;
    if (round_trip != 0 && ++steps_ % round_trip == 0) {
        auto read = restart::State::from_json(state_.to_json());
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
    state_ = std::move(out.state);
    refused = out.refused;
    notes.insert(notes.end(), out.notes.begin(), out.notes.end());
    for (const auto& action : out.actions) {
        actions.push_back(action);
        if (watch) watch(action);
        CHECK(out.durable);
        if (!perform) continue;
        if (!rm_answers) {
            tell(restart::ActionDone{action.id,
                                     base::Error{base::Code::unavailable, "slurmctld does not answer"}, false});
            continue;
        }
        if (const auto why = restart::overtaken(state_, policy, action); !why.empty()) {
            tell(restart::ActionDone{action.id, base::Error{base::Code::unfit, why}, true});
            continue;
        }
        const auto error = obey(action);
        if (report_outcomes) tell(restart::ActionDone{action.id, error, false});
    }
}

void World::run(double seconds) {
    const auto end = now_ + base::duration_from_seconds(seconds);
    while (now_ < end) {
        now_ += base::Duration(250);
        const auto since = (now_ - start_).count();
        for (auto& [id, job] : jobs_) {
            if (job.saves_at && *job.saves_at <= now_) commit(id, job.commit ? job.commit->step + 100 : 100);
            settle(job);
        }
        if (!never_restart) schedule();
        std::int64_t offset = 0;
        for (auto& [name, host] : hosts_) {
            if (host.mute_at && *host.mute_at <= now_) {
                host.node.not_responding = true;
                host.node.state = "IDLE*";
            }
            if (host.agent && (since + 250 * (offset++ % 4)) % 1000 == 0) heartbeat(name, host);
        }
        if (since % 1000 == 500) snapshot();
        tell(restart::Tick{});
    }
}

void World::restart_daemon() {
    auto state = restart::State::from_json(state_.to_json());
    REQUIRE(state);
    state_ = *std::move(state);
    tell(restart::Started{});
}

void World::heartbeat(const std::string& name, Host& host) {
    restart::Report report;
    report.host = name;
    report.boot_id = "b-" + name;
    report.findings = host.findings;
    report.fabric = host.fabric;
    for (const auto& [id, job] : jobs_)
        if (!mute_jobs && job.rm.phase == JobPhase::running && !job.rm.nodes.empty() &&
            job.rm.nodes.front() == name)
            report.jobs.push_back({id, job.rm.restarts, job.rm.uid, job.commit});
    tell(restart::AgentReported{report});
    for (const auto& told : restart::reply_to(state_, report).jobs) {
        auto& job = jobs_.at(told.id);
        if (told.save_by && autosave && !job.saves_at) job.saves_at = now_ + base::Duration(500);
    }
}

void World::snapshot() {
    if (!rm_answers) return tell(restart::RmUnavailable{"connection refused"});
    restart::RmSnapshot snapshot;
    for (const auto& [name, host] : hosts_)
        snapshot.nodes.push_back(host.node);
    for (const auto& [id, job] : jobs_)
        snapshot.jobs.push_back(job.rm);
    snapshot.config = config;
    tell(restart::RmRead{snapshot});
}

// The resource manager, and what restart/rm promises: looking before acting.
std::optional<base::Error> World::obey(const restart::Action& action) {
    using base::Code;
    performed.push_back(restart::describe(action));
    if (done) done(action);
    if (action.job != 0) {
        const auto found = jobs_.find(action.job);
        if (found == jobs_.end()) return base::Error{Code::not_found, "the job has ended"};
        auto& job = found->second;
        if (action.kind == ActionKind::requeue_job && job.rm.restarts == action.epoch &&
            job.rm.phase == JobPhase::running)
            requeue(job);
        update(job, action);
        return {};
    }
    if (action.kind == ActionKind::tell_job) {
        if (!jobs_.contains(action.job)) return base::Error{Code::not_found, "the job has ended"};
        return {};
    }
    auto& node = hosts_.at(action.host).node;
    const bool theirs = node.drain && restart::owner_of(node.reason).empty();
    switch (action.kind) {
    case ActionKind::drain_host:
        if (theirs) return base::Error{Code::denied, "drained already"};
        node.drain = true;
        node.reason = action.reason;
        break;
    case ActionKind::down_host:
        node.down = true;
        node.automatic = false;
        node.drain = node.drain || action.drain;
        if (!action.reason.empty() && !theirs) node.reason = action.reason;
        end_jobs_on(action.host);
        break;
    case ActionKind::resume_host:
        if (theirs) return base::Error{Code::denied, "not ours"};
        node.drain = node.down = false;
        node.reason.clear();
        break;
    default: break;
    }
    return {};
}

// As Slurm does it: a job on a host that is set down is requeued.
void World::end_jobs_on(const std::string& host) {
    for (auto& [id, job] : jobs_) {
        const auto& nodes = job.rm.nodes;
        if (std::find(nodes.begin(), nodes.end(), host) != nodes.end()) requeue(job);
    }
}

void World::requeue(Job& job) {
    ++job.rm.restarts;
    job.rm.phase = JobPhase::completing;
    job.rm.nodes.clear();
    job.saves_at.reset();
    job.ends_at = now_ + base::duration_from_seconds(end_delay);
    job.begin_at_end = false;
}

// restart/rm waits a moment for the end of the job's processes; a later end puts the job off.
void World::update(Job& job, const restart::Action& action) {
    if (action.kind == ActionKind::keep_off && job.rm.phase != JobPhase::pending) return;
    for (const auto& host : action.readmit)
        std::erase(job.rm.excluded, host);
    for (const auto& host : action.exclude)
        if (std::find(job.rm.excluded.begin(), job.rm.excluded.end(), host) == job.rm.excluded.end())
            job.rm.excluded.push_back(host);
    if (action.hold) job.held = true;
    if (action.kind == ActionKind::keep_off) return;
    if (job.rm.phase == JobPhase::pending) job.rm.begin = now_;
    if (job.ends_at && *job.ends_at <= now_ + base::Duration(400)) job.begin_at_end = true;
}

void World::settle(Job& job) {
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

void World::add_silent_host(const std::string& host) {
    auto& added = hosts_[host];
    added.node.name = host;
    added.agent = false;
}

void World::sleep(double seconds) {
    now_ += base::duration_from_seconds(seconds);
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

void World::find(const std::string& host, restart::Severity severity, const std::string& rule) {
    hosts_.at(host).findings.push_back({rule, "gpu3", severity, now_, "clock event reasons 0x80 for 5.2 s"});
}

void World::clear(const std::string& host) {
    hosts_.at(host).findings.clear();
}

void World::reads_file(const std::string& host, const std::string& digest) {
    hosts_.at(host).fabric = digest;
}

void World::commit(std::uint32_t id, std::uint64_t step, double cost_s) {
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
    return static_cast<std::size_t>(std::count_if(actions.begin(), actions.end(),
                                                  [&](const restart::Action& a) { return a.kind == kind; }));
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
