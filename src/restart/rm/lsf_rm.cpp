// Findings on an engine with LSF's commands, and the resulting order of operations:
//  * A gang waits in a parking queue, from which nothing can start. It is given its hosts (bmod -m, the order
//    by weights) and moved to the run queue (bswitch), where LSF starts it on exactly these hosts or not at
//    all. Once it runs it is moved back: when a user or LSF itself (after the loss of its first host)
//    requeues it, it then waits there again and does not start by the old list.
//  * Where gangs wait held instead ([lsf] gangs_wait), bresume replaces bswitch, and a requeue is
//    one that holds (brequeue -H). What is PEND without a plan, as after the rerun of a job whose first host
//    was lost, is held (bstop) before it is planned; what its user holds is left alone (LsfJobs).
//  * LSF notices only the loss of a job's first host; with any other the job stays RUN: the host is closed
//    and the job requeued.
//  * brequeue of a job whose first host is dead loses the job as long as bjobs says RUN. It is safe once it
//    says UNKWN.
//  * hclose of a host that is closed keeps the note that it has, so the note is read before, and a
//    note is never renewed: opening the host for that would let jobs in.
//  * A host that was cut off and comes back still runs its old copies: `badmin hrestart` ends them before the
//    host is opened.

#include "restart/rm/lsf_rm.hpp"

