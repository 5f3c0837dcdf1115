// Keeps a job's processes on a host: reports this to the host's agent, and ends them if the agent says that
// they are left over, or that this host is cut off and the job may be started elsewhere.
#pragma once

#include "base/job_id.hpp"
#include "restart/ckpt/agent.hpp"
#include "restart/ckpt/job_processes.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace restart::lsf {

struct KeptStart {
    std::string socket; // the agent's
    base::JobId job{};
    std::uint32_t start = 0; // RAIL_RESTART_COUNT
    bool reruns = false;     // it may be started elsewhere when this host is considered lost
};

class Keeper {
public:
    static constexpr base::Duration every{1'000}; // the interval for calls of look()

    // `say`: reports actions to the user.
    Keeper(const KeptStart& start, std::function<void(const std::string&)> say);

    // Queries the agent, which may be missing, and ends processes as required, which takes seconds. True: it
    // did.
    bool look();
    // Has the agent request the job's processes here to save, since this start ends soon. Errors: the
    // agent's.
    base::Expected<void> ask_to_save(base::Duration within) { return agent_.save(within); }
    // Whether any process of the job exists here.
    bool keeps_any() const { return !processes_.found().empty(); }

    // After look() has ended them: returns when this process is no longer needed. If this host was cut off
    // that is when the job is started elsewhere, or the resource manager ends this process: until then it
    // must not treat the job as finished.
    void stand_in();

private:
    KeptStart start_;
    std::function<void(const std::string&)> say_;
    ckpt::Agent agent_;
    ckpt::JobProcesses processes_;
    bool cut_off_ = false;
};

// Starts a separate process that keeps the job's processes on this host while there are any: the calling
// process may become one of them.
void keep_apart(const KeptStart& start);

} // namespace restart::lsf
