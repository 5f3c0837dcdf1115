#include "restart/rm/lsf_jobs.hpp"

#include "base/utf8.hpp"
#include "restart/rm/check_job.hpp"
#include "sched/lsf/job_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

namespace restart {
namespace {

constexpr std::size_t longest_title = 64;
// For an existing job for which nothing in LSF's output can be distinguished from its user's texts.
constexpr const char* no_details =
    "what LSF says of it is not understood: it is not placed while its name or its command looks like LSF's "
    "own words; bmod -J gives it another name";
// A failed job that may be restarted is shown for this long.
constexpr base::Duration shown_failed{60'000};
// A job may save for this long before it ends (JOB_TERMINATE_INTERVAL); a later hold was not ordered here.
constexpr base::Duration longest_requeue{3'600'000};

constexpr std::uint32_t at_its_limit = 140;
// By bkill, or by mpirun that lost a host.
constexpr std::array<std::uint32_t, 3> signalled{130, 137, 143};

bool is_any(const std::string& state, std::initializer_list<std::string_view> of) {
    return std::find(of.begin(), of.end(), state) != of.end();
}

// LSF's states (bjobs(1), STAT). UNKWN: LSF does not reach its first host, where it may still run.
std::optional<JobPhase> phase_in_lsf(const std::string& state) {
    if (is_any(state, {"PEND", "PSUSP", "PROV", "WAIT", "FWD_PEND"})) return JobPhase::pending;
    if (is_any(state, {"RUN", "UNKWN"})) return JobPhase::running;
    if (is_any(state, {"USUSP", "SSUSP"})) return JobPhase::suspended;
    if (is_any(state, {"EXIT", "DONE", "ZOMBI"})) return JobPhase::completing;
    return {};
}

bool is_over(const std::string& state) {
    return is_any(state, {"EXIT", "DONE"});
}

} // namespace

bool LsfQueues::parks(const std::string& queue) const {
    return std::find(parking.begin(), parking.end(), queue) != parking.end();
}

void LsfJobs::recall(const std::vector<RmJob>& known) {
    for (const auto& job : known) {
        auto& one = jobs_[job.id];
        one.job = job;
        one.fresh = false;
        one.held_before = job.phase == JobPhase::pending && !job.resumed;
        one.recalled = true;
    }
}

// It has left the hosts it ran on: its present start is over.
void LsfJobs::begin(Known& known, const LsfJobRow& row, base::Time now) {
    auto& job = known.job;
    const auto phase = *phase_in_lsf(row.state), before = job.phase;
    const bool fresh = job.id.number() == 0;
    const bool ran = !fresh && before != JobPhase::pending;
    const bool elsewhere = phase == JobPhase::running && job.nodes != row.hosts.names;
    const bool begins = phase == JobPhase::running &&
                        (!ran || elsewhere || before == JobPhase::completing || before == JobPhase::ended);
    if (ran && (phase == JobPhase::pending || begins)) ++job.restarts;
    if (begins) job.start = now;
    if (phase == JobPhase::pending) job.start = {};
    job.phase = phase;
}

void LsfJobs::take_row(const LsfJobRow& row, std::size_t place, base::Time now) {
    if (!phase_in_lsf(row.state)) return;
    auto& known = jobs_[row.id];
    const auto state_before = known.state;
    if (known.over && !is_over(row.state)) { // its number is in use again, or it was requeued from its end
        const auto ordered = known.ordered_hold;
        known = {};
        known.ordered_hold = ordered;
        known.fresh = false;
    }
    known.place = place;
    known.user = row.user;
    const auto before = std::tie(known.state, known.job.queue, known.job.nodes);
    if (before != std::tie(row.state, row.queue, row.hosts.names)) known.asked.reset();
    if (!is_over(row.state)) {
        known.gone.reset();
    } else if (!known.gone) {
        known.gone = now;
        known.asked.reset();
    }
    begin(known, row, now);
    auto& job = known.job;
    job.id = row.id;
    job.name = to_string(row.id);
    known.state = row.state;
    job.queue = row.queue;
    if (queues_.parks(row.queue)) job.home = row.queue;
    if (!queues_.manages(row.queue)) job.home.clear();
    if (!queues_.held && row.queue == queues_.run && job.home.empty() && !queues_.parking.empty())
        job.home = queues_.parking.front();
    if (job.home.empty() && job.phase == JobPhase::pending)
        job.why =
            fmt::format("LSF places the jobs of queue {}, not Railyard", base::printable(row.queue, 64));
    if (queues_.held && managed(known))
        take_hold(known, state_before, now);
    else
        job.resumed = job.held = false;
    if (job.phase != JobPhase::completing || !row.hosts.names.empty()) job.nodes = row.hosts.names;
    known.slots = row.hosts.slots;
    if (!job.nodes.empty()) job.node_count = static_cast<std::uint32_t>(job.nodes.size());
}

void LsfJobs::clock_set(base::Duration by) {
    for (auto& [id, known] : jobs_) {
        if (known.gone) *known.gone += by;
        if (known.asked) *known.asked += by;
        if (known.ordered_hold) *known.ordered_hold += by;
    }
}

// Whose hold it is, where gangs wait held. `before`: its state in the last list; empty: there was none.
void LsfJobs::take_hold(Known& known, const std::string& before, base::Time now) {
    auto& job = known.job;
    const bool was_held = before.empty() ? known.held_before : before == "PSUSP";
    job.resumed = job.phase == JobPhase::pending && known.state != "PSUSP";
    if (known.state != "PSUSP") {
        job.held = known.unseen_hold = known.fresh = false;
        return;
    }
    if (!was_held && !known.fresh) {
        job.held = !known.ordered_hold || now - *known.ordered_hold > longest_requeue;
        known.unseen_hold = before.empty();
    }
    known.ordered_hold.reset();
}

void LsfJobs::expect_hold(base::JobId id, bool waits, base::Time now) {
    const auto found = jobs_.find(id);
    if (found == jobs_.end()) return;
    auto& known = found->second;
    if (known.state != "PSUSP") {
        known.ordered_hold = now;
        known.ordered_waiting = waits;
    } else if (known.unseen_hold) {
        known.unseen_hold = known.job.held = false;
    }
}

void LsfJobs::expect_no_hold(base::JobId id) {
    if (const auto found = jobs_.find(id); found != jobs_.end()) found->second.ordered_hold.reset();
}

std::vector<base::JobId> LsfJobs::stopped(base::Time now) const {
    std::vector<base::JobId> ids;
    for (const auto& [id, known] : jobs_)
        if (known.state == "USUSP" && known.ordered_waiting && known.ordered_hold &&
            now - *known.ordered_hold <= longest_requeue)
            ids.push_back(id);
    return ids;
}

void LsfJobs::take(const std::vector<LsfJobRow>& rows, base::Time now) {
    std::set<base::JobId> seen;
    odd_.clear();
    for (const auto& row : rows)
        if (!seen.insert(row.id).second) odd_.push_back(row.id);
    for (std::size_t place = 0; place < rows.size(); ++place)
        if (std::find(odd_.begin(), odd_.end(), rows[place].id) == odd_.end())
            take_row(rows[place], place, now);
    for (auto at = jobs_.begin(); at != jobs_.end();) {
        auto& known = at->second;
        if (seen.contains(at->first)) {
            ++at;
            continue;
        }
        if (!known.gone) {
            known.gone = now;
            known.asked.reset(); // whether it has ended is asked at once
        }
        end_of(known, now);
        // A job that never ran, or was never managed, has just ended.
        const bool ended = known.job.phase == JobPhase::pending || !managed(known) ||
                           (known.over && (!known.job.failure || now - *known.gone > shown_failed));
        at = ended ? jobs_.erase(at) : std::next(at);
    }
}

// Gone: on its way to be pending again, until that has lasted too long.
void LsfJobs::end_of(Known& known, base::Time now) const {
    if (known.job.phase == JobPhase::pending || known.over) return;
    known.job.phase = JobPhase::completing;
    known.state = "EXIT";
    // Its end is requested once it has settled (unknown()).
    if (now - *known.gone < settles_) return;
    if (known.asked && *known.asked < *known.gone + settles_) known.asked.reset();
}

std::vector<base::JobId> LsfJobs::unknown(base::Time now, base::Duration age, std::size_t most) const {
    std::vector<std::pair<std::tuple<bool, bool, std::size_t>, base::JobId>> found;
    for (const auto& [id, known] : jobs_) {
        if (!is_looked_into(known) || known.over) continue;
        const bool waits = known.job.phase == JobPhase::pending;
        const bool settling = known.gone && known.asked && now - *known.gone < settles_;
        // What is not understood may be changed by its user at any moment.
        const bool old = waits && known.asked && now - *known.asked > (known.unreadable ? age / 6 : age);
        if (!settling && (!known.asked || old))
            found.emplace_back(std::tuple(waits, known.details.has_value(), known.place), id);
    }
    if (found.size() > most) {
        std::nth_element(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(most), found.end());
        found.resize(most);
    }
    std::vector<base::JobId> ids;
    for (const auto& [rank, id] : found)
        ids.push_back(id);
    return ids;
}

void LsfJobs::take(const std::vector<base::JobId>& asked, const std::map<base::JobId, LsfJobDetails>& details,
                   base::Time now) {
    for (const auto id : asked) {
        const auto found = jobs_.find(id);
        if (found == jobs_.end()) continue;
        auto& known = found->second;
        const auto read = details.find(id);
        known.asked = now;
        if (read == details.end() || read->second.user.rfind(known.user, 0) != 0) {
            if (known.gone && now - *known.gone >= settles_) known.over = true; // LSF has forgotten it
            known.unreadable = !known.gone && !known.details;
            if (known.unreadable) known.job.why = no_details;
            continue;
        }
        known.unreadable = false;
        known.details = read->second;
        auto& job = known.job;
        job.title = base::printable(read->second.title, longest_title);
        job.account = read->second.project;
        const auto& asked_hosts = read->second.asked_hosts;
        const bool tries_one =
            !managed(known) && read->second.title == check_job_name && asked_hosts.size() == 1;
        job.checks = tries_one ? asked_hosts.front() : std::string();
        job.interactive = read->second.interactive;
        job.requeue = !job.interactive;
        job.why = read->second.why;
        const auto per_host = std::max(1U, read->second.ptile);
        if (job.phase == JobPhase::pending) job.node_count = (read->second.least + per_host - 1) / per_host;
        // LSF's clock may be ahead: a running job has begun, at the latest when it was first seen running.
        if (const auto started = read->second.started;
            started && *started <= now && job.phase != JobPhase::pending)
            job.start = *started;
        job.ends.reset();
        if (read->second.run_limit && job.phase == JobPhase::running)
            job.ends = job.start + *read->second.run_limit;
        if (const auto line = sched::lsf::parse_job_line(read->second.command)) {
            known.hints = line->hints;
            if (known.fresh && known.state == "PSUSP") job.held = line->held;
            job.restart = line->hints.restart;
            job.restart_max = line->hints.restart_max;
            job.restart_on = line->hints.restart_on.value_or(sched::RestartOn());
            job.ckpt_dir = line->hints.ckpt_dir.value_or(std::string());
        }
        // DONE is final; a job shown as EXIT may only be requeued.
        if (known.gone && (read->second.state == "DONE" ||
                           (is_over(read->second.state) && now - *known.gone >= settles_))) {
            known.over = true;
            job.phase = JobPhase::ended;
            const auto code = read->second.exit_code;
            if (code && *code != 0 && *code != at_its_limit)
                job.failure =
                    RmFailure{*code, *known.gone, job.nodes,
                              std::find(signalled.begin(), signalled.end(), *code) != signalled.end()};
            if (read->second.state == "DONE" && read->second.done)
                job.failure = RmFailure{0, *read->second.done, job.nodes};
        }
    }
}

bool LsfJobs::exclude(base::JobId id, const std::vector<std::string>& add,
                      const std::vector<std::string>& readmit) {
    const auto found = jobs_.find(id);
    if (found == jobs_.end()) return false;
    auto& excluded = found->second.job.excluded;
    for (const auto& name : add)
        if (std::find(excluded.begin(), excluded.end(), name) == excluded.end()) excluded.push_back(name);
    for (const auto& name : readmit)
        std::erase(excluded, name);
    return true;
}

void LsfJobs::set_over(base::JobId id) {
    const auto found = jobs_.find(id);
    if (found == jobs_.end()) return;
    found->second.over = true;
    found->second.job.failure.reset();
}

const RmJob* LsfJobs::find(base::JobId id) const {
    const auto found = jobs_.find(id);
    return found == jobs_.end() ? nullptr : &found->second.job;
}

const LsfJobDetails* LsfJobs::details(base::JobId id) const {
    const auto found = jobs_.find(id);
    return found == jobs_.end() || !found->second.details ? nullptr : &*found->second.details;
}

std::vector<const RmJob*> LsfJobs::gangs_on(const std::string& host) const {
    std::vector<const RmJob*> gangs;
    for (const auto& [id, known] : jobs_) {
        const auto& nodes = known.job.nodes;
        if (managed(known) && known.job.phase == JobPhase::running &&
            std::find(nodes.begin(), nodes.end(), host) != nodes.end())
            gangs.push_back(&known.job);
    }
    return gangs;
}

bool LsfJobs::is_wanted(const std::string& host) const {
    return std::any_of(jobs_.begin(), jobs_.end(), [&](const auto& one) {
        const auto& [job, state] = std::tie(one.second.job, one.second.state);
        const bool waits =
            state == "PEND" || (queues_.held && managed(one.second) && state == "PSUSP" && !job.held);
        return waits && !one.second.gone && job.checks.empty() &&
               std::find(job.excluded.begin(), job.excluded.end(), host) == job.excluded.end();
    });
}

bool LsfJobs::is_tried(const std::string& host) const {
    return std::any_of(jobs_.begin(), jobs_.end(), [&](const auto& one) {
        return one.second.job.checks == host && !one.second.gone && !one.second.over;
    });
}

std::vector<RmJob> LsfJobs::jobs(const std::function<std::uint32_t(const std::string&)>& uid) const {
    std::vector<RmJob> jobs;
    for (const auto& [id, known] : jobs_) {
        if (known.user.empty() && !known.gone) continue; // recalled, and not listed yet
        if (managed(known) && !known.details && !known.unreadable && !known.recalled && !known.gone) continue;
        if (known.over && !known.job.failure) continue;
        auto& job = jobs.emplace_back(known.job);
        if (!known.user.empty()) job.uid = uid(known.details ? known.details->user : known.user);
        job.wanted = !job.checks.empty() && is_wanted(job.checks);
    }
    return jobs;
}

bool LsfJobs::waits_for_hosts(const Known& known) const {
    if (!managed(known) || !known.details) return false;
    if (queues_.held) return known.state == "PSUSP" && !known.job.held;
    // A job in the run queue was given its hosts.
    return known.job.queue == known.job.home && known.state == "PEND";
}

std::set<std::string> LsfJobs::users(const LsfShares& shares) const {
    std::set<std::string> users;
    for (const auto& [id, known] : jobs_)
        if (!known.over && waits_for_hosts(known) && shares.contains(known.job.home))
            users.insert(known.details->user);
    return users;
}

// With the priority of its user, where that decides.
std::vector<std::pair<const LsfJobs::Known*, std::optional<double>>>
LsfJobs::in_order(const std::map<std::string, std::int64_t>& priorities, const LsfShares& shares) const {
    std::vector<std::pair<const Known*, std::optional<double>>> order;
    std::vector<const Known*> rest;
    // A queue with shares is taken as a whole, at its first gang's place; others of one priority are as one.
    using Rank = std::tuple<std::int64_t, std::size_t, std::string_view>;
    std::map<std::string_view, std::vector<const Known*>> sharing; // by queue: all that wait or hold hosts
    std::map<Rank, std::vector<const Known*>> waiting;
    for (const auto& [id, known] : jobs_) {
        if (known.over || known.user.empty() || (managed(known) && !known.details && !known.unreadable))
            continue;
        if (managed(known) && known.details && shares.contains(known.job.home))
            sharing[known.job.home].push_back(&known);
        if (!waits_for_hosts(known)) {
            rest.push_back(&known);
            continue;
        }
        if (shares.contains(known.job.home)) continue;
        const auto priority = priorities.find(known.job.home);
        waiting[Rank(priority == priorities.end() ? 0 : -priority->second, known.place, "")].push_back(
            &known);
    }
    for (auto& [queue, jobs] : sharing) {
        std::sort(jobs.begin(), jobs.end(), [](auto* a, auto* b) { return a->place < b->place; });
        const auto first =
            std::find_if(jobs.begin(), jobs.end(), [&](auto* job) { return waits_for_hosts(*job); });
        if (first == jobs.end()) continue;
        const auto priority = priorities.find(std::string(queue));
        waiting[Rank(priority == priorities.end() ? 0 : -priority->second, (*first)->place, queue)] = jobs;
    }
    for (const auto& [rank, jobs] : waiting) {
        const auto queue = std::get<2>(rank);
        if (queue.empty()) {
            order.emplace_back(jobs.front(), std::nullopt);
            continue;
        }
        std::vector<sched::lsf::ShareGang> gangs;
        std::vector<const Known*> sharers;
        for (const auto* job : jobs) {
            const bool waits = waits_for_hosts(*job);
            if (!waits && job->job.phase == JobPhase::pending && !is_released(job->job)) continue;
            gangs.push_back({job->details->user, waits ? job->details->least : job->slots, !waits});
            if (!waits && job->slots == 0) gangs.back().slots = job->details->least; // about to start
            sharers.push_back(job);
        }
        for (const auto& turn : sched::lsf::fair_order(shares.find(queue)->second, gangs))
            order.emplace_back(sharers[turn.gang], turn.priority);
    }
    std::sort(rest.begin(), rest.end(), [](auto* a, auto* b) { return a->place < b->place; });
    for (const auto* known : rest)
        order.emplace_back(known, std::nullopt);
    return order;
}

QueueJob LsfJobs::queue_job(const Known& known) const {
    const auto& job = known.job;
    QueueJob one;
    one.id = job.id;
    one.phase = job.phase == JobPhase::pending      ? QueuePhase::waiting
                : job.phase == JobPhase::completing ? QueuePhase::leaving
                                                    : QueuePhase::placed;
    one.partitions = {job.home.empty() ? job.queue : job.home};
    one.restarts = job.restarts;
    one.start = job.start;
    one.ends = job.ends;
    one.excluded = job.excluded;
    one.exclusive = managed(known);
    if (one.phase != QueuePhase::waiting) one.nodes = job.nodes;
    if (known.details) {
        const auto& details = *known.details;
        const auto per_host = std::max(1U, details.ptile);
        one.cpus_per_node = per_host;
        one.least = (details.least + per_host - 1) / per_host;
        const auto most = details.most / per_host;
        one.most = most > one.least ? most : 0;
        one.eligible = details.submitted.value_or(base::Time{});
        one.limit = details.run_limit;
    }
    one.hints = known.hints;
    if (one.phase == QueuePhase::waiting) {
        one.waits_for = waits_for_hosts(known) ? WaitsFor::hosts : WaitsFor::other;
        // For held jobs LSF only reports that their user holds them.
        if (!queues_.held || one.waits_for == WaitsFor::other) one.why = job.why;
    }
    return one;
}

std::vector<QueueJob> LsfJobs::queue(const std::map<std::string, std::int64_t>& priorities,
                                     const LsfShares& shares,
                                     const std::function<std::uint32_t(const std::string&)>& uid) const {
    std::vector<QueueJob> jobs;
    for (const auto& [known, share] : in_order(priorities, shares)) {
        auto& one = jobs.emplace_back(queue_job(*known));
        one.owner = {uid(known->details ? known->details->user : known->user), known->job.account};
        if (one.waits_for != WaitsFor::hosts || one.phase != QueuePhase::waiting) continue;
        const auto priority = priorities.find(known->job.home);
        one.standing =
            QueueStanding{priority == priorities.end() ? 0 : priority->second, known->place, share};
    }
    return jobs;
}

} // namespace restart
