// The order of a recovery, found on Slurm 22.05 and 24.11's sources:
//  * Dead host: DRAIN first, then DOWN. A drain flag survives the down, so that there is no moment in which
//    ReturnToService=2 could bring the host back; the down ends its jobs and requeues those that allow it, at
//    once and without waiting for the dead slurmd.
//  * A requeued job may not begin before its old credential has expired (121 s by default, set when its last
//    process was seen to end) unless begin_time is changed after that moment, or lies in the future then.
//  * Tasks of an array are changed by the ids of their records and requeued by their own names (12_3); a
//    heterogeneous job is requeued by its leader's id, which moves all components, and changed one by one.
//  * It may not begin in the very second in which it was stopped either: slurmd has then revoked all
//    credentials made up to that second, and slurmctld ends the new start as "non-startable".

#include "restart/rm/slurm_rm.hpp"

#include "base/hostlist.hpp"
#include "base/user.hpp"
#include "restart/core/facts/kept_out.hpp"
#include "restart/rm/looked_up.hpp"
#include "restart/rm/slurm_checks.hpp"
#include "restart/rm/slurm_doors.hpp"
#include "restart/rm/slurm_free.hpp"
#include "restart/rm/slurm_kept.hpp"
#include "restart/rm/slurm_owned.hpp"
#include "restart/rm/slurm_queue.hpp"
#include "restart/rm/slurm_reading.hpp"
#include "restart/rm/slurm_reboot.hpp"
#include "restart/rm/slurm_record.hpp"
#include "restart/rm/slurm_requests.hpp"
#include "restart/rm/slurm_waiting.hpp"
#include "restart/rm/slurm_words.hpp"
#include "sched/slurm/admin_comment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <thread>
#include <unistd.h>

namespace restart {
namespace {

using base::Code;
using base::Error;
using base::Expected;
using namespace std::chrono_literals;

// How long a change of a job waits for the job's processes to end before it leaves the rest to a later one.
constexpr auto settle_time = 1300ms; // beyond the beginning of the next second
constexpr auto settle_pause = 20ms;

constexpr auto jobs_age = 5s, config_age = 5s; // at most, of the data about jobs and the configuration

int first_refusal(const job_array_resp_msg_t* answers) {
    for (std::uint32_t i = 0; answers != nullptr && i < answers->job_array_count; ++i)
        if (answers->error_code[i] != SLURM_SUCCESS) return static_cast<int>(answers->error_code[i]);
    return SLURM_SUCCESS;
}

class SlurmRm final : public ResourceManager {
public:
    explicit SlurmRm(std::filesystem::path kept) : kept_(std::move(kept)) {}

    Expected<RmSnapshot> read() override {
        if (auto read = read_nodes(); !read) return std::move(read).error();
        if (auto read = read_jobs(); !read) return std::move(read).error();
        RmSnapshot snapshot;
        snapshot.nodes.reserve(nodes_->record_count);
        for (std::uint32_t i = 0; i < nodes_->record_count; ++i)
            if (nodes_->node_array[i].name != nullptr)
                snapshot.nodes.push_back(read_node(nodes_->node_array[i],
                                                   [this](std::uint32_t uid) { return name_of_user(uid); }));
        doors_.keep(*nodes_);
        snapshot.jobs = read_whole_jobs(jobs_->job_array, jobs_->record_count);
        for (auto& job : snapshot.jobs)
            if (!job.checks.empty()) job.wanted = wants(job.checks);
        read_config_when_old();
        if (config_) snapshot.config = read_config(*config_);
        for (auto& job : kept_.look({jobs_->job_array, jobs_->record_count}, config_.get(), base::now()))
            snapshot.jobs.push_back(std::move(job));
        return snapshot;
    }

    Life ask_host(const std::string& host, base::Duration patience) override {
        return doors_.ask(host, patience);
    }

