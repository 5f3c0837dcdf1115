#include "restart/rm/slurm_reading.hpp"

#include "base/hostlist.hpp"
#include "base/utf8.hpp"
#include "sched/hints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <span>

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

// Reasons that slurmctld gives a node it sets down itself (src/slurmctld/node_mgr.c, ping_nodes.c).
bool is_slurmctlds_own(std::string_view reason) {
    return reason.empty() || reason.starts_with("Not responding") ||
           reason.starts_with("Node unexpectedly rebooted") || reason.starts_with("Slurmd not responding") ||
           reason.starts_with("ResumeTimeout");
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

std::optional<RmJob> read_components(std::uint32_t leader, std::vector<const job_info_t*> parts) {
    std::sort(parts.begin(), parts.end(), [](const job_info_t* one, const job_info_t* other) {
        return one->het_job_offset < other->het_job_offset;
    });
    if (parts.front()->job_id != leader) return {};
    auto job = read_job(*parts.front());
    if (job.phase == JobPhase::ended) return {};
    job.name = std::to_string(leader);
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
        job.requeue = job.requeue && read.requeue;
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

// The rare other words stay numbers.
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
    if (job.state_reason < words.size()) return std::string(words[job.state_reason]);
    return fmt::format("Slurm's reason {}", job.state_reason);
}

RmNode read_node(const node_info_t& node) {
    const auto state = node.node_state;
    RmNode read;
    read.name = text_of(node.name);
    read.state = state_words(state);
    read.down = (state & NODE_STATE_BASE) == NODE_STATE_DOWN;
    read.drain = (state & (NODE_STATE_DRAIN | NODE_STATE_FAIL)) != 0;
    read.not_responding = (state & NODE_STATE_NO_RESPOND) != 0;
    read.reason = base::as_utf8(text_of(node.reason));
    read.automatic = read.down && !read.drain && is_slurmctlds_own(read.reason);
    return read;
}

RmJob read_job(const job_info_t& job) {
    RmJob read;
    read.id = job.job_id;
    read.name = name_of_job(job);
    read.uid = job.user_id;
    read.phase = phase_of(job.job_state);
    // While a requeued job's processes are being ended its old nodes still stand in the record.
    if (read.phase != JobPhase::completing) read.nodes = names_of(job.nodes);
    read.node_count = read.nodes.empty() ? job.num_nodes : static_cast<std::uint32_t>(read.nodes.size());
    read.restarts = job.restart_cnt;
    read.start = time_of(job.start_time);
    read.begin = time_of(job.eligible_time);
    read.interactive = job.batch_flag == 0;
    read.requeue = job.requeue != 0 && !read.interactive;
    read.excluded = names_of(job.exc_nodes);
    if (read.phase == JobPhase::pending || read.phase == JobPhase::completing) {
        read.why = pending_reason(job);
        if (const auto name = text_of(job.resv_name); !name.empty())
            read.why += fmt::format(", in reservation {}", name); // whose hosts alone may run it
    }
    // Another's comment that merely looks like ours says nothing.
    if (const auto hints = sched::parse_comment(text_of(job.admin_comment))) {
        read.restart = hints->restart;
        read.ckpt_dir = hints->ckpt_dir.value_or("");
    }
    return read;
}

std::vector<RmJob> read_whole_jobs(const job_info_t* jobs, std::size_t count) {
    std::vector<RmJob> whole;
    whole.reserve(count);
    std::map<std::uint32_t, std::vector<const job_info_t*>> components; // by their leader's id
    for (const auto& job : std::span(jobs, count)) {
        if (job.het_job_id != 0) {
            components[job.het_job_id].push_back(&job);
        } else if (phase_of(job.job_state) != JobPhase::ended) {
            whole.push_back(read_job(job));
        }
    }
    for (auto& [leader, parts] : components)
        if (auto job = read_components(leader, std::move(parts))) whole.push_back(*std::move(job));
    return whole;
}

RmConfig read_config(const slurm_conf_t& conf) {
    RmConfig read;
    read.slurmd_timeout = std::chrono::seconds(conf.slurmd_timeout);
    for (auto& word : words_of(text_of(conf.job_submit_plugins))) // older releases allow the whole type
        read.job_submit_plugins.push_back(word.starts_with("job_submit/") ? word.substr(11)
                                                                          : std::move(word));
    read.select_type = text_of(conf.select_type);
    read.topology_plugin = text_of(conf.topology_plugin);
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
    // What a socket says, by its own number or by Slurm's (SLURM_PROTOCOL_SOCKET_…), is a peer that is away.
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
