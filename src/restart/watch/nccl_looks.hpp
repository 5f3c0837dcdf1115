// Asks NCCL's RAS, where processes of a job that speaks to this agent answer for it (probe/nccl_ras.hpp), and
// puts what is wrong with the job's communicators, and which processes of this host it names, into the job
// book. In a task of its own: an answer that does not come delays nothing.
//
// Whose word it is the kernel tells, by who listens at the port before and after: it is put to that user's
// job alone, and nobody is asked whose job does not speak to the agent.
#pragma once

#include "probe/nccl_ras.hpp"
#include "restart/watch/job_book.hpp"
#include "restart/watch/task_loop.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace restart {

// The processes at the addresses `own` that the answer names, each GPU once, those that do not answer first.
// At most most_ras_signs.
std::vector<RasSign> ras_signs(const probe::RasStatus& status, const std::set<std::string, std::less<>>& own);

struct NcclSettings {
    std::uint16_t port = probe::ras_port;
    std::chrono::milliseconds every{30'000};
    base::Duration patience{8'000}; // for one answer
};

class NcclLooks {
public:
    NcclLooks(TaskLoop& loop, std::shared_ptr<JobBook> book, NcclSettings settings = {});

private:
    TaskLoop::Task task_;
};

} // namespace restart