    Expected<RmQueue> queue() override {
        if (auto read = read_nodes(); !read) return std::move(read).error();
        if (auto read = read_jobs(); !read) return std::move(read).error();
        if (auto read = read_partitions(); !read) return std::move(read).error();
        RmQueue queue;
        queue.read = base::now();
        queue.nodes.reserve(nodes_->record_count);
        for (std::uint32_t i = 0; i < nodes_->record_count; ++i) {
            const auto& node = nodes_->node_array[i];
            if (node.name == nullptr) continue;
            std::uint16_t used = 0;
            slurm_get_select_nodeinfo(node.select_nodeinfo, SELECT_NODEDATA_SUBCNT, NODE_STATE_ALLOCATED,
                                      &used);
            queue.nodes.push_back(read_queue_node(node, used));
        }
        for (std::uint32_t i = 0; i < jobs_->record_count; ++i)
            if (auto job = read_queue_job(jobs_->job_array[i], queue.read))
                queue.jobs.push_back(*std::move(job));
            else if (auto ended = read_ended_job(jobs_->job_array[i]))
                queue.ended.push_back(*std::move(ended));
        for (std::uint32_t i = 0; i < partitions_->record_count; ++i) {
            const auto& partition = partitions_->partition_array[i];
            auto names = base::expand_hostlist(partition.nodes == nullptr ? "" : partition.nodes);
            if (partition.name != nullptr && names) queue.partitions[partition.name] = *std::move(names);
        }
        return queue;
    }

    Expected<void> write_why(base::JobId job, const std::string& text) override {
        const auto record = load_job(job);
        if (!record) return record.error().code == Code::not_found ? Expected<void>() : record.error();
        const auto& raw = record->own();
        const std::string before = text_of(raw.admin_comment);
        // Started since the request: then it waits for nothing.
        const bool waits = (raw.job_state & JOB_STATE_BASE) == JOB_PENDING;
        auto after = sched::with_why(before, waits ? text : std::string());
        if (after == before) return {};
        job_desc_msg_t change;
        slurm_init_job_desc_msg(&change);
        change.job_id = raw.job_id;
        change.admin_comment = after.data();
        return update_job(raw.job_id, change);
    }

    // slurmctld's own copy of slurmdbd's data, by which it authorizes its users itself: slurmdbd is never
    // asked.
    Expected<RmUser> user(const std::string& name) override {
        assoc_mgr_info_request_msg_t request{};
        request.flags = ASSOC_MGR_INFO_FLAG_USERS;
        request.user_list = slurm_list_create(nullptr);
        auto wanted = name;
        slurm_list_append(request.user_list, wanted.data());
        assoc_mgr_info_msg_t* message = nullptr;
        errno = 0;
        const int answer = slurm_load_assoc_mgr_info(&request, &message);
        const int failed = number_of(answer);
        slurm_list_destroy(request.user_list);
        const std::unique_ptr<assoc_mgr_info_msg_t, FreeAssociations> owned(message);
        if (answer != SLURM_SUCCESS)
            return slurm_error(fmt::format("reading the rights of {}", name), failed);
        return owned ? read_user(*owned, name) : RmUser();
    }

    RmWords words() const override { return slurm_words(); }

    // An idle host is checked when no waiting job could use it.
    bool is_ready(const Action& action) override {
        const auto* check = as<CheckHost>(action);
        return check == nullptr || !read_jobs() || !wants(check->host); // perform() finds an error, too
    }

    Expected<void> perform(const Action& action) override {
        return std::visit([this](const auto& what) { return this->done(what); }, action.what);
    }

    std::optional<std::uint32_t> owner() override {
        read_config_when_old();
        if (!config_) return {};
        return config_->slurm_user_id;
    }

private:
    // The culprit is no longer requested, even if a drain keeps the job away from it.
    template <class Restart> static WaitingChange change_of(const Restart& action) {
        WaitingChange change{action.job.id, action.exclude,  {}, action.exclude, action.comment,
                             action.had,    action.job.epoch};
        change.unasked.push_back(action.job.host);
        return change;
    }

