#include "restart/rm/slurm_requests.hpp"

#include "restart/rm/slurm_reading.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <unistd.h>
#include <utility>

namespace restart {

using base::Code;
using base::Error;
using base::Expected;

int number_of(int answer) {
    return answer > 0 ? answer : errno;
}

Expected<RmNode> load_node(const std::string& host) {
    node_info_msg_t* fresh = nullptr;
    auto name = host;
    errno = 0;
    const int answer = slurm_load_node_single(&fresh, name.data(), SHOW_ALL);
    const Nodes owned(fresh);
    if (answer != SLURM_SUCCESS) return slurm_error(fmt::format("reading node {}", host), number_of(answer));
    for (std::uint32_t i = 0; i < owned->record_count; ++i)
        if (owned->node_array[i].name != nullptr && host == owned->node_array[i].name)
            return read_node(owned->node_array[i],
                             [](std::uint32_t uid) { return fmt::format("user {}", uid); });
    return Error{Code::not_found, fmt::format("node {} does not exist", host)};
}

Expected<JobRecord> load_job(base::JobId job, bool ended_too) {
    const auto id = slurm_id(job);
    if (!id) return id.error();
    job_info_msg_t* fresh = nullptr;
    errno = 0;
    const int answer = slurm_load_job(&fresh, *id, SHOW_ALL);
    Jobs owned(fresh);
    if (answer != SLURM_SUCCESS) return slurm_error(fmt::format("reading job {}", *id), number_of(answer));
    JobRecord record(std::move(owned), *id);
    if (!record.lives() && !ended_too) return Error{Code::not_found, fmt::format("job {} has ended", *id)};
    return record;
}

Expected<void> update_node(const std::string& host, std::uint32_t state, const std::string& reason) {
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
    if (answer != SLURM_SUCCESS) return slurm_error(fmt::format("changing node {}", host), number_of(answer));
    return {};
}

Expected<void> update_job(std::uint32_t job, job_desc_msg_t& change) {
    errno = 0;
    const int answer = slurm_update_job(&change);
    if (answer != SLURM_SUCCESS) return slurm_error(fmt::format("changing job {}", job), number_of(answer));
    return {};
}

} // namespace restart
