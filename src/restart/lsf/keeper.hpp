// Who keeps a job's processes on a host: tells the host's agent so, and ends them when the agent says that
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
    bool reruns = false;     // it may be started elsewhere when this host is taken for lost
};

class Keeper {
public:
    static constexpr base::Duration every{1'000}; // look() is to be called

    // `say`: tells people what is done.
    Keeper(const KeptStart& start, std::function<void(const std::string&)> say);

    // Asks the agent, which may be away, and ends what is to be ended, which takes seconds. True: it did.
    bool look();
    // Lets the agent ask the job's processes here to save, since this start ends soon. Errors: the agent's.
    base::Expected<void> ask_to_save(base::Duration within) { return agent_.save(within); }
    // Whether any process of the job is there.
    bool keeps_any() const { return !processes_.found().empty(); }

    // After look() has ended them: returns when nobody counts on this process any more. Where this host was
    // cut off that is when the job is started elsewhere, or the resource manager ends this process: it must
    // not take the job for over.
    void stand_in();

private:
    KeptStart start_;
    std::function<void(const std::string&)> say_;
    ckpt::Agent agent_;
    ckpt::JobProcesses processes_;
    bool cut_off_ = false;
};

// A process of its own that keeps the job's processes on this host as long as there are any: this one may
// become one of them.
void keep_apart(const KeptStart& start);

} // namespace restart::lsf
