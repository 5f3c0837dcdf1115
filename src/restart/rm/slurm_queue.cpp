#include "restart/rm/slurm_queue.hpp"

#include "base/utf8.hpp"
#include "restart/rm/slurm_reading.hpp"
#include "sched/slurm/admin_comment.hpp"

#include <fmt/format.h>

#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace restart {
namespace {

// slurmctld's reason for a job: "None" before it has evaluated it.
WaitsFor waits_for(std::string_view why) {
    constexpr std::array<std::string_view, 4> words{"Resources", "Priority", "ReqNodeNotAvail",
                                                    "Nodes required"};
    if (why.empty() || why == "None") return WaitsFor::unknown;
    const bool hosts =
        std::any_of(words.begin(), words.end(), [&](std::string_view word) { return why.starts_with(word); });
    return hosts ? WaitsFor::hosts : WaitsFor::other;
}

bool is_count(std::uint32_t value) {
    return value != 0 && value != NO_VAL && value != INFINITE;
}

std::uint32_t cpus_per_node(const job_info_t& job, std::uint32_t nodes) {
    const std::uint32_t named = job.pn_min_cpus == NO_VAL16 ? 0 : job.pn_min_cpus;
    const auto shared = is_count(job.num_cpus) ? (job.num_cpus + nodes - 1) / nodes : 0;
    return std::max({named, shared, 1U});
}

// squeue's terms for jobs that have ended (job_state_string() of slurm_protocol_defs.c).
std::string ended_word(std::uint32_t state) {
    switch (state & JOB_STATE_BASE) {
    case JOB_COMPLETE: return "COMPLETED";
    case JOB_CANCELLED: return "CANCELLED";
    case JOB_FAILED: return "FAILED";
    case JOB_TIMEOUT: return "TIMEOUT";
    case JOB_NODE_FAIL: return "NODE_FAIL";
    case JOB_PREEMPTED: return "PREEMPTED";
    case JOB_BOOT_FAIL: return "BOOT_FAIL";
    case JOB_DEADLINE: return "DEADLINE";
    case JOB_OOM: return "OUT_OF_MEMORY";
    default: return fmt::format("Slurm's state {}", state & JOB_STATE_BASE);
    }
}

// Of its script; empty: it succeeded, or slurmctld ended it.
std::string exit_text(std::uint32_t code) {
    constexpr int no_start = 53; // slurmstepd's own: it could not enter the directory or open the output
    const auto status = static_cast<int>(code); // as in wait(2)
    if (WIFSIGNALED(status))
        return fmt::format(", signal {}{}", WTERMSIG(status),
                           WTERMSIG(status) == no_start
                               ? ": its host lacks the job's working directory or cannot write its output"
                               : "");
    return WEXITSTATUS(status) != 0 ? fmt::format(", exit status {}", WEXITSTATUS(status)) : std::string();
}

} // namespace

QueueNode read_queue_node(const node_info_t& node, std::uint32_t cpus_used) {
    QueueNode read;
    read.name = text_of(node.name);
    read.state = use_of(node.node_state);
    read.not_responding = (node.node_state & NODE_STATE_NO_RESPOND) != 0;
    read.reason = base::as_utf8(text_of(node.reason));
    read.reserved = (node.node_state & (NODE_STATE_RES | NODE_STATE_MAINT)) != 0;
    read.cpus_idle = node.cpus > cpus_used ? node.cpus - cpus_used : 0;
    return read;
}

std::optional<QueueJob> read_queue_job(const job_info_t& job, base::Time now) {
    QueueJob read;
    const auto word = job.job_state & JOB_STATE_BASE;
    if ((job.job_state & JOB_COMPLETING) != 0)
        read.phase = QueuePhase::leaving;
    else if (word == JOB_RUNNING || word == JOB_SUSPENDED)
        read.phase = QueuePhase::placed;
    else if (word != JOB_PENDING)
        return {};
    read.id = base::JobId(job.job_id);
    read.owner = {job.user_id, base::as_utf8(text_of(job.account))};
    read.partitions = words_of(text_of(job.partition));
    if (read.phase != QueuePhase::waiting) read.nodes = names_of(job.nodes);
    read.least = is_count(job.num_nodes) ? job.num_nodes : 1;
    if (is_count(job.max_nodes) && job.max_nodes > read.least) read.most = job.max_nodes;
    read.cpus_per_node = cpus_per_node(job, read.least);
    read.restarts = job.restart_cnt;
    read.exclusive = job.shared == JOB_SHARED_NONE;
    read.required = names_of(job.req_nodes);
    read.excluded = names_of(job.exc_nodes);
    read.eligible = time_of(job.eligible_time);
    read.start = time_of(job.start_time);
    if (read.phase == QueuePhase::leaving)
        read.ends = now;
    else if (read.phase == QueuePhase::placed)
        read.ends = limit_of(job);
    if (read.phase == QueuePhase::waiting) {
        read.why = pending_reason(job);
        // The text may be a topology plugin's (Slurm 26.05): "No suitable topology unit found".
        read.waits_for = job.state_reason == WAIT_RESOURCES ? WaitsFor::hosts : waits_for(read.why);
    }
    read.constraint = text_of(job.features);
    read.reservation = text_of(job.resv_name);
    const auto comment = text_of(job.admin_comment);
    read.shown = sched::why_in(comment);
    if (auto hints = sched::parse_comment(comment)) read.hints = *std::move(hints);
    read.preempted = base::as_utf8(sched::part_in(comment, sched::preempted_label));
    read.had = sched::had_in(comment, read.restarts);
    return read;
}

std::optional<EndedJob> read_ended_job(const job_info_t& job) {
    const auto word = job.job_state & JOB_STATE_BASE;
    if ((job.job_state & JOB_COMPLETING) != 0 || word == JOB_PENDING || word == JOB_RUNNING ||
        word == JOB_SUSPENDED)
        return {};
    EndedJob read;
    read.id = base::JobId(job.job_id);
    read.owner = {job.user_id, base::as_utf8(text_of(job.account))};
    read.status.name = name_of_job(job);
    read.status.uid = job.user_id;
    read.status.how = ended_word(job.job_state) + exit_text(job.exit_code);
    read.status.end = time_of(job.end_time);
    read.status.nodes = names_of(job.nodes);
    if (!read.status.nodes.empty()) read.status.start = time_of(job.start_time);
    return read;
}

} // namespace restart
