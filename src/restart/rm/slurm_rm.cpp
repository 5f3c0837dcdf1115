// The order of a recovery, found on Slurm 22.05 and 24.11's sources:
//  * Dead host: DRAIN first, then DOWN. A drain flag survives the down, so that no moment is left in which
//    ReturnToService=2 could bring the host back; the down ends its jobs and requeues those that may be, at
//    once and without waiting for the dead slurmd.
//  * A requeued job may not begin before its old credential has expired (121 s by default, set when its last
//    process was seen to end) unless begin_time is changed after that moment, or lies in the future then.
//  * Tasks of an array are changed by the ids of their records and requeued by their own names (12_3); a
//    heterogeneous job is requeued by its leader's id, which moves all components, and changed one by one.
//  * It may not begin in the very second in which it was stopped either: slurmd has then revoked all
//    credentials made up to that second, and slurmctld ends the new start as "non-startable".

#include "restart/rm/slurm_rm.hpp"

#include "base/hostlist.hpp"
#include "restart/rm/slurm_queue.hpp"
#include "restart/rm/slurm_reading.hpp"
#include "sched/why_comment.hpp"

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
constexpr auto settle_time = 1300ms; // beyond the next second's turn
constexpr auto settle_pause = 20ms;

struct FreeNodes {
    void operator()(node_info_msg_t* message) const { slurm_free_node_info_msg(message); }
};
struct FreeJobs {
    void operator()(job_info_msg_t* message) const { slurm_free_job_info_msg(message); }
};
struct FreePartitions {
    void operator()(partition_info_msg_t* message) const { slurm_free_partition_info_msg(message); }
};
struct FreeConfig {
    void operator()(slurm_conf_t* conf) const { slurm_free_ctl_conf(conf); }
};
struct FreeAnswers {
    void operator()(job_array_resp_msg_t* answers) const { slurm_free_job_array_resp(answers); }
};
using Answers = std::unique_ptr<job_array_resp_msg_t, FreeAnswers>; // to a request about tasks of an array
using Config = std::unique_ptr<slurm_conf_t, FreeConfig>;
using Partitions = std::unique_ptr<partition_info_msg_t, FreePartitions>;
using Nodes = std::unique_ptr<node_info_msg_t, FreeNodes>;
using Jobs = std::unique_ptr<job_info_msg_t, FreeJobs>;

constexpr auto jobs_age = 5s;    // at most, of what is told of jobs
constexpr auto config_age = 60s; // of slurmctld's configuration

// libslurm answers -1 and errno, or in later releases the error itself.
int number_of(int answer) {
    return answer > 0 ? answer : errno;
}

int first_refusal(const job_array_resp_msg_t* answers) {
    for (std::uint32_t i = 0; answers != nullptr && i < answers->job_array_count; ++i)
        if (answers->error_code[i] != SLURM_SUCCESS) return static_cast<int>(answers->error_code[i]);
    return SLURM_SUCCESS;
}

class SlurmRm final : public ResourceManager {
public:
    Expected<RmSnapshot> read() override {
        if (auto read = read_nodes(); !read) return std::move(read).error();
        if (auto read = read_jobs(); !read) return std::move(read).error();
        RmSnapshot snapshot;
        snapshot.nodes.reserve(nodes_->record_count);
        for (std::uint32_t i = 0; i < nodes_->record_count; ++i)
            if (nodes_->node_array[i].name != nullptr)
                snapshot.nodes.push_back(read_node(nodes_->node_array[i]));
        snapshot.jobs = read_whole_jobs(jobs_->job_array, jobs_->record_count);
        read_config_when_old();
        if (config_) snapshot.config = read_config(*config_);
        return snapshot;
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
        for (std::uint32_t i = 0; i < partitions_->record_count; ++i) {
            const auto& partition = partitions_->partition_array[i];
            auto names = base::expand_hostlist(partition.nodes == nullptr ? "" : partition.nodes);
            if (partition.name != nullptr && names) queue.partitions[partition.name] = *std::move(names);
        }
        return queue;
    }

