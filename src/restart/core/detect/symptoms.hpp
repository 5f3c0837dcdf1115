// Faults that hosts may share, and what they point to. Internal to restart/core/detect.
#pragma once

#include "restart/core/facts/policy.hpp"
#include "restart/core/facts/state.hpp"

#include <compare>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace restart {

class StepContext;

// In order of preference among those that account for equally many symptoms.
enum class CulpritKind { switch_, rail, rack, unit, link, driver };

struct Culprit {
    CulpritKind kind = CulpritKind::switch_;
    std::string name; // "leaf switch sw3", "rail 3 of unit su2", "rack r7", "link n001 mlx5_0:1 - n002
                      // mlx5_0:1", "driver of the GPUs"
    auto operator<=>(const Culprit&) const = default;
};

struct Symptom {
    std::string key;  // "n001 ib.link_down@mlx5_3:1"; from a sweep, `part`
    std::string part; // the part of the culprit that shows it: "n001 mlx5_3:1", "n001"
    std::string host; // empty: none
    base::Time since{};
    std::vector<Culprit> accused;
    bool explained = false; // by an open incident of a common cause
};

struct Accused {
    Culprit culprit;
    std::vector<const Symptom*> by;
    std::set<std::string> parts, hosts;
    std::size_t all = 0; // its parts
};

// All symptoms that hold now, by host.
std::vector<Symptom> look_for_symptoms(const StepContext& ctx);

// Symptoms of one cause begin within this time of the first: hosts that have been slow since yesterday and
// those that are slow since now have two faults.
inline constexpr base::Duration one_cause_within{300'000};

// Everything they blame, with the number of parts of each; pointers are into `symptoms`. Cost: O(hosts) if
// there are any.
std::map<Culprit, Accused> accuse(const StepContext& ctx, const std::vector<Symptom>& symptoms);

// Whether enough of its parts blame it.
bool is_culprit(const State& state, const Accused& accused);

// Whether others may have the same fault: a port that the fabric file knows, a GPU of a host in a rack, a
// missing GPU.
bool may_have_company(const Policy& policy, const std::string& name, const HostState& host,
                      const Finding& finding);

} // namespace restart
