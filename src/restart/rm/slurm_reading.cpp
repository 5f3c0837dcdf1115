#include "restart/rm/slurm_reading.hpp"

#include "base/hostlist.hpp"
#include "base/units.hpp"
#include "base/utf8.hpp"
#include "restart/core/facts/action.hpp"
#include "restart/rm/slurm_checks.hpp"
#include "sched/slurm/admin_comment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <map>
#include <span>
#include <strings.h>
#include <sys/wait.h>

namespace restart {
namespace {

using base::Code;

std::string_view base_word(std::uint32_t state) {
    switch (state & NODE_STATE_BASE) {
    case NODE_STATE_DOWN: return "DOWN";
    case NODE_STATE_IDLE: return "IDLE";
    case NODE_STATE_ALLOCATED: return "ALLOCATED";
    case NODE_STATE_ERROR: return "ERROR";
    case NODE_STATE_MIXED: return "MIXED";
    case NODE_STATE_FUTURE: return "FUTURE";
    default: return "UNKNOWN";
    }
}

// As scontrol writes it: "IDLE*+DRAIN".
std::string state_words(std::uint32_t state) {
    std::string words(base_word(state));
    if (state & NODE_STATE_NO_RESPOND) words += '*';
    const std::array<std::pair<std::uint32_t, std::string_view>, 4> flags{
        {{NODE_STATE_DRAIN, "+DRAIN"},
         {NODE_STATE_FAIL, "+FAIL"},
         {NODE_STATE_COMPLETING, "+COMPLETING"},
         {NODE_STATE_MAINT, "+MAINT"}}};
    for (const auto& [flag, word] : flags)
        if (state & flag) words += word;
    return words;
}

// Bytes of a job's name: it identifies the starts of its program (learn/starts.hpp).
constexpr std::size_t most_title = 64;

// Reasons of slurmctld for nodes it sets down itself (src/slurmctld/node_mgr.c, ping_nodes.c).
bool is_slurmctlds_own(std::string_view reason) {
    return reason.empty() || reason.starts_with("Not responding") ||
           reason.starts_with("Node unexpectedly rebooted") || reason.starts_with("Slurmd not responding") ||
           reason.starts_with("ResumeTimeout");
}

// Reasons of slurmctld, a slurmd or a slurmstepd for a node that is drained (src/slurmctld, src/slurmd:
// drain_nodes, reason_down, update_node_msg), all recorded as SlurmUser's or root's.
bool is_slurms_drain(std::string_view reason) {
    constexpr std::array<std::string_view, 18> begins{"Kill task failed",
                                                      "batch job complete failure",
                                                      "Prolog error",
                                                      "Epilog error",
                                                      "Prolog/Epilog failure",
                                                      "Duplicate jobid",
                                                      "Low RealMemory",
                                                      "Low CPUs",
                                                      "Low TmpDisk",
                                                      "Low socket*core*thread count",
                                                      "Could not unpack gres data",
                                                      "gres/",
                                                      "NO NETWORK ADDRESS FOUND",
                                                      "reboot requested",
                                                      "reboot timed out",
                                                      "Reboot ASAP",
                                                      "Node configuration differs",
                                                      "Invalid"};
    return std::any_of(begins.begin(), begins.end(),
                       [&](std::string_view begin) { return reason.starts_with(begin); });
}

std::string set_by(const std::string& reason, std::uint32_t uid,
                   const std::function<std::string(std::uint32_t)>& user) {
    if (reason.empty() || !owner_of(std::string_view(reason)).empty()) return {};
    if (is_slurmctlds_own(reason) || is_slurms_drain(reason)) return "slurmctld";
    if (reason.starts_with("NHC")) return "NHC"; // LBNL's node health check, which tags what it sets
    return uid == NO_VAL || uid == INFINITE ? std::string() : user(uid);
}

JobPhase phase_of(std::uint32_t state) {
    const auto word = state & JOB_STATE_BASE;
    if (word == JOB_PENDING)
        return (state & (JOB_COMPLETING | JOB_REQUEUE)) != 0 ? JobPhase::completing : JobPhase::pending;
    if (word == JOB_RUNNING) return (state & JOB_CONFIGURING) != 0 ? JobPhase::pending : JobPhase::running;
    if (word == JOB_SUSPENDED) return JobPhase::suspended;
    return JobPhase::ended;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

// Of two components' phases the one that the job is in: it runs only when all do.
JobPhase earlier(JobPhase one, JobPhase other) {
    const auto rank = [](JobPhase phase) {
        switch (phase) {
        case JobPhase::completing: return 0;
        case JobPhase::pending: return 1;
        case JobPhase::suspended: return 2;
        case JobPhase::running: return 3;
        case JobPhase::ended: break;
        }
        return 4;
    };
    return rank(one) <= rank(other) ? one : other;
}

// Our own requeues and those of hosts that are set down do not count for MaxBatchRequeue: slurmctld counts
// failed launches, over a job's whole life, and holds a job at once if its prolog failed (_job_complete and
// _job_requeue_op in job_mgr.c, _launch_job_fail in slurmd's req.c).
bool held_unlaunched(const job_info_t& job) {
    const auto why = text_of(job.state_desc);
    return job.priority == 0 && (job.state_reason == WAIT_MAX_REQUEUE || why.starts_with("launch fail"));
}

// Whether it has ended and may be restarted: not if ended by its user, its time limit, or a host that
// slurmctld knows to be lost. A script that continues after a step that a fault ended makes it COMPLETED; to
// keep a site's successful jobs cheap, only those with our flags that have just ended are examined.
bool may_return(const job_info_t& job) {
    constexpr std::time_t remembered = 60 * 60;
    const auto word = job.job_state & JOB_STATE_BASE;
    if (job.batch_flag == 0) return false;
    if (word == JOB_COMPLETE)
        return job.admin_comment != nullptr && job.end_time >= std::time(nullptr) - remembered;
    return word == JOB_FAILED || word == JOB_OOM;
}

std::optional<RmFailure> failure_of(const job_info_t& job) {
    if (!may_return(job)) return {};
    RmFailure failure;
    const auto status = static_cast<int>(job.exit_code); // as in wait(2)
    if (WIFSIGNALED(status))
        failure.code = 128 + static_cast<std::uint32_t>(WTERMSIG(status));
    else if (WIFEXITED(status))
        failure.code = static_cast<std::uint32_t>(WEXITSTATUS(status));
    const bool completed = (job.job_state & JOB_STATE_BASE) == JOB_COMPLETE;
    if ((failure.code == 0) != completed) return {}; // slurmctld's own decision
    failure.ended = time_of(job.end_time);
    failure.nodes = names_of(job.nodes);
    failure.step_failed = job.derived_ec != 0 && job.derived_ec != NO_VAL;
    return failure;
}

// sched::again_label.
std::optional<FormerStart> again_in(std::string_view comment) {
    auto text = sched::part_in(comment, sched::again_label);
    text = text.substr(0, text.find(' '));
    const auto dot = text.find('.');
    if (dot == std::string_view::npos) return {};
    const auto job = base::JobId::parse(text.substr(0, dot));
    const auto epoch = base::parse_count(text.substr(dot + 1));
    if (!job || !epoch || *epoch > UINT32_MAX) return {};
    return FormerStart{*job, static_cast<std::uint32_t>(*epoch)};
}

std::optional<RmJob> read_components(std::uint32_t leader, std::vector<const job_info_t*> parts) {
    std::sort(parts.begin(), parts.end(), [](const job_info_t* one, const job_info_t* other) {
        return one->het_job_offset < other->het_job_offset;
    });
    if (parts.front()->job_id != leader) return {};
    auto job = read_job(*parts.front());
    if (job.phase == JobPhase::ended && !job.failure) return {};
    job.name = std::to_string(leader);
    if (job.failure) {
        for (const auto* part : parts)
            for (auto& host : names_of(part->nodes))
                if (!contains(job.failure->nodes, host)) job.failure->nodes.push_back(std::move(host));
        return job;
    }
    job.nodes.clear();
    job.node_count = 0;
    for (const auto* part : parts) {
        auto read = read_job(*part);
        if (read.phase == JobPhase::ended) continue;
        job.phase = earlier(job.phase, read.phase);
        job.node_count += read.node_count;
        job.restarts = std::min(job.restarts, read.restarts);
        job.start = std::max(job.start, read.start);
        job.begin = std::max(job.begin, read.begin);
        // The first component that reaches its limit ends its part, and so the job's work.
        if (read.ends && (!job.ends || *read.ends < *job.ends)) job.ends = read.ends;
        job.requeue = job.requeue && read.requeue;
        job.unlaunched = job.unlaunched || read.unlaunched;
        if (!job.restart) job.restart = read.restart;
        if (job.ckpt_dir.empty()) job.ckpt_dir = read.ckpt_dir;
        if (job.why.empty()) job.why = read.why;
        for (const auto& host : read.excluded)
            if (!contains(job.excluded, host)) job.excluded.push_back(host);
        job.nodes.insert(job.nodes.end(), read.nodes.begin(), read.nodes.end());
        job.components.push_back({read.id, read.name, std::move(read.nodes)});
    }
    if (job.phase == JobPhase::completing) job.nodes.clear();
    return job;
}

} // namespace

// Suffixes that only concern energy saving do not keep a job away.
base::HostState use_of(std::uint32_t state) {
    const auto word = state & NODE_STATE_BASE;
    if (word == NODE_STATE_DOWN || word == NODE_STATE_ERROR || word == NODE_STATE_FUTURE ||
        word == NODE_STATE_UNKNOWN || (state & NODE_STATE_INVALID_REG) != 0)
        return base::HostState::down;
    if ((state & (NODE_STATE_DRAIN | NODE_STATE_FAIL)) != 0) return base::HostState::drained;
    if ((state & (NODE_STATE_COMPLETING | NODE_STATE_POWERING_DOWN | NODE_STATE_REBOOT_ISSUED)) != 0)
        return base::HostState::busy;
    if (word == NODE_STATE_IDLE) return base::HostState::free;
    return word == NODE_STATE_MIXED ? base::HostState::mixed : base::HostState::busy;
}

std::string text_of(const char* text) {
    return text == nullptr ? std::string() : std::string(text);
}

base::Time time_of(time_t seconds) {
    return base::Time(std::chrono::seconds(seconds));
}

std::vector<std::string> names_of(const char* list) {
    auto names = base::expand_hostlist(text_of(list));
    return names ? *std::move(names) : std::vector<std::string>();
}

std::string name_of_job(const job_info_t& job) {
    if (job.array_job_id != 0 && job.array_task_id != NO_VAL)
        return fmt::format("{}_{}", job.array_job_id, job.array_task_id);
    if (job.array_task_str != nullptr) return fmt::format("{}_[{}]", job.job_id, job.array_task_str);
    if (job.het_job_id != 0) return fmt::format("{}+{}", job.het_job_id, job.het_job_offset);
    return std::to_string(job.job_id);
}

base::Expected<std::uint32_t> slurm_id(base::JobId job) {
    if (job.index() == 0 && job.number() > 0 && job.number() < NO_VAL)
        return static_cast<std::uint32_t>(job.number());
    return base::Error{Code::input, fmt::format("job {} is none of Slurm's", to_string(job))};
}

std::string requeue_name(const job_info_t& job) {
    return job.het_job_id != 0 ? std::to_string(job.het_job_id) : name_of_job(job);
}

std::vector<std::string> words_of(std::string_view list) {
    std::vector<std::string> words;
    while (!list.empty()) {
        const auto comma = std::min(list.find(','), list.size());
        auto word = list.substr(0, comma);
        word.remove_prefix(std::min(word.find_first_not_of(' '), word.size()));
        word.remove_suffix(word.size() - (word.find_last_not_of(' ') + 1));
        if (!word.empty()) words.emplace_back(word);
        list.remove_prefix(std::min(comma + 1, list.size()));
    }
    return words;
}

// slurmctld lets a job without a limit end a year after its start (job_end_time_reset in job_mgr.c), and one
// started by backfill without a limit of its own or its partition's gets that year as its limit (YEAR_MINUTES
// in backfill.c).
std::optional<base::Time> limit_of(const job_info_t& job) {
    constexpr std::time_t year = 365 * 24 * 60 * 60;
    const bool limited =
        job.time_limit != INFINITE && job.end_time != 0 && job.end_time - job.start_time < year;
    return limited ? std::optional(time_of(job.end_time)) : std::nullopt;
}

// The rare other reasons stay numbers.
std::string pending_reason(const job_info_t& job) {
    constexpr std::array<std::string_view, 18> words{"None",
                                                     "Priority",
                                                     "Dependency",
                                                     "Resources",
                                                     "PartitionNodeLimit",
                                                     "PartitionTimeLimit",
                                                     "PartitionDown",
                                                     "PartitionInactive",
                                                     "JobHeldAdmin",
                                                     "BeginTime",
                                                     "Licenses",
                                                     "AssociationJobLimit",
                                                     "AssociationResourceLimit",
                                                     "AssociationTimeLimit",
                                                     "Reservation",
                                                     "ReqNodeNotAvail",
                                                     "JobHeldUser",
                                                     "FrontEndDown"};
    if (job.state_desc != nullptr && job.state_desc[0] != '\0') return job.state_desc;
    if (job.state_reason == WAIT_ARRAY_TASK_LIMIT) return "JobArrayTaskLimit";
    if (job.state_reason == WAIT_MAX_REQUEUE) return "JobHoldMaxRequeue";
    if (job.state_reason < words.size()) return std::string(words[job.state_reason]);
    return fmt::format("Slurm's reason {}", job.state_reason);
}

RmNode read_node(const node_info_t& node, const std::function<std::string(std::uint32_t)>& user) {
    const auto state = node.node_state;
    RmNode read;
    read.name = text_of(node.name);
    read.state = state_words(state);
    read.down = (state & NODE_STATE_BASE) == NODE_STATE_DOWN;
    read.drain = (state & (NODE_STATE_DRAIN | NODE_STATE_FAIL)) != 0;
    read.not_responding = (state & NODE_STATE_NO_RESPOND) != 0;
    read.away = (state & (NODE_STATE_POWERED_DOWN | NODE_STATE_POWERING_DOWN | NODE_STATE_POWERING_UP |
                          NODE_STATE_REBOOT_ISSUED)) != 0;
    read.rebooting = (state & (NODE_STATE_REBOOT_REQUESTED | NODE_STATE_REBOOT_ISSUED)) != 0;
    const auto word = state & NODE_STATE_BASE;
    read.occupied = word == NODE_STATE_ALLOCATED || word == NODE_STATE_MIXED ||
                    (!read.down && (state & NODE_STATE_COMPLETING) != 0);
    read.maintenance = (state & NODE_STATE_MAINT) != 0; // an active reservation with that flag covers it
    read.reason = base::as_utf8(text_of(node.reason));
    read.set_by = set_by(read.reason, node.reason_uid, user);
    read.automatic = read.down && !read.drain && is_slurmctlds_own(read.reason);
    read.use = use_of(state);
    read.address = text_of(node.node_addr != nullptr ? node.node_addr : node.name);
    read.port = node.port;
    return read;
}

RmJob read_job(const job_info_t& job) {
    RmJob read;
    read.id = base::JobId(job.job_id);
    read.name = name_of_job(job);
    read.title = base::printable(text_of(job.name), most_title);
    read.uid = job.user_id;
    read.account = base::as_utf8(text_of(job.account));
    read.phase = phase_of(job.job_state);
    // While a requeued job's processes are being ended its old nodes are still in the record.
    if (read.phase != JobPhase::completing && read.phase != JobPhase::ended) read.nodes = names_of(job.nodes);
    read.node_count = read.nodes.empty() ? job.num_nodes : static_cast<std::uint32_t>(read.nodes.size());
    read.restarts = job.restart_cnt;
    read.start = time_of(job.start_time);
    read.begin = time_of(job.eligible_time);
    if (read.phase == JobPhase::running || read.phase == JobPhase::suspended) read.ends = limit_of(job);
    read.interactive = job.batch_flag == 0;
    read.requeue = job.requeue != 0 && !read.interactive;
    read.excluded = names_of(job.exc_nodes);
    read.required = names_of(job.req_nodes);
    if (read.phase == JobPhase::pending) read.unlaunched = held_unlaunched(job);
    if (read.phase == JobPhase::pending || read.phase == JobPhase::completing) {
        read.why = pending_reason(job);
        if (const auto name = text_of(job.resv_name); !name.empty())
            read.why += fmt::format(", in reservation {}", name); // only whose hosts may run it
    }
    // Another program's comment that merely looks like ours is ignored.
    if (const auto hints = sched::parse_comment(text_of(job.admin_comment))) {
        read.restart = hints->restart;
        read.ckpt_dir = hints->ckpt_dir.value_or("");
        read.restart_max = hints->restart_max;
        read.no_kill = hints->no_kill;
        read.restart_on = hints->restart_on.value_or(sched::RestartOn{});
    }
    read.again = again_in(text_of(job.admin_comment));
    read.checks = checked_host(job);
    if (read.phase == JobPhase::ended && read.restart == true && read.requeue) read.failure = failure_of(job);
    return read;
}

std::vector<RmJob> read_whole_jobs(const job_info_t* jobs, std::size_t count) {
    std::vector<RmJob> whole;
    whole.reserve(count);
    std::map<std::uint32_t, std::vector<const job_info_t*>> components; // by their leader's id
    for (const auto& job : std::span(jobs, count)) {
        if (job.het_job_id != 0) {
            components[job.het_job_id].push_back(&job);
        } else if (phase_of(job.job_state) != JobPhase::ended || may_return(job)) {
            auto read = read_job(job);
            if (read.phase != JobPhase::ended || read.failure) whole.push_back(std::move(read));
        }
    }
    for (auto& [leader, parts] : components)
        if (auto job = read_components(leader, std::move(parts))) whole.push_back(*std::move(job));
    return whole;
}

RmConfig read_config(const slurm_conf_t& conf) {
    RmConfig read;
    read.declares_down_after = std::chrono::seconds(conf.slurmd_timeout);
    const auto submit = words_of(text_of(conf.job_submit_plugins));
    read.takes_flags =
        contains(submit, "rail") || contains(submit, "job_submit/rail"); // as older releases allow
    read.chooses_nodes = text_of(conf.select_type) == "select/rail" ||
                         text_of(conf.topology_plugin).find("topology/rail") != std::string::npos;
    RmPrivacy hides;
    hides.jobs = (conf.private_data & PRIVATE_DATA_JOBS) != 0;
    hides.nodes = (conf.private_data & PRIVATE_DATA_NODES) != 0;
    hides.events = (conf.private_data & PRIVATE_DATA_EVENTS) != 0;
    hides.by_label = text_of(conf.mcs_plugin_params).find("privatedata") != std::string::npos;
    read.hides = hides;
    read.reboots = !text_of(conf.reboot_program).empty();
    if (!read.takes_flags)
        read.missing.emplace_back(
            "slurmctld does not know the flags of jobs, --restart=auto among them: JobSubmitPlugins lacks "
            "rail (job_submit_rail(8)); no job is started again until it has it");
    if (!read.chooses_nodes)
        read.missing.emplace_back(
            "slurmctld chooses nodes by itself: neither SelectType=select/rail (Slurm 22.05 to "
            "23.11, select_rail(8)) nor TopologyPlugin=topology/rail (24.05 and later, "
            "topology_rail(8)) is set");
    return read;
}

RmUser read_user(const assoc_mgr_info_msg_t& known, std::string_view name) {
    RmUser read;
    if (known.user_list == nullptr) return read;
    auto* users = slurm_list_iterator_create(known.user_list);
    while (auto* user = static_cast<slurmdb_user_rec_t*>(slurm_list_next(users))) {
        if (strcasecmp(text_of(user->name).c_str(), std::string(name).c_str()) != 0) continue; // as slurmctld
        if (user->admin_level >= SLURMDB_ADMIN_SUPER_USER)
            read.level = RmLevel::acts;
        else if (user->admin_level >= SLURMDB_ADMIN_OPERATOR)
            read.level = RmLevel::reads;
        if (user->coord_accts == nullptr) break;
        auto* accounts = slurm_list_iterator_create(user->coord_accts);
        while (auto* account = static_cast<slurmdb_coord_rec_t*>(slurm_list_next(accounts)))
            read.accounts.push_back(base::as_utf8(text_of(account->name)));
        slurm_list_iterator_destroy(accounts);
        break;
    }
    slurm_list_iterator_destroy(users);
    return read;
}

base::Error slurm_error(std::string_view what, int number) {
    auto code = Code::unfit;
    switch (number) {
    case SLURM_COMMUNICATIONS_CONNECTION_ERROR:
    case SLURM_COMMUNICATIONS_SEND_ERROR:
    case SLURM_COMMUNICATIONS_RECEIVE_ERROR:
    case SLURM_COMMUNICATIONS_SHUTDOWN_ERROR:
    case SLURMCTLD_COMMUNICATIONS_CONNECTION_ERROR:
    case SLURMCTLD_COMMUNICATIONS_SEND_ERROR:
    case SLURMCTLD_COMMUNICATIONS_RECEIVE_ERROR:
    case SLURMCTLD_COMMUNICATIONS_SHUTDOWN_ERROR:
    case SLURM_PROTOCOL_AUTHENTICATION_ERROR: // munged is away on either side
    case ESLURM_AUTH_CRED_INVALID:
    case ESLURM_IN_STANDBY_MODE:
    case ESLURM_IN_STANDBY_USE_BACKUP: code = Code::unavailable; break;
    case ESLURM_INVALID_JOB_ID:
    case ESLURM_ALREADY_DONE:
    case ESLURM_INVALID_NODE_NAME: code = Code::not_found; break;
    case ESLURM_ACCESS_DENIED:
    case ESLURM_USER_ID_MISSING: code = Code::denied; break;
    default: break;
    }
    // A socket error, by its own number or by Slurm's (SLURM_PROTOCOL_SOCKET_…), means that the peer is away.
    if ((number > 0 && number < 1000) || (number >= 5000 && number < 5100)) code = Code::unavailable;
    return {code, fmt::format("{}: {}", what, slurm_strerror(number))};
}

std::optional<std::string> merged_exclusion(std::string_view before, const std::vector<std::string>& more,
                                            const std::vector<std::string>& less) {
    const auto known = base::expand_hostlist(before);
    if (!known && more.empty()) return {};
    if (!known) return fmt::format("{},{}", before, base::fold_hostlist(more));
    auto names = *known;
    std::erase_if(names, [&](const auto& name) { return contains(less, name); });
    for (const auto& name : more)
        if (!contains(names, name)) names.push_back(name);
    if (names == *known) return {};
    std::sort(names.begin(), names.end(), base::natural_less);
    return base::fold_hostlist(names);
}

std::optional<std::string> rewritten_requirement(std::string_view before,
                                                 const std::vector<std::string>& excluded) {
    auto names = base::expand_hostlist(before);
    if (!names || std::erase_if(*names, [&](const auto& name) { return contains(excluded, name); }) == 0)
        return {};
    return base::fold_hostlist(*names);
}

} // namespace restart
