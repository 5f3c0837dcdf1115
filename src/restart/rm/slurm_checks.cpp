#include "restart/rm/slurm_checks.hpp"

#include "restart/rm/check_job.hpp"
#include "restart/rm/slurm_reading.hpp"
#include "restart/rm/slurm_requests.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <map>
#include <memory>
#include <unistd.h>
#include <vector>

namespace restart {
namespace {

using base::Expected;

constexpr std::string_view check_label = "railyard-check ";

struct FreeSubmitted {
    void operator()(submit_response_msg_t* answer) const { slurm_free_submit_response_response_msg(answer); }
};

bool has(const std::vector<std::string>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

// "ReqNodeNotAvail" is permanent if a job names a host that is down.
bool could_use(std::string_view host, const job_info_t& job) {
    if ((job.job_state & JOB_STATE_BASE) != JOB_PENDING || (job.job_state & JOB_REQUEUE) != 0 ||
        job.priority == 0 || job.eligible_time > std::time(nullptr) || !text_of(job.resv_name).empty())
        return false;
    return job.state_reason == WAIT_NO_REASON || job.state_reason == WAIT_PRIORITY ||
           job.state_reason == WAIT_RESOURCES ||
           (job.state_reason == WAIT_NODE_NOT_AVAIL && has(names_of(job.req_nodes), host));
}

// What commands in it need from restartd's own environment, and what spank_rail must do.
std::vector<std::string> environment(std::string_view word) {
    std::vector<std::string> variables{"RAIL_PREFLIGHT=" + std::string(word)};
    for (const char* name : {"PATH", "LANG", "SLURM_CONF", "RAILYARD_CONF"})
        if (const char* value = std::getenv(name)) variables.push_back(std::string(name) + '=' + value);
    return variables;
}

} // namespace

std::string checked_host(const job_info_t& job) {
    const auto comment = text_of(job.comment);
    if (job.user_id != ::geteuid() || !comment.starts_with(check_label)) return {};
    return comment.substr(check_label.size());
}

bool is_wanted(std::string_view host, std::span<const job_info_t> jobs,
               std::span<const partition_info_t> partitions) {
    std::map<std::string, bool> known; // whether the partition has the host, as far as looked up
    const auto has_host = [&](const std::string& name) {
        const auto [entry, fresh] = known.try_emplace(name, false);
        if (fresh)
            entry->second = std::any_of(partitions.begin(), partitions.end(), [&](const auto& one) {
                return text_of(one.name) == name && has(names_of(one.nodes), host);
            });
        return entry->second;
    };
    return std::any_of(jobs.begin(), jobs.end(), [&](const job_info_t& job) {
        if (!could_use(host, job) || !checked_host(job).empty() || has(names_of(job.exc_nodes), host))
            return false;
        const auto wished = words_of(text_of(job.partition));
        return std::any_of(wished.begin(), wished.end(), has_host);
    });
}

Expected<void> submit_check(const CheckHost& action, std::span<const job_info_t> jobs) {
    for (const auto& job : jobs)
        if (const auto word = job.job_state & JOB_STATE_BASE;
            (word == JOB_PENDING || word == JOB_RUNNING) && checked_host(job) == action.host)
            return {};
    auto host = action.host, partition = action.partition, account = action.account, qos = action.qos;
    auto comment = std::string(check_label) + action.host;
    std::string name(check_job_name),
        folder = "/", nowhere = "/dev/null",
        script = "#!/bin/sh\n# Railyard tries this idle host before this begins: restartd(8)\nexit 0\n";
    const auto depth = check_depth(action.level);
    auto variables = environment(depth.word);
    std::vector<char*> pointers;
    for (auto& variable : variables)
        pointers.push_back(variable.data());
    job_desc_msg_t wanted;
    slurm_init_job_desc_msg(&wanted);
    wanted.name = name.data();
    wanted.comment = comment.data();
    wanted.user_id = ::geteuid();
    wanted.group_id = ::getegid();
    wanted.work_dir = folder.data();
    wanted.std_in = wanted.std_out = wanted.std_err = nowhere.data();
    wanted.script = script.data();
    wanted.environment = pointers.data();
    wanted.env_size = static_cast<std::uint32_t>(pointers.size());
    wanted.req_nodes = host.data();
    wanted.min_nodes = wanted.max_nodes = wanted.num_tasks = 1;
    wanted.shared = 0;        // no other job is next to it, and it has all GPUs
    wanted.pn_min_memory = 0; // all
    wanted.time_limit = depth.minutes;
    wanted.priority = 1;
    wanted.requeue = 0;
    if (!partition.empty()) wanted.partition = partition.data();
    if (!account.empty()) wanted.account = account.data();
    if (!qos.empty()) wanted.qos = qos.data();
    submit_response_msg_t* answer = nullptr;
    errno = 0;
    const int called = slurm_submit_batch_job(&wanted, &answer);
    const int failed = number_of(called);
    const std::unique_ptr<submit_response_msg_t, FreeSubmitted> owned(answer);
    if (called != SLURM_SUCCESS) return slurm_error("submitting the job that tries " + action.host, failed);
    return {};
}

Expected<void> end_check(const EndCheck& action) {
    const auto record = load_job(action.job.id);
    if (!record) return record.error().code == base::Code::not_found ? Expected<void>() : record.error();
    if (checked_host(record->own()) != action.job.host) return {};
    errno = 0;
    const int called = slurm_kill_job(record->own().job_id, SIGKILL, 0);
    if (called == SLURM_SUCCESS) return {};
    const auto error = slurm_error("ending the job that tries " + action.job.host, number_of(called));
    return error.code == base::Code::not_found ? Expected<void>() : error; // it has ended
}

} // namespace restart
