// Reasons for and against a rung of a repair's ladder: questions to a State. Internal to restart/core.
#pragma once

#include "restart/core/facts/policy.hpp"
#include "restart/core/facts/state.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace restart {

// Why nothing may be done to the host at present, a phrase: jobs are on it, or something other than the host
// fails. Empty: something may.
std::string why_not_now(const State& state, std::string_view name, const HostState& host);

// The jobs on it, if each one's railrun runs it without the host and it survives that the host is set down.
// None: there is another job, or what holds the host is not known.
std::optional<std::vector<base::JobId>> jobs_that_let_go(const State& state, std::string_view name);

// Why this rung is skipped: it is not configured, or the host may be alive; a phrase. Empty: it is not.
std::string why_passed_over(const State& state, const HostState& host, const Policy& policy, Rung rung);

// The rung that a repair is on, or begins next.
Rung present_rung(const Policy& policy, const Repair& repair);

// The rungs of its ladder that are possible here, in order: those for which neither the site nor the resource
// manager has a program are left out. Never empty: an operator is left.
std::vector<std::string_view> rungs_here(const State& state, const RepairPolicy& policy, FaultClass fault);

// Whether its agent reports, it answers the resource manager, and no fault holds.
bool is_clean(const State& state, std::string_view name, const HostState& host, const Policy& policy,
              base::Time now);

// The numbers of the GPUs that its findings name, sorted; empty if one of them names none.
std::vector<std::string> faulty_gpus(const HostState& host);

// Hosts under repair.
std::size_t in_repair(const State& state, const Policy& policy);

} // namespace restart
