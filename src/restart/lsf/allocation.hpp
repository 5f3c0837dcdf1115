// A job's data in LSF's environment: its number, and its hosts in order with the slots on each; for a job
// that restartd has placed, this is the order of the plan. Pure except for allocation_of(), which may read a
// file.
#pragma once

#include "base/expected.hpp"
#include "base/job_id.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace restart::lsf {

using Lookup = std::function<std::optional<std::string>(const std::string&)>;

// From LSB_JOBID and, for an array element, LSB_JOBINDEX. Errors (Code::usage): not in a job of LSF.
base::Expected<base::JobId> job_of(const Lookup& get);

struct Allocation {
    std::vector<std::string> hosts;   // without duplicates
    std::vector<std::uint32_t> slots; // of each
    bool operator==(const Allocation&) const = default;
};

// LSB_MCPU_HOSTS, "n4 4 n2 4 ". Errors (Code::input): not pairs of a host and a number from 1, or more than
// 1,048,576 slots.
base::Expected<Allocation> read_mcpu_hosts(std::string_view text);

// The text of LSB_DJOB_HOSTFILE, one line per slot, or LSB_HOSTS, one word per slot. Errors (Code::input): no
// host, or too many.
base::Expected<Allocation> read_slots(std::string_view text);

// From the first of LSB_MCPU_HOSTS, LSB_DJOB_HOSTFILE and LSB_HOSTS that is set, as engines differ. Errors:
// theirs, and those of reading the file.
base::Expected<Allocation> allocation_of(const Lookup& get);

} // namespace restart::lsf
