// The resource manager as restartd sees it. One implementation a product: slurm_rm.hpp.
//
// Calls block for as long as the resource manager's own time limits allow and are made by one thread at a
// time, in the order in which their results are told to step() (event.hpp).
#pragma once

#include "base/expected.hpp"
#include "restart/core/action.hpp"
#include "restart/core/rm_snapshot.hpp"

#include <cstdint>
#include <optional>

namespace restart {

class ResourceManager {
public:
    virtual ~ResourceManager() = default;

    // All nodes and jobs at one moment. Error: Code::unavailable when it does not answer.
    virtual base::Expected<RmSnapshot> read() = 0;

    // Does the action, or finds that it has been done before (action.hpp). Errors: Code::unavailable when it
    // does not answer, Code::not_found when host or job are not there any more, Code::denied when a person's
    // drain stands in the way or this process has no right to do it.
    virtual base::Expected<void> perform(const Action& action) = 0;

    // The user the resource manager runs as, who may do all that restartd may (Slurm: SlurmUser); none when
    // it cannot be told yet.
    virtual std::optional<std::uint32_t> owner() = 0;
};

} // namespace restart