    // Each first finds out whether it has been done before.
    static Expected<void> done(const DrainHost& action) {
        const auto& [host, reason, renew] = action;
        const auto node = load_node(host);
        if (!node) return node.error();
        if (renew && !is_our_drain(*node))
            return Error{Code::denied, fmt::format("{} is not drained by Railyard any more", host)};
        if (renew) return node->reason == reason ? Expected<void>() : update_node(host, NO_VAL, reason);
        if (node->drain) {
            if (owner_of(node->reason) == owner_of(reason)) return {};
            return Error{Code::denied, fmt::format("{} is drained already: {}", host, node->reason)};
        }
        return update_node(host, NODE_STATE_DRAIN, reason);
    }

    static Expected<void> done(const DownHost& action) {
        const auto node = load_node(action.host);
        if (!node) return node.error();
        // A host that an administrator or program has set down or drained keeps its state and its reason; a
        // drained host's jobs end all the same.
        const bool theirs = keeper_of(*node) == Keeper::others;
        if (theirs && node->down) return {};
        const auto text = theirs ? std::string() : action.reason;
        if (action.drain && !node->drain)
            if (auto drained = update_node(action.host, NODE_STATE_DRAIN, text); !drained) return drained;
        if (node->down) return {};
        return update_node(action.host, NODE_STATE_DOWN, text);
    }

    static Expected<void> done(const ResumeHost& action) {
        const auto node = load_node(action.host);
        if (!node) return node.error();
        if (!node->drain && !node->down) return {};
        if (keeper_of(*node) == Keeper::others)
            return Error{Code::denied,
                         fmt::format("{} was not drained by Railyard: {}", action.host, node->reason)};
        return update_node(action.host, NODE_RESUME, {});
    }

    // Down is how a node leaves jobs that continue: shrinking a running job by its node list is refused.
    Expected<void> done(const FreeHost& action) {
        const auto node = load_node(action.host);
        if (!node) return node.error();
        if (node->down && keeper_of(*node) == Keeper::us) return {};
        if (auto read = read_jobs(); !read) return std::move(read).error();
        if (auto safe = can_be_freed(*node, action, {jobs_->job_array, jobs_->record_count}); !safe)
            return safe;
        return update_node(action.host, NODE_STATE_DOWN, node->reason);
    }

    static Expected<void> done(const RepairHost& action) {
        const auto node = load_node(action.host);
        return node ? reboot_node(*node, action) : node.error();
    }

    // The epoch and the flag both keep a task that has just ended from running again: Slurm also requeues
    // finished jobs while it remembers them (MinJobAge), which is needed for a job that failed on its own or
    // because of a fault.
    static Expected<void> done(const RequeueJob& action) {
        const bool hold = action.hold;
        const auto record = load_job(action.job.id, true);
        if (!record) return record.error();
        const auto read = record->whole();
        const auto& end = read.failure;
        const bool ended = end && read.restarts == action.job.epoch && end->code != sched::no_restart_code &&
                           (end->code != 0 || end->step_failed || action.ended);
        if (!record->lives() && !ended)
            return Error{Code::not_found, fmt::format("job {} has ended", to_string(action.job.id))};
        if (ended || record->runs_in(action.job.epoch)) {
            // An array's last task has the array's own id, which slurmctld takes to mean all its tasks.
            auto name = requeue_name(record->own());
            job_array_resp_msg_t* answer = nullptr;
            errno = 0;
            const int called = slurm_requeue2(
                name.data(), (ended ? 0 : JOB_RUNNING) | (hold ? JOB_REQUEUE_HOLD : 0), &answer);
            const Answers answers(answer);
            const int refused = called != SLURM_SUCCESS ? number_of(called) : first_refusal(answers.get());
            if (refused != SLURM_SUCCESS) return slurm_error(fmt::format("requeue of job {}", name), refused);
        } else if (hold && read.phase != JobPhase::running) {
            job_desc_msg_t change;
            slurm_init_job_desc_msg(&change);
            change.priority = 0;
            if (auto held = update_parts(*record, change); !held) return held;
        }
        return begin_now(change_of(action), !hold);
    }

    static Expected<void> done(const UpdateJob& action) {
        if (action.release)
            if (auto released = release(action.job.id); !released) return released;
        return begin_now(change_of(action), true);
    }

