// What LSF says of a job in its environment: its number, and its hosts in their order with the slots on each,
// which for a job that restartd has placed is the order of the plan. Pure but for allocation_of(), which may
// read a file.
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

// By LSB_JOBID and, of an array's element, LSB_JOBINDEX. Errors (Code::usage): it is not in a job of LSF.
base::Expected<base::JobId> job_of(const Lookup& get);

struct Allocation {
    std::vector<std::string> hosts;   // each once
    std::vector<std::uint32_t> slots; // of each
    bool operator==(const Allocation&) const = default;
};

// LSB_MCPU_HOSTS, "n4 4 n2 4 ". Errors (Code::input): no pairs of a host and a number from 1, or more than
// 1,048,576 slots.
base::Expected<Allocation> read_mcpu_hosts(std::string_view text);

// LSB_DJOB_HOSTFILE's text, a line a slot, and LSB_HOSTS, a word a slot. Errors (Code::input): no host, or
// too many.
base::Expected<Allocation> read_slots(std::string_view text);

// From the first of LSB_MCPU_HOSTS, LSB_DJOB_HOSTFILE and LSB_HOSTS that is set, as different engines have
// them. Errors: theirs, and those of reading the file.
base::Expected<Allocation> allocation_of(const Lookup& get);

} // namespace restart::lsf
