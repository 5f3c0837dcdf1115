// What is unusual in check results before any check finds the part bad. Pure.
//
// A part is below the fleet if its value is less than nine tenths of the median of the same check and
// component on all hosts, of which there must be at least eight. It falls if its value is less than nine
// tenths of the median of its own earlier readings, of which there must be at least three. For times the
// reciprocals are compared. Nine tenths is what railcheck(8) requires of a host's GPUs among themselves; for
// disks, which others use too, it is half.
#pragma once

#include "restart/core/facts/state.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace restart {

// By check and component, where enough hosts have it. Refers to the state.
using CheckMedians = std::map<std::pair<std::string_view, std::string_view>, double>;
// Linear in what is kept of all hosts.
CheckMedians check_medians(const State& state);

struct CheckSigns {
    std::optional<double> fleet, before; // the medians; none: too few
    std::vector<std::string> phrases;    // "falls: 84 % of what it was"; empty: nothing unusual
};
// For the last reading, or for the one `back` readings earlier, as it was then except for the fleet.
CheckSigns check_signs(const KnownCheck& known, const CheckMedians& medians, std::size_t back = 0);

} // namespace restart
