// What stands out of what checks said, before any check finds it bad. Pure.
//
// A part is below the fleet where its value is less than nine tenths of the median of the same check and
// component on all hosts, of which there are eight at least; it falls where its value is less than nine
// tenths of the median of its own earlier readings, of which there are three at least. Of times the
// reciprocals are compared. Nine tenths is what railcheck(8) asks of a host's GPUs among themselves; of
// disks, on which others work too, it is half.
#pragma once

#include "restart/core/facts/state.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace restart {

// Of check and component, where enough hosts have it. Refers to the state.
using CheckMedians = std::map<std::pair<std::string_view, std::string_view>, double>;
// Linear in what is kept of all hosts.
CheckMedians check_medians(const State& state);

struct CheckSigns {
    std::optional<double> fleet, before; // the medians; none: too few
    std::vector<std::string> phrases;    // "falls: 84 % of what it was"; none: nothing stands out
};
// Of the last reading, or, `back` readings earlier, of that one as it was then but for the fleet.
CheckSigns check_signs(const KnownCheck& known, const CheckMedians& medians, std::size_t back = 0);

} // namespace restart