    // As scontrol release does it.
    static Expected<void> release(base::JobId job) {
        const auto record = load_job(job);
        if (!record) return record.error();
        if (!record->whole().unlaunched) return {};
        job_desc_msg_t change;
        slurm_init_job_desc_msg(&change);
        change.priority = INFINITE;
        return update_parts(*record, change);
    }

    // Only a waiting job's list can be changed.
    static Expected<void> done(const KeepOff& action) {
        const auto record = load_job(action.job.id);
        if (!record) return record.error();
        if (record->whole().phase != JobPhase::pending) return {};
        const WaitingChange change{action.job.id, action.exclude, action.readmit, action.exclude};
        for (const auto* part : record->parts())
            if (auto changed = change_waiting(change, *part, 0); !changed) return changed;
        return {};
    }

    // In the job's record, where it stays, and to its terminal or its output as far as these can be reached.
    static Expected<void> done(const NotifyJob& action) {
        const auto& text = action.text;
        const auto record = load_job(action.job.id);
        if (!record) return record.error();
        const auto before = text_of(record->own().admin_comment);
        auto after = sched::with_part(before, sched::told_label, text);
        if (after == before) return {};
        job_desc_msg_t change;
        slurm_init_job_desc_msg(&change);
        const auto id = record->own().job_id;
        change.job_id = id;
        change.admin_comment = after.data();
        if (auto changed = update_job(id, change); !changed) return changed;
        auto line = "railyard: " + text;
        slurm_notify_job(id, line.data()); // it may have neither
        return {};
    }

    Expected<void> done(const CheckHost& action) {
        if (auto read = read_jobs(); !read) return std::move(read).error();
        return submit_check(action, {jobs_->job_array, jobs_->record_count});
    }
    static Expected<void> done(const EndCheck& action) { return end_check(action); }

    Expected<void> done(const SubmitAgain& action) {
        if (auto read = read_jobs(); !read) return std::move(read).error();
        return kept_.submit(action, {jobs_->job_array, jobs_->record_count}, config_.get(), base::now());
    }

    // Whether a waiting job could use the host, by the jobs as last read. While the partitions are not known,
    // none does.
    bool wants(const std::string& host) {
        return read_partitions() && is_wanted(host, {jobs_->job_array, jobs_->record_count},
                                              {partitions_->partition_array, partitions_->record_count});
    }

    // Slurm chooses the hosts itself (select_rail).
    template <class Move>
    requires std::same_as<Move, PlaceJob> || std::same_as<Move, ParkJob>
    static Expected<void> done(const Move&) {
        return Error{Code::unfit, "slurmctld chooses the hosts of jobs itself"};
    }

    // Takes what `load` returns. Returns whether there was anything: if nothing has changed there, the kept
    // data stays.
    template <class Kept, class Load>
    static Expected<bool> take_newer(Kept& kept, std::string_view what, Load load) {
        typename Kept::pointer fresh = nullptr;
        errno = 0;
        const int answer = load(kept ? kept->last_update : 0, &fresh);
        Kept owned(fresh);
        if (answer == SLURM_SUCCESS) {
            kept = std::move(owned);
            return true;
        }
        if (number_of(answer) == SLURM_NO_CHANGE_IN_DATA && kept) return false;
        return slurm_error(what, number_of(answer));
    }

    Expected<bool> read_nodes() {
        return take_newer(nodes_, "reading nodes", [](std::time_t since, node_info_msg_t** fresh) {
            return slurm_load_node(since, fresh, SHOW_ALL);
        });
    }

    // slurmctld changes why a job waits without reporting that jobs changed: the kept data becomes outdated.
    Expected<bool> read_jobs() {
        const auto now = std::chrono::steady_clock::now();
        const bool changes_only = now - jobs_read_ < jobs_age;
        auto read = take_newer(jobs_, "reading jobs", [&](std::time_t since, job_info_msg_t** fresh) {
            return slurm_load_jobs(changes_only ? since : 0, fresh, SHOW_ALL);
        });
        if (read && *read) jobs_read_ = now;
        return read;
    }