#include "base/lsf_exit.hpp"
#include "base/user.hpp"
#include "restart/core/facts/kept_out.hpp"
#include "restart/rm/looked_up.hpp"
#include "restart/rm/lsf_checks.hpp"
#include "restart/rm/lsf_commands.hpp"
#include "restart/rm/lsf_jobs.hpp"
#include "restart/rm/lsf_list.hpp"
#include "restart/rm/lsf_nodes.hpp"
#include "restart/rm/lsf_queues.hpp"
#include "restart/rm/lsf_text.hpp"
#include "restart/rm/lsf_words.hpp"
#include "sched/say/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <set>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace restart {
namespace {

using base::Code;
using base::Error;
using base::Expected;

constexpr base::Duration list_age{1'000};     // lists are not read more often, whatever the requests
constexpr base::Duration details_age{60'000}; // the owner of a waiting job may change it
constexpr base::Duration notes_age{30'000};
constexpr base::Duration least_step{500};   // of the time of day; NTP changes it by less between two lists
constexpr std::size_t most_details = 2'000; // per reading, however many are submitted; others with the next
constexpr std::string_view under_way = "Operation is in progress"; // LSF: the job is being ended
// Of bpost: LSF shows the message until another text replaces it; low ones are for users. At most 128 by
// default (MAX_JOB_MSG_NUM).
constexpr const char* message_index = "100";

bool row_is_over(const LsfJobRow& row) {
    return row.state == "EXIT" || row.state == "DONE";
}

class LsfRm final : public ResourceManager {
public:
    explicit LsfRm(const base::LsfConf& conf)
        : commands_(conf.bindir), queues_{conf.parking_queues, conf.run_queue, conf.gangs_wait == "held"},
          jobs_(queues_, base::lsf_exit_settles, base::user_name(::geteuid())) {}

    void recall(const std::vector<RmJob>& known) override { jobs_.recall(known); }

    bool places_gangs() const override { return true; }

    Expected<RmSnapshot> read() override {
        if (auto read = read_lists(); !read) return std::move(read).error();
        RmSnapshot snapshot;
        snapshot.jobs = jobs_.jobs(uid_of_);
        for (const auto& row : nodes_.rows())
            snapshot.nodes.push_back(nodes_.node_of(row));
        snapshot.config = config();
        return snapshot;
    }

    Expected<RmQueue> queue() override {
        if (auto read = read_if_old(); !read) return std::move(read).error();
        RmQueue queue;
        queue.read = base::now();
        for (const auto& row : nodes_.rows()) {
            QueueNode node;
            const auto read = nodes_.node_of(row);
            node.name = row.name;
            node.state = *read.use;
            node.reason = read.reason;
            node.cpus_idle = row.slots > row.used ? row.slots - row.used : 0;
            queue.nodes.push_back(std::move(node));
        }
        queue.jobs = jobs_.queue(book_.priorities(), book_.shares(), uid_of_);
        // Whether an EXIT is final shows only once it has lasted, but released slots show at once (hosts are
        // read before jobs): in either case it needs new hosts. Jobs that we do not place hold the hosts that
        // LSF counts: their row may be a job's name.
        for (auto& job : queue.jobs)
            if (job.phase == QueuePhase::leaving || !job.exclusive || jobs_.details(job.id) == nullptr)
                std::erase_if(job.nodes, [&](const std::string& host) { return !nodes_.in_use(host); });
        std::erase_if(shown_, [&](const auto& one) { return jobs_.find(one.first) == nullptr; });
        for (auto& job : queue.jobs)
            if (const auto shown = shown_.find(job.id); shown != shown_.end()) job.shown = shown->second;
        std::vector<std::string> all;
        for (const auto& row : nodes_.rows())
            all.push_back(row.name);
        for (const auto& name : queues_.parking)
            queue.partitions[name] = all;
        return queue;
    }

    // As a message of the job, if LSF has bpost (the engine does not). An earlier message from before a
    // restart is not read, so a text may be posted again after a restart.
    Expected<void> write_why(base::JobId id, const std::string& text) override {
        const auto* job = jobs_.find(id);
        if (job == nullptr || !is_gang(*job) || !commands_.has("bpost")) return {};
        const auto phrase = sched::as_phrase(text, sched::longest_shown);
        const auto at = shown_.find(id);
        if (at == shown_.end() ? phrase.empty() : at->second == phrase) return {};
        auto done = said({"bpost", "-i", message_index, "-d", phrase.empty() ? "-" : phrase, to_string(id)});
        if (!done && done.error().code != Code::not_found) return done;
        if (phrase.empty() || !done)
            shown_.erase(id);
        else
            shown_[id] = phrase;
        return {};
    }

    Expected<RmUser> user(const std::string&) override { return RmUser(); }

    Life ask_host(const std::string&, base::Duration) override { return Life::unknown; }

    RmWords words() const override { return lsf_words(); }

    // LSF's administrator, as whom this must run.
    std::optional<std::uint32_t> owner() override { return ::geteuid(); }

    base::Duration between_reads() const override { return list_age; }

    // A job whose first host is lost must not be requeued before LSF knows that (see above), and one that
    // shows as EXIT may be on its way back.
    bool is_ready(const Action& action) override {
        if (const auto* check = as<CheckHost>(action)) return !read_if_old() || !jobs_.is_wanted(check->host);
        const auto* requeue = as<RequeueJob>(action);
        if (requeue == nullptr || requeue->ended) return true;
        const auto row = load_job(requeue->job.id);
        if (!row) return true; // perform() finds that, too
        const auto* known = jobs_.find(requeue->job.id);
        if (row_is_over(*row)) return known == nullptr || known->phase != JobPhase::completing;
        return row->state != "RUN" || row->hosts.names.empty() || !nodes_.is_lost(row->hosts.names.front());
    }

    Expected<void> perform(const Action& action) override {
        read_ = {}; // the last reading is out of date
        return std::visit([this](const auto& what) { return this->done(what); }, action.what);
    }

private:
    // Hosts.

    Expected<LsfHostRow> load_host(const std::string& host) {
        auto text = commands_.run({"bhosts", "-w", host});
        if (!text) return std::move(text).error();
        auto rows = read_host_rows(*text);
        if (!rows) return std::move(rows).error();
        const auto row =
            std::find_if(rows->begin(), rows->end(), [&](const LsfHostRow& one) { return one.name == host; });
        if (row == rows->end()) return Error{Code::not_found, fmt::format("host {} does not exist", host)};
        return *row;
    }

    Expected<RmNode> load_node(const std::string& host) {
        const auto row = load_host(host);
        if (!row) return row.error();
        if (auto read = read_notes({host}); !read) return std::move(read).error();
        return nodes_.node_of(*row);
    }

    Expected<void> done(const DrainHost& action) {
        const auto node = load_node(action.host);
        if (!node) return node.error();
        if (action.renew)
            return is_our_drain(*node)
                       ? Expected<void>()
                       : Error{Code::denied,
                               fmt::format("{} is not drained by Railyard any more", action.host)};
        if (node->drain) {
            if (owner_of(node->reason) == owner_of(action.reason)) return {};
            return Error{Code::denied, fmt::format("{} is drained already: {}", action.host, node->reason)};
        }
        return close(action.host, action.reason);
    }

    // Its jobs are requeued one by one, each as LSF's view of it allows.
    Expected<void> done(const DownHost& action) {
        const auto node = load_node(action.host);
        if (!node) return node.error();
        if (!node->drain && !action.reason.empty())
            if (auto closed = close(action.host, action.reason); !closed) return closed;
        nodes_.set_down(action.host);
        return end_jobs_on(action.host);
    }

    // A job that its user lets LSF rerun (bsub -r) when a host is lost, without --restart: LSF does so only
    // for its first host. The others get actions of their own.
    Expected<void> end_jobs_on(const std::string& host) {
        for (const auto* job : jobs_.gangs_on(host)) {
            const auto* details = jobs_.details(job->id);
            if (job->restart || details == nullptr || !details->rerunnable || job->nodes.front() == host)
                continue;
            if (auto parked = park(job->id, job->queue); !parked) return parked;
            auto requeued = requeue(job->id, {});
            if (!requeued && requeued.error().code != Code::not_found) return requeued;
        }
        return {};
    }

    Expected<void> close(const std::string& host, const std::string& note) {
        if (auto closed = said({"badmin", "hclose", "-C", note, host}); !closed) return closed;
        return read_notes({host});
    }

    Expected<void> done(const ResumeHost& action) {
        const auto node = load_node(action.host);
        if (!node) return node.error();
        if (!node->drain) {
            nodes_.set_up(action.host);
            return {};
        }
        if (keeper_of(*node) == Keeper::others)
            return Error{Code::denied,
                         fmt::format("{} was not drained by Railyard: {}", action.host, node->reason)};
        // What ran there when it was cut off may still run.
        if (auto ended = said({"badmin", "hrestart", "-f", action.host}); !ended) return ended;
        auto opened = said({"badmin", "hopen", "-C", std::string(LsfNodes::resumed), action.host});
        if (!opened) return opened;
        nodes_.set_up(action.host);
        return {};
    }

    Expected<void> done(const CheckHost& action) { return checks_.begin(action); }
    Expected<void> done(const EndCheck& action) { return checks_.end(action); }
    static Expected<void> done(const SubmitAgain&) { return Error{Code::unfit, "LSF has its record still"}; }
    static Expected<void> done(const FreeHost& action) {
        return Error{Code::unfit, fmt::format("LSF cannot take {} out of a running job", action.host)};
    }
    static Expected<void> done(const RepairHost& action) {
        return Error{Code::unfit,
                     fmt::format("LSF does not reboot hosts: {} needs a program of [repair]", action.host)};
    }

    // Jobs.

    Expected<LsfJobRow> load_job(base::JobId id) {
        auto rows = list_.read(commands_, {"-a", to_string(id)});
        if (!rows) return std::move(rows).error();
        const auto row = std::find_if(rows->begin(), rows->end(), [&](const LsfJobRow& one) {
            return one.id.number() == id.number() && (id.index() == 0 || one.id == id);
        });
        if (row == rows->end()) return Error{Code::not_found, fmt::format("job {} has ended", to_string(id))};
        return *row;
    }

    Expected<void> done(const RequeueJob& action) {
        const auto id = action.job.id;
        const auto row = load_job(id);
        if (!row) return row.error();
        const auto* known = jobs_.find(id);
        const bool later = known != nullptr && known->restarts > action.job.epoch;
        const bool over = row_is_over(*row);
        // Its failure is known only if it was observed; any other end is final.
        const auto* failure = known != nullptr && known->failure ? &*known->failure : nullptr;
        const bool done = failure != nullptr && failure->code == 0 && !action.ended;
        if (!later && over && (done || (failure == nullptr && (known != nullptr || !action.ended))))
            return Error{Code::not_found, fmt::format("job {} has ended", to_string(id))};
        if (!later && over && failure != nullptr && failure->signalled)
            if (auto free = not_by_person(id); !free) return free;
        jobs_.exclude(id, action.exclude, {});
        if (row->state == "PSUSP" && !action.hold) jobs_.expect_hold(id, false, base::now());
        if (later) return {};
        if (row->state == "PEND") return action.hold ? said({"bstop", to_string(id)}) : Expected<void>();
        if (row->state == "PSUSP") return {};
        if (auto parked = park(id, row->queue); !parked) return parked;
        std::vector<std::string> words;
        if (over || action.ended) words.emplace_back(row->state == "DONE" ? "-d" : "-e");
        if (!action.hold) return requeue(id, std::move(words));
        words.insert(words.begin(), "brequeue");
        words.insert(words.end(), {"-H", to_string(id)});
        return order_requeue(std::move(words));
    }

    // If a user or administrator ended it, that is final.
    Expected<void> not_by_person(base::JobId id) {
        auto history = commands_.run({"bhist", "-l", to_string(id)});
        if (!history) return std::move(history).error();
        if (!ended_by_person(*history)) return {};
        jobs_.set_over(id);
        return Error{Code::not_found,
                     fmt::format("job {} was ended by its user or an administrator", to_string(id))};
    }

    // One already requested, for another host that the job lost or by a user, will do.
    Expected<void> order_requeue(std::vector<std::string> words) {
        auto requeued = said(std::move(words));
        if (!requeued && requeued.error().text.find(under_way) != std::string::npos) return {};
        return requeued;
    }

    // Back to where it waits for hosts.
    Expected<void> requeue(base::JobId id, std::vector<std::string> options) {
        options.insert(options.begin(), "brequeue");
        if (queues_.held) options.emplace_back("-H");
        options.push_back(to_string(id));
        if (!queues_.held) return order_requeue(std::move(options));
        jobs_.expect_hold(id, false, base::now());
        auto done = order_requeue(std::move(options));
        if (!done) jobs_.expect_no_hold(id);
        return done;
    }

    Expected<void> done(const UpdateJob& action) {
        const auto row = load_job(action.job.id);
        if (!row) return row.error();
        jobs_.exclude(action.job.id, action.exclude, {});
        if (action.release && row->state == "PSUSP") return said({"bresume", to_string(action.job.id)});
        return {};
    }

    Expected<void> done(const KeepOff& action) {
        if (!jobs_.exclude(action.job.id, action.exclude, action.readmit))
            return Error{Code::not_found, fmt::format("job {} has ended", to_string(action.job.id))};
        return {};
    }

    // LSF can reach a job's user only by mail, which restartd does not send: railctl explain shows it.
    static Expected<void> done(const NotifyJob&) { return {}; }

    Expected<void> done(const PlaceJob& action) {
        const auto id = action.job.id;
        const auto row = load_job(id);
        if (!row) return row.error();
        if (row->state != "PEND" && !(queues_.held && row->state == "PSUSP"))
            return Error{Code::unfit, fmt::format("job {} is {}, not {}", to_string(id), row->state,
                                                  queues_.held ? "PSUSP" : "PEND")};
        if (const auto* known = jobs_.find(id); known != nullptr && known->held)
            return Error{Code::unfit, fmt::format("job {} is held by its user", to_string(id))};
        if (!queues_.manages(row->queue))
            return Error{Code::unfit, fmt::format("job {} was moved to queue {}", to_string(id), row->queue)};
        // Its owner may have changed it just now.
        if (auto read = list_.read_details(commands_, {id}, jobs_); !read) return std::move(read).error();
        const auto* details = jobs_.details(id);
        const auto hosts = static_cast<std::uint32_t>(action.hosts.size());
        const auto per_host = details == nullptr ? 1U : std::max(1U, details->ptile);
        if (details == nullptr || hosts * per_host < details->least)
            return Error{Code::unfit, fmt::format("job {} was changed: it no longer asks for {} host{}",
                                                  to_string(id), hosts, hosts == 1 ? "" : "s")};
        std::string list;
        for (std::uint32_t i = 0; i < hosts; ++i)
            list += fmt::format("{}{}+{}", i == 0 ? "" : " ", action.hosts[i], hosts - i);
        if (auto changed = said({"bmod", "-m", list, to_string(id)}); !changed) return changed;
        if (queues_.held) return row->state == "PEND" ? Expected<void>() : said({"bresume", to_string(id)});
        return row->queue == queues_.run ? Expected<void>() : said({"bswitch", queues_.run, to_string(id)});
    }

    Expected<void> done(const ParkJob& action) {
        const auto row = load_job(action.job.id);
        if (!row) return row.error();
        return queues_.held ? hold(action.job.id, row->state) : park(action.job.id, row->queue, action.queue);
    }

    Expected<void> park(base::JobId id, const std::string& queue, std::string home = {}) {
        if (queues_.held || queue != queues_.run || queues_.parking.empty()) return {};
        if (const auto* known = jobs_.find(id); home.empty() && known != nullptr) home = known->home;
        if (home.empty()) home = queues_.parking.front();
        return said({"bswitch", home, to_string(id)});
    }

    // A job may start while it is being held, and bstop then stops it where it runs: it is resumed
    // (resume_stopped), and its hosts are judged like those of any start.
    Expected<void> hold(base::JobId id, const std::string& state) {
        if (state == "USUSP") return said({"bresume", to_string(id)});
        if (state != "PEND" && state != "PSUSP") return {};
        jobs_.expect_hold(id, true, base::now());
        if (state == "PSUSP") return {};
        auto done = said({"bstop", to_string(id)});
        if (!done) jobs_.expect_no_hold(id);
        return done;
    }

    Expected<void> resume_stopped() {
        for (const auto id : jobs_.stopped(base::now())) {
            auto done = said({"bresume", to_string(id)});
            if (!done && done.error().code == Code::unavailable) return done;
            jobs_.expect_no_hold(id);
        }
        return {};
    }

    Expected<void> said(std::vector<std::string> words) {
        auto text = commands_.run(std::move(words));
        if (!text) return std::move(text).error();
        return {};
    }

    // Lists.

    // Setting the time of day must not end a job that is only on its way back, nor keep hosts for one that
    // has ended.
    void follow_clock(std::chrono::steady_clock::time_point steady) {
        const auto ahead = base::now().time_since_epoch() -
                           std::chrono::duration_cast<base::Duration>(steady.time_since_epoch());
        const auto by = ahead - std::exchange(clock_ahead_, ahead).value_or(ahead);
        if (std::chrono::abs(by) < least_step) return;
        jobs_.clock_set(by);
        nodes_.clock_set(by);
    }

    Expected<void> read_if_old() {
        const bool old = !read_ || std::chrono::steady_clock::now() - *read_ > list_age;
        return old ? read_lists() : Expected<void>();
    }

    Expected<void> read_lists() {
        const auto now = std::chrono::steady_clock::now();
        follow_clock(now);
        auto hosts = commands_.run({"bhosts", "-w"});
        if (!hosts) return std::move(hosts).error();
        auto rows = read_host_rows(*hosts);
        if (!rows) return std::move(rows).error();
        auto jobs = list_.read(commands_, {"-u", "all"});
        if (!jobs) return std::move(jobs).error();
        if (auto read = read_notes(nodes_.unread(*rows, base::now(), notes_age)); !read) return read;
        nodes_.take(*std::move(rows));
        list_.tell_apart(*jobs, jobs_, queues_, [&](base::JobId id) { return load_job(id); });
        jobs_.take(*jobs, base::now());
        if (auto resumed = resume_stopped(); !resumed) return resumed;
        const auto unknown = jobs_.unknown(base::now(), details_age, most_details);
        if (auto read = list_.read_details(commands_, unknown, jobs_); !read) return read;
        if (auto read = book_.read(commands_, queues_, jobs_, now); !read) return read;
        read_ = now;
        return {};
    }

    Expected<void> read_notes(const std::vector<std::string>& hosts) {
        for (std::size_t from = 0; from < hosts.size(); from += LsfCommands::most_at_once) {
            const auto end = std::min(from + LsfCommands::most_at_once, hosts.size());
            std::vector<std::string> words{"bhosts", "-l"};
            words.insert(words.end(), hosts.begin() + static_cast<std::ptrdiff_t>(from),
                         hosts.begin() + static_cast<std::ptrdiff_t>(end));
            auto text = commands_.run(std::move(words));
            if (!text) return std::move(text).error();
            nodes_.take_notes(read_host_notes(*text), base::now());
        }
        return {};
    }

    RmConfig config() const {
        RmConfig config;
        config.takes_flags = config.chooses_nodes = true;
        config.hides = RmPrivacy();
        config.missing = book_.missing(queues_);
        if (!list_.missing().empty()) config.missing.push_back(list_.missing());
        return config;
    }

    std::uint32_t uid_of(const std::string& user) {
        const auto found = uids_.of(user, std::chrono::steady_clock::now(), [](const std::string& name) {
            const auto uid = base::find_uid(name);
            return uid ? std::optional<std::uint32_t>(*uid) : std::nullopt;
        });
        return found.value_or(std::uint32_t(-1));
    }

    LsfCommands commands_;
    LsfQueues queues_;
    LsfJobs jobs_;
    LsfChecks checks_{commands_, jobs_};
    LsfNodes nodes_;
    LsfQueueBook book_;
    LsfJobList list_;
    std::map<base::JobId, std::string> shown_; // why a gang waits, as posted since this daemon started
    LookedUp<std::string, std::uint32_t> uids_;
    const std::function<std::uint32_t(const std::string&)> uid_of_ = [this](const std::string& user) {
        return uid_of(user);
    };
    std::optional<std::chrono::steady_clock::time_point> read_;
    std::optional<base::Duration> clock_ahead_; // the time of day, relative to a clock that never steps
};

} // namespace

std::unique_ptr<ResourceManager> make_lsf_rm(const base::LsfConf& conf) {
    return std::make_unique<LsfRm>(conf);
}

} // namespace restart
