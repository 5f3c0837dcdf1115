// Which gangs start now, where restartd chooses their hosts (LSF): passes the queue as read and existing
// plans to sched::lsf::dispatch. Pure except for what one pass leaves for the next.
#pragma once

#include "restart/core/facts/event.hpp"
#include "restart/core/facts/policy.hpp"
#include "restart/core/facts/rm_queue.hpp"
#include "restart/core/facts/state.hpp"
#include "sched/lsf/dispatch.hpp"
#include "sched/placing.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace restart {

// What the state knows about gangs and hosts that the queue does not.
struct DispatchFacts {
    struct Gang {
        std::uint32_t epoch = 0;
        bool restart = false;           // runs again after a fault
        bool may_plan = false;          // it waits, has no plan under way, and nothing of it runs
        std::vector<std::string> holds; // by its plan
        std::vector<std::string> had;   // of the start before the one it waits for
    };
    std::map<base::JobId, Gang> gangs;
    std::set<std::string, std::less<>> unfit; // hosts that may get no gang, whatever the queue shows
};
DispatchFacts dispatch_facts(const State& state, const Policy& policy, base::Time now);

class Dispatcher {
public:
    // The gangs to start. Errors: sched::lsf::dispatch's.
    base::Expected<GangsPlanned> pass(const RmQueue& queue, const DispatchFacts& facts,
                                      const sched::Placing& placing);

private:
    std::optional<base::JobId> resume_;
};

} // namespace restart
