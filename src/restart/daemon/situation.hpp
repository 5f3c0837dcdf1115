// A job's placement, as restartd explains it: from the resource manager's queue to the text of sched. Pure.
#pragma once

#include "base/json.hpp"
#include "restart/core/facts/rights.hpp"
#include "restart/core/facts/rm_queue.hpp"
#include "sched/outlook.hpp"
#include "sched/placing.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace restart {

// One job among the others, in the fabric's terms.
struct Situation {
    const QueueJob* job = nullptr;
    sched::Snapshot snapshot;
    sched::Request request;
    sched::Circumstances circumstances;
    std::vector<std::uint32_t> hosts; // that it holds and the fabric knows
    std::vector<std::string> notes;   // what was not considered, for display
};

// Hosts outside the job's partitions count as excluded, hosts in a reservation as drained for jobs outside
// it; a node that other jobs also use as busy if this job needs more processors than are idle. Node features,
// licences and limits of accounts are left to the resource manager: a note reports that a feature was
// requested. Hosts kept free for restarts are treated as by the scheduler's advisor, except for a job that
// restarts. None when the job is not in the queue. Refers to `queue`. `had`: the hosts it had before, if the
// queue does not know them (QueueJob::had). What `view` does not see is left out of its text: whose end makes
// it fit, why hosts are drained.
std::optional<Situation> situation_of(const RmQueue& queue, const sched::Placing& placing, base::JobId job,
                                      const View& view, const std::vector<std::string>& had = {});

// The sentence for the job's comment; "" when it is not waiting or its request cannot be evaluated.
std::string sentence_of(const Situation& situation, const sched::Placing& placing);

// sched::to_json of it with {"notes":[…],"expected_start":…|null}, times as there; or
// {"kind":"unknown","sentence":…} when it cannot be explained.
boost::json::object placement_json(const Situation& situation, const sched::Placing& placing);
boost::json::object placement_unknown(std::string_view sentence);

} // namespace restart
