// Checks of hosts that no job uses: restartd regularly runs railcheck on each of them, in a job of its own in
// the resource manager, and ends that job as soon as the host is needed (decide/idle_checks.cpp).
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
    none,    // nothing under way
    ordered, // its job will be submitted
    given,   // submitted, not read yet
    seen,    // the resource manager has the job
    ending,  // we are ending it
    over     // it has ended; its results may still be on their way
};

// Of a host, once the first has begun.
struct IdleCheck {
    IdleCheckStage stage = IdleCheckStage::none;
    std::uint32_t number = 0;       // of its last action
    base::Time since{};             // of the stage
    base::JobId job{};              // its job, once read,
    std::uint32_t uid = 0;          // and the job's user: ours
    bool told = false;              // results came, of at least one check
    bool cut_short = false;         // we ended it
    std::optional<base::Time> done; // when results last came, of this or an earlier one
    base::Time not_before{};        // of the next one
    std::uint32_t failures = 0;     // in a row without results
    bool operator==(const IdleCheck&) const = default;

    bool under_way() const { return stage != IdleCheckStage::none; }
    bool acts() const { return stage == IdleCheckStage::ordered || stage == IdleCheckStage::ending; }
};

} // namespace restart
