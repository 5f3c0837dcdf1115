// LSF's terms for RmWords.
#pragma once

#include "restart/core/facts/rm.hpp"

namespace restart {

inline RmWords lsf_words() {
    return {"mbatchd",
            "badmin",
            "an interactive job cannot be requeued, only batch jobs (bsub) can",
            "the job was not submitted through esub.rail",
            "[restartd] operators",
            "LSF's administrator, [restartd] operators",
            "coordinators of its project",
            "jobs are private",
            "hosts are private",
            "events are private"};
}

} // namespace restart