    Expected<void> tell_why(std::uint32_t job, const std::string& text) override {
        const auto record = load_job(job);
        if (!record) return record.error().code == Code::not_found ? Expected<void>() : record.error();
        const auto& raw = record->own();
        const std::string before = text_of(raw.admin_comment);
        // Started since it was asked about: then it waits for nothing.
        const bool waits = (raw.job_state & JOB_STATE_BASE) == JOB_PENDING;
        auto after = sched::with_why(before, waits ? text : std::string());
        if (after == before) return {};
        job_desc_msg_t change;
        slurm_init_job_desc_msg(&change);
        change.job_id = job;
        change.admin_comment = after.data();
        return update_job(job, change);
    }

    Expected<void> perform(const Action& action) override {
        switch (action.kind) {
        case ActionKind::drain_host: return drain(action.host, action.reason);
        case ActionKind::down_host: return down(action.host, action.reason, action.drain);
        case ActionKind::resume_host: return resume(action.host);
        case ActionKind::requeue_job: return requeue(action);
        case ActionKind::keep_off: return keep_off(action);
        case ActionKind::tell_job: return tell(action.job, action.reason);
        case ActionKind::update_job: break;
        }
        return begin_now(action, true);
    }

    std::optional<std::uint32_t> owner() override {
        read_config_when_old();
        if (!config_) return {};
        return config_->slurm_user_id;
    }

private:
    Expected<void> drain(const std::string& host, const std::string& reason) {
        const auto node = load_node(host);
        if (!node) return node.error();
        if (node->drain) {
            if (owner_of(node->reason) == owner_of(reason)) return {};
            return Error{Code::denied, fmt::format("{} is drained already: {}", host, node->reason)};
        }
        return update_node(host, NODE_STATE_DRAIN, reason);
    }

    Expected<void> down(const std::string& host, const std::string& reason, bool drain) {
        const auto node = load_node(host);
        if (!node) return node.error();
        const bool theirs = node->drain && owner_of(node->reason).empty();
        const auto& text = theirs ? std::string() : reason;
        if (drain && !node->drain)
            if (auto done = update_node(host, NODE_STATE_DRAIN, text); !done) return done;
        if (node->down) return {};
        return update_node(host, NODE_STATE_DOWN, text);
    }

    Expected<void> resume(const std::string& host) {
        const auto node = load_node(host);
        if (!node) return node.error();
        if (!node->drain && !node->down) return {};
        if (owner_of(node->reason).empty())
            return Error{Code::denied, fmt::format("{} was not drained by Railyard: {}", host, node->reason)};
        return update_node(host, NODE_RESUME, {});
    }

    // The epoch and the flag both keep a task that has just ended from running once more: Slurm requeues what
    // is over, too.
    Expected<void> requeue(const Action& action) {
        const bool hold = action.hold;
        const auto record = load_job(action.job);
        if (!record) return record.error();
        const auto read = record->whole();
        if (record->runs_in(action.epoch)) {
            // An array's last task bears the array's own id, by which slurmctld understands all its tasks.
            auto name = requeue_name(record->own());
            job_array_resp_msg_t* answer = nullptr;
            errno = 0;
            const int done =
                slurm_requeue2(name.data(), JOB_RUNNING | (hold ? JOB_REQUEUE_HOLD : 0), &answer);
            const Answers answers(answer);
            const int refused = done != SLURM_SUCCESS ? number_of(done) : first_refusal(answers.get());
            if (refused != SLURM_SUCCESS) return slurm_error(fmt::format("requeue of job {}", name), refused);
        } else if (hold && read.phase != JobPhase::running) {
            job_desc_msg_t change;
            slurm_init_job_desc_msg(&change);
            change.priority = 0;
            if (auto held = update_parts(*record, change); !held) return held;
        }
        return begin_now(action, !hold);
    }

    // Only a waiting job's list can be changed.
    static Expected<void> keep_off(const Action& action) {
        const auto record = load_job(action.job);
        if (!record) return record.error();
        if (record->whole().phase != JobPhase::pending) return {};
        for (const auto* part : record->parts())
            if (auto done = change_pending(action, *part, false, 0); !done) return done;
        return {};
    }

