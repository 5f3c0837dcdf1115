// One culprit for many symptoms: something that several hosts share and that failed instead of them, such as
// a leaf switch, a rail of a unit, a rack's power, or a link between two of them.
//
// A symptom is a finding of severity evict about a port that the fabric file knows, about a throttled GPU, or
// a link between switches that a sweep saw down. Each one blames everything it may be a symptom of. A
// candidate blamed by all of its parts (two at least), or by half of them (three at least), is a culprit; the
// one with the most symptoms comes first. The order in which symptoms came does not matter: a finding that
// others may follow waits for them a moment (`company`) before its host is judged alone.
//
// While the cause holds, its findings count against no host (explained_by()). It ends when the last symptom
// does, or when for a minute fewer than half of its symptoms are left: these are judged alone again.
//
// Internal to restart/core.
#pragma once

#include "restart/core/facts/policy.hpp"
#include "restart/core/facts/state.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace restart {

class StepContext;

// How long a finding waits for others of the same cause: three reports, so that all agents have reported.
base::Duration company(const Policy& policy);

// Records the arrival of findings that may have company, and forgets those that ended.
void note_arrivals(StepContext& ctx, const std::string& name, HostState& host);

// Whether it may be one of many, and came so recently that the others may not have been reported yet.
bool awaits_company(const StepContext& ctx, const HostState& host, const Finding& finding);

// The open incident that accounts for this finding of the host, or for all of its findings that ask to leave
// it; null: none.
const Incident* explained_by(const State& state, std::string_view host, const Finding& finding);
const Incident* explained_by(const State& state, std::string_view host);

// The hosts of the incident's symptoms; sorted.
std::vector<std::string> hosts_of(const Incident& incident);
bool has_host(const Incident& incident, std::string_view host);

// Opens, follows and ends such incidents. Cost: O(hosts), more only while there are symptoms.
void check_causes(StepContext& ctx);

// Why nothing is done to the host itself, a phrase: something else fails. Empty: it may be the host.
std::string why_left_alone(const State& state, std::string_view name);

} // namespace restart
