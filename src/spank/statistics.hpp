// --rail-ucx=stats: a port on the host's agent for the UCX statistics of this step.
#pragma once

#include "base/expected.hpp"
#include "base/unique_fd.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace spank {

// The agent accepts statistics on the port while the connection is open: until slurmstepd ends at the latest.
struct StatisticsPort {
    base::UniqueFd connection;
    std::uint16_t number = 0;
};

// Asks the agent at this socket, for at most 2 s. Errors: Code::unavailable (no agent, or no answer),
// Code::denied (it refused, with the reason), Code::input (not the protocol).
base::Expected<StatisticsPort> ask_for_statistics(const std::string& socket, std::uint32_t job,
                                                  std::uint32_t epoch, std::uint32_t uid);

// The variable to set in a task's environment; an empty value: unset it. A user's value is kept; Railyard's
// from an outer step or the batch script is not: its port is another step's. Pure.
struct Setting {
    std::string name, value;
    bool operator==(const Setting&) const = default;
};
std::vector<Setting> statistics_settings(std::optional<std::uint16_t> port,
                                         const std::optional<std::string>& destination,
                                         const std::optional<std::string>& ours);

} // namespace spank
