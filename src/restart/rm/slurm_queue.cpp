#include "restart/rm/slurm_queue.hpp"

#include "base/utf8.hpp"
#include "restart/rm/slurm_reading.hpp"

#include <algorithm>
#include <string_view>

namespace restart {
namespace {

using base::HostState;

// Suffixes that only tell of energy saving do not keep a job away.
HostState state_of(std::uint32_t state) {
    const auto word = state & NODE_STATE_BASE;
    if (word == NODE_STATE_DOWN || word == NODE_STATE_ERROR || word == NODE_STATE_FUTURE ||
        word == NODE_STATE_UNKNOWN || (state & NODE_STATE_INVALID_REG) != 0)
        return HostState::down;
    if ((state & (NODE_STATE_DRAIN | NODE_STATE_FAIL)) != 0) return HostState::drained;
    if ((state & NODE_STATE_NO_RESPOND) != 0) return HostState::down;
    if ((state & (NODE_STATE_COMPLETING | NODE_STATE_POWERING_DOWN | NODE_STATE_REBOOT_ISSUED)) != 0)
        return HostState::busy;
    if (word == NODE_STATE_IDLE) return HostState::free;
    return word == NODE_STATE_MIXED ? HostState::mixed : HostState::busy;
}

bool is_count(std::uint32_t value) {
    return value != 0 && value != NO_VAL && value != INFINITE;
}

// slurmctld lets a job without a limit end a year after its start (job_end_time_reset in job_mgr.c), and one that
// backfill started where neither it nor its partition names a limit has that year as its limit (YEAR_MINUTES in
// backfill.c).
bool has_limit(const job_info_t& job) {
    constexpr std::time_t year = 365 * 24 * 60 * 60;
    return job.time_limit != INFINITE && job.end_time != 0 && job.end_time - job.start_time < year;
}

std::uint32_t cpus_per_node(const job_info_t& job, std::uint32_t nodes) {
    const std::uint32_t named = job.pn_min_cpus == NO_VAL16 ? 0 : job.pn_min_cpus;
    const auto shared = is_count(job.num_cpus) ? (job.num_cpus + nodes - 1) / nodes : 0;
    return std::max({named, shared, 1U});
}

} // namespace

QueueNode read_queue_node(const node_info_t& node, std::uint32_t cpus_used) {
    QueueNode read;
    read.name = text_of(node.name);
    read.state = state_of(node.node_state);
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
    read.id = job.job_id;
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
    else if (read.phase == QueuePhase::placed && has_limit(job))
        read.ends = time_of(job.end_time);
    if (read.phase == QueuePhase::waiting) read.why = pending_reason(job);
    read.constraint = text_of(job.features);
    read.reservation = text_of(job.resv_name);
    read.comment = text_of(job.admin_comment);
    if (auto hints = sched::parse_comment(read.comment)) read.hints = *std::move(hints);
    return read;
}

} // namespace restart
