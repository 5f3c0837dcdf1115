// --rail-ucx=stats: a port of the host's agent for the statistics of this step's UCX.
#pragma once

#include "base/expected.hpp"
#include "base/unique_fd.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace spank {

// The agent takes statistics at the port for as long as the connection is open: to the end of slurmstepd at
// most.
struct StatisticsPort {
    base::UniqueFd connection;
    std::uint16_t number = 0;
};

// Asks the agent at this socket, for 2 s at most. Errors: Code::unavailable (no agent, or none that answers),
// Code::denied (it refused, with its reason), Code::input (not the protocol).
base::Expected<StatisticsPort> ask_for_statistics(const std::string& socket, std::uint32_t job,
                                                  std::uint32_t epoch, std::uint32_t uid);

// What a task's environment gets for it; an empty value: it is to be unset. What the user has set stays, what
// an outer step or the batch script of ours has set does not: its port is another's. Pure.
struct Setting {
    std::string name, value;
    bool operator==(const Setting&) const = default;
};
std::vector<Setting> statistics_settings(std::optional<std::uint16_t> port,
                                         const std::optional<std::string>& destination,
                                         const std::optional<std::string>& ours);

} // namespace spank
