// Whether a host is out of use, by whose decision, and what is under way for it or a job: questions to a
// State that detection, decisions and actions share. Internal to restart/core.
#pragma once

#include "restart/core/facts/state.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace restart {

// Whose decision keeps the host out of use (kept_out.hpp).
bool owned_by_us(const HostState& host);
bool owned_by_others(const HostState& host);
std::string other_owner(const HostState& host); // its name if known, else "another"

// The number in the tag of an incident of ours, from this journal or an earlier one; 0: the reason has none.
std::uint64_t incident_in(std::string_view reason);

// Whether the resource manager or the fabric cannot reach it, or nothing on it answers. What the fabric
// reported is valid while sweeps come, or for a minute.
bool unreachable(const State& state, const HostState& host);

// Whether its agent reports that slurmd runs: a host that was just put into use may not have answered
// slurmctld's ping yet.
bool is_heard(const HostState& host, base::Time now, base::Duration silent);

// How far it may be given to jobs; none: not known.
std::optional<base::HostState> use_now(const HostState& host, base::Time now, base::Duration silent);

// Lost, and not overruled by an operator.
bool counts_as_lost(const HostState& host);

// Shut down in order, and not back yet; the second: while idle, which is not a fault.
bool has_departed(const HostState& host);
bool departed_idle(const HostState& host);

// Lost by the resource manager's report: neither the fabric nor an operator has confirmed it.
bool lost_by_rm_alone(const HostState& host);

bool host_in_flight(const State& state, std::string_view host); // an action on it is under way
bool job_in_flight(const State& state, base::JobId job);        // the same for a job
bool has_drain(const State& state, std::string_view host);      // by anyone, set or under way
// Drained or down, and free of jobs except those that let it go.
bool drained_and_empty(const State& state, std::string_view host);

// Whether a job that holds the host runs without it and survives its being set down.
bool lets_go(const JobState& job, std::string_view host);

// Whether its repair makes it silent, which is not a fault.
bool quiet_for_repair(const HostState& host);

bool holds_finding(const HostState& host, std::string_view key); // by the key of key_of()

} // namespace restart