    // In the job's record, where it stays, and to its terminal or its output as far as these can be reached.
    Expected<void> tell(std::uint32_t job, const std::string& text) {
        const auto record = load_job(job);
        if (!record) return record.error();
        const auto before = text_of(record->own().admin_comment);
        auto after = sched::with_part(before, sched::told_label, text);
        if (after == before) return {};
        job_desc_msg_t change;
        slurm_init_job_desc_msg(&change);
        change.job_id = job;
        change.admin_comment = after.data();
        if (auto told = update_job(job, change); !told) return told;
        auto line = "railyard: " + text;
        slurm_notify_job(job, line.data()); // it may have neither
        return {};
    }

    // Takes what `load` brings. Whether it brought anything: when nothing has changed there, what is kept
    // stays.
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

    // slurmctld changes why a job waits without saying that jobs changed: what is kept grows old.
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

    // slurmctld answers whether it was read again since. Without an answer what is kept stays.
    void read_config_when_old() {
        const auto now = std::chrono::steady_clock::now();
        if (config_ && now - config_read_ < config_age) return;
        const auto read =
            take_newer(config_, "reading the configuration", [](std::time_t since, slurm_conf_t** fresh) {
                return slurm_load_ctl_conf(since, fresh);
            });
        if (read) config_read_ = now;
    }

    static Expected<RmNode> load_node(const std::string& host) {
        node_info_msg_t* fresh = nullptr;
        auto name = host;
        errno = 0;
        const int answer = slurm_load_node_single(&fresh, name.data(), SHOW_ALL);
        const Nodes owned(fresh);
        if (answer != SLURM_SUCCESS)
            return slurm_error(fmt::format("reading node {}", host), number_of(answer));
        for (std::uint32_t i = 0; i < owned->record_count; ++i)
            if (owned->node_array[i].name != nullptr && host == owned->node_array[i].name)
                return read_node(owned->node_array[i]);
        return Error{Code::not_found, fmt::format("node {} does not exist", host)};
    }

    // The records of a job that may still run: one, or its components', the leader's first. slurmctld answers
    // to an array's own id, which is its last task's, with other tasks as well.
    class Record {
    public:
        Record(Jobs message, std::uint32_t job) : message_(std::move(message)) {
            for (std::uint32_t i = 0; i < message_->record_count; ++i) {
                const auto& raw = message_->job_array[i];
                if (raw.job_id == job)
                    parts_.insert(parts_.begin(), &raw);
                else if (raw.het_job_id == job)
                    parts_.push_back(&raw);
            }
            if (parts_.empty() || parts_.front()->job_id != job) return;
            if (parts_.size() == 1 && parts_.front()->het_job_id != job) {
                whole_ = read_job(*parts_.front());
                return;
            }
            auto whole = read_whole_jobs(message_->job_array, message_->record_count);
            if (!whole.empty()) whole_ = std::move(whole.front());
        }
        bool lives() const { return whole_.phase != JobPhase::ended; }
        const RmJob& whole() const { return whole_; }
        // Whether any part of it is still in this start: slurmctld requeues only the component that was on a
        // host that it sets down, if that was its last, and forgets the others.
        bool runs_in(std::uint32_t epoch) const {
            return std::any_of(parts_.begin(), parts_.end(), [&](const job_info_t* part) {
                const auto read = read_job(*part);
                return read.restarts <= epoch && read.phase != JobPhase::pending &&
                       read.phase != JobPhase::ended;
            });
        }
        const job_info_t& own() const { return *parts_.front(); }
        const std::vector<const job_info_t*>& parts() const { return parts_; }

    private:
        Jobs message_;
        std::vector<const job_info_t*> parts_;
        RmJob whole_ = [] {
            RmJob none;
            none.phase = JobPhase::ended;
            return none;
        }();
    };

