// Queries NCCL's RAS, if processes of a job connected to this agent provide it (probe/nccl_ras.hpp), and puts
// problems of the job's communicators, and the processes of this host that it names, into the job book. In
// its own task: a missing answer delays nothing.
//
// The kernel shows which user listens at the port before and after: the answer is used only for that user's
// job, and users without a connected job are not queried.
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

// The processes at the addresses `own` that the answer names, each GPU once, unresponsive ones first. At most
// most_ras_signs.
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