    Expected<bool> read_partitions() {
        return take_newer(partitions_, "reading partitions",
                          [](std::time_t since, partition_info_msg_t** fresh) {
                              return slurm_load_partitions(since, fresh, SHOW_ALL);
                          });
    }

    // slurmctld reports whether it was read again since. Without an answer the kept data stays.
    void read_config_when_old() {
        const auto now = std::chrono::steady_clock::now();
        if (config_ && now - config_read_ < config_age) return;
        const auto read =
            take_newer(config_, "reading the configuration", [](std::time_t since, slurm_conf_t** fresh) {
                return slurm_load_ctl_conf(since, fresh);
            });
        if (read) config_read_ = now;
    }

    // The change is sent twice: at once, with a future begin time, which is sufficient if the job's last
    // process ends before it; and as soon as the job may begin.
    static Expected<void> begin_now(const WaitingChange& change, bool begin) {
        const auto give_up = std::chrono::steady_clock::now() + settle_time;
        std::optional<std::time_t> stopped; // its last process was gone by this second
        for (bool sent = false;; sent = true) {
            const auto record = load_job(change.job);
            if (!record) return record.error();
            const auto phase = record->whole().phase;
            if (phase != JobPhase::pending && phase != JobPhase::completing) return {};
            const auto now = std::time(nullptr);
            if (phase == JobPhase::pending && !stopped) stopped = now;
            const bool may_begin = stopped && now > *stopped;
            if (!sent || may_begin)
                for (const auto* part : record->parts())
                    if (auto changed = change_waiting(change, *part, begin ? (may_begin ? now : now + 2) : 0);
                        !changed)
                        return changed;
            if (!begin || may_begin || std::chrono::steady_clock::now() >= give_up) return {};
            std::this_thread::sleep_for(settle_pause);
        }
    }

    // `begin`: not before then; 0: unchanged.
    static Expected<void> change_waiting(const WaitingChange& wanted, const job_info_t& raw,
                                         std::time_t begin) {
        job_desc_msg_t change;
        slurm_init_job_desc_msg(&change);
        change.job_id = raw.job_id;
        auto texts = texts_of(wanted, raw);
        if (texts.excluded) change.exc_nodes = texts.excluded->data();
        if (texts.required) change.req_nodes = texts.required->data();
        if (texts.comment) change.comment = texts.comment->data();
        if (texts.admin_comment) change.admin_comment = texts.admin_comment->data();
        if (begin != 0) change.begin_time = begin;
        return texts.any() || begin != 0 ? update_job(raw.job_id, change) : Expected<void>();
    }

    static Expected<void> update_parts(const JobRecord& record, job_desc_msg_t& change) {
        for (const auto* part : record.parts()) {
            change.job_id = part->job_id;
            if (auto done = update_job(part->job_id, change); !done) return done;
        }
        return {};
    }

    std::string name_of_user(std::uint32_t uid) {
        const auto found = users_.of(uid, std::chrono::steady_clock::now(), base::find_user);
        return found ? found->name : std::to_string(uid);
    }

    LookedUp<std::uint32_t, base::User> users_;
    SlurmDoors doors_;
    SlurmKept kept_;
    Nodes nodes_;
    Jobs jobs_;
    std::chrono::steady_clock::time_point jobs_read_;
    Partitions partitions_;
    Config config_;
    std::chrono::steady_clock::time_point config_read_;
};

} // namespace

Expected<std::unique_ptr<ResourceManager>> make_slurm_rm(std::filesystem::path kept,
                                                         const std::filesystem::path& conf) {
    const char* named = conf.empty() ? std::getenv("SLURM_CONF") : conf.c_str();
    if (named != nullptr && access(named, R_OK) != 0) return base::system_error(named, errno);
    if (auto loaded = load_slurm_calls(slurm_library()); !loaded) return std::move(loaded).error();
    slurm_init(named);
    return std::unique_ptr<ResourceManager>(std::make_unique<SlurmRm>(std::move(kept)));
}

} // namespace restart
