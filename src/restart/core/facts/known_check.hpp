// What checks have reported about a host so far: for each check and component the last readings. They come
// from jobs, whose users could report anything, and from idle checks (idle_check.hpp). What follows from them
// is in detect/agreed_checks.hpp.
#pragma once

#include "base/clock.hpp"
#include "base/job_id.hpp"
#include "restart/wire/check_word.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace restart {

// A host with 8 GPUs and 8 HCAs has some 70 of these; those from idle checks and the most recent ones are
// kept.
inline constexpr std::size_t most_known_checks = 80, most_check_readings = 6;

struct CheckReading {
    base::Time at{};
    CheckVerdict verdict = CheckVerdict::measured;
    std::optional<double> value, expected;
    std::string says;
    base::JobId job{}; // that reported it, and its start
    std::uint32_t epoch = 0;
    std::optional<std::uint32_t> uid{}; // of its user; none: written by an earlier release
    bool by_us = false;                 // an idle check (idle_check.hpp)
    std::uint32_t level = 0;            // of railcheck(8); 0: not known
    bool operator==(const CheckReading&) const = default;
};

struct KnownCheck {
    std::string check, component, unit;
    std::vector<CheckReading> readings; // oldest first; never empty
    bool operator==(const KnownCheck&) const = default;
};

// The job that reports it, its start, and its user.
struct CheckTeller {
    base::JobId job{};
    std::uint32_t epoch = 0, uid = 0;
    bool by_us = false;      // it is restartd's own
    std::uint32_t level = 0; // of railcheck(8), at which it checked; 0: not known
};

// Takes a report of a job's start, or replaces its earlier one. However much jobs report, half of the
// readings of a part stay those of idle checks, and the other way round.
void take_check(std::vector<KnownCheck>& known, const CheckWord& word, const CheckTeller& teller,
                base::Time now);

} // namespace restart