    static Expected<Record> load_job(std::uint32_t job) {
        job_info_msg_t* fresh = nullptr;
        errno = 0;
        const int answer = slurm_load_job(&fresh, job, SHOW_ALL);
        Jobs owned(fresh);
        if (answer != SLURM_SUCCESS)
            return slurm_error(fmt::format("reading job {}", job), number_of(answer));
        Record record(std::move(owned), job);
        if (!record.lives()) return Error{Code::not_found, fmt::format("job {} has ended", job)};
        return record;
    }

    static Expected<void> update_node(const std::string& host, std::uint32_t state,
                                      const std::string& reason) {
        update_node_msg_t change;
        slurm_init_update_node_msg(&change);
        auto name = host;
        auto why = reason;
        change.node_names = name.data();
        change.node_state = state;
        if (!why.empty()) {
            change.reason = why.data();
            change.reason_uid = getuid();
        }
        errno = 0;
        const int answer = slurm_update_node(&change);
        if (answer != SLURM_SUCCESS)
            return slurm_error(fmt::format("changing node {}", host), number_of(answer));
        return {};
    }

    static Expected<void> update_job(std::uint32_t job, job_desc_msg_t& change) {
        errno = 0;
        const int answer = slurm_update_job(&change);
        if (answer != SLURM_SUCCESS)
            return slurm_error(fmt::format("changing job {}", job), number_of(answer));
        return {};
    }

    // Twice the change is sent: at once, with a begin that lies ahead, which stands when the job's last
    // process ends in time; and as soon as the job may begin.
    static Expected<void> begin_now(const Action& action, bool begin) {
        const auto give_up = std::chrono::steady_clock::now() + settle_time;
        std::optional<std::time_t> stopped; // its last process was gone by this second
        for (bool told = false;; told = true) {
            const auto record = load_job(action.job);
            if (!record) return record.error();
            const auto phase = record->whole().phase;
            if (phase != JobPhase::pending && phase != JobPhase::completing) return {};
            const auto now = std::time(nullptr);
            if (phase == JobPhase::pending && !stopped) stopped = now;
            const bool may_begin = stopped && now > *stopped;
            if (!told || may_begin)
                for (const auto* part : record->parts())
                    if (auto done = change_pending(action, *part, begin, may_begin ? now : now + 2); !done)
                        return done;
            if (!begin || may_begin || std::chrono::steady_clock::now() >= give_up) return {};
            std::this_thread::sleep_for(settle_pause);
        }
    }

    // The culprit is no longer asked for, also where a drain keeps the job away from it.
    static Expected<void> change_pending(const Action& action, const job_info_t& raw, bool begin,
                                         std::time_t when) {
        job_desc_msg_t change;
        slurm_init_job_desc_msg(&change);
        change.job_id = raw.job_id;
        auto unasked = action.exclude;
        if (action.kind != ActionKind::keep_off) unasked.push_back(action.host);
        auto excluded = merged_exclusion(text_of(raw.exc_nodes), action.exclude, action.readmit);
        auto required = rewritten_requirement(text_of(raw.req_nodes), unasked);
        if (excluded) change.exc_nodes = excluded->data();
        if (required) change.req_nodes = required->data();
        if (begin) change.begin_time = when;
        return excluded || required || begin ? update_job(raw.job_id, change) : Expected<void>();
    }

    static Expected<void> update_parts(const Record& record, job_desc_msg_t& change) {
        for (const auto* part : record.parts()) {
            change.job_id = part->job_id;
            if (auto done = update_job(part->job_id, change); !done) return done;
        }
        return {};
    }

    Nodes nodes_;
    Jobs jobs_;
    std::chrono::steady_clock::time_point jobs_read_;
    Partitions partitions_;
    Config config_;
    std::chrono::steady_clock::time_point config_read_;
};

} // namespace

Expected<std::unique_ptr<ResourceManager>> make_slurm_rm(const std::filesystem::path& conf) {
    const char* named = conf.empty() ? std::getenv("SLURM_CONF") : conf.c_str();
    if (named != nullptr && access(named, R_OK) != 0) return base::system_error(named, errno);
    slurm_init(named);
    return std::unique_ptr<ResourceManager>(std::make_unique<SlurmRm>());
}

} // namespace restart
