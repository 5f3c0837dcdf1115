// Checks of hosts that no job uses: restartd has railcheck try each of them every so often, in a job of its
// own in the resource manager, which it ends as soon as the host is wanted (decide/idle_checks.cpp).
#pragma once

#include "base/clock.hpp"
#include "base/conf.hpp"
#include "base/job_id.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace restart {

struct IdleCheckPolicy {
    base::Duration every{}; // 0: never
    std::uint64_t level = 2;
    std::uint64_t max_at_once = 0;
    std::string partition, account, qos; // of the jobs; empty: the resource manager's defaults
    bool operator==(const IdleCheckPolicy&) const = default;

    static IdleCheckPolicy from(const base::IdleChecksConf& conf) {
        return {conf.every, conf.level, conf.max_at_once, conf.partition, conf.account, conf.qos};
    }
};

enum class IdleCheckStage {
    none,    // nothing is under way
    ordered, // its job is to be submitted
    given,   // it was, and was not read yet
    seen,    // the resource manager has the job
    ending,  // we end it
    over     // it has ended; its results may still be on their way
};

// A host's, from the first that was begun.
struct IdleCheck {
    IdleCheckStage stage = IdleCheckStage::none;
    std::uint32_t number = 0;       // of its last action
    base::Time since{};             // of the stage
    base::JobId job{};              // its job, once that was read,
    std::uint32_t uid = 0;          // and whose that is: ours
    bool told = false;              // its results came, of one check at least
    bool cut_short = false;         // we ended it
    std::optional<base::Time> done; // when results came last, of this or an earlier one
    base::Time not_before{};        // the next begins
    std::uint32_t failures = 0;     // in a row that brought no results
    bool operator==(const IdleCheck&) const = default;

    bool under_way() const { return stage != IdleCheckStage::none; }
    bool acts() const { return stage == IdleCheckStage::ordered || stage == IdleCheckStage::ending; }
};

} // namespace restart
