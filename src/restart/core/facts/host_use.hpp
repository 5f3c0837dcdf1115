// Whether a host is out of use, by whose decision, and what is under way about it or a job: questions to a
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
std::string other_owner(const HostState& host); // its name where it is known, else "another"

// The number in the tag of an incident of ours, of this journal or an earlier one; 0: the reason has none.
std::uint64_t incident_in(std::string_view reason);

// Whether the resource manager or the fabric cannot reach it, or nothing on it answers. What the fabric said
// counts as long as sweeps come, or for a minute.
bool unreachable(const State& state, const HostState& host);

// Whether its agent reports, and says that slurmd runs: one that was put into use a moment ago may not have
// answered slurmctld's ping yet.
bool is_heard(const HostState& host, base::Time now, base::Duration silent);

// How far it may be given to jobs; none: it is not known.
std::optional<base::HostState> use_now(const HostState& host, base::Time now, base::Duration silent);

// Lost, and no person has overruled that.
bool counts_as_lost(const HostState& host);

// Shut down in order, and not back yet; the second: idle, which is no fault.
bool has_departed(const HostState& host);
bool departed_idle(const HostState& host);

// Lost by the word of the resource manager: neither the fabric nor a person has agreed.
bool lost_by_rm_alone(const HostState& host);

bool host_in_flight(const State& state, std::string_view host); // an action on it is under way
bool job_in_flight(const State& state, base::JobId job);        // likewise
bool has_drain(const State& state, std::string_view host);      // by whomever, set or under way
// Drained or down, and free of jobs but those that let it go.
bool drained_and_empty(const State& state, std::string_view host);

// Whether a job that holds the host runs without it and survives that it is set down.
bool lets_go(const JobState& job, std::string_view host);

// Whether what is done to the host makes it silent, which is no fault.
bool quiet_for_repair(const HostState& host);

bool holds_finding(const HostState& host, std::string_view key); // by the key of key_of()

} // namespace restart
