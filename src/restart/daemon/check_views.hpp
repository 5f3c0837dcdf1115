// What checks said of hosts, and what stands out by it (wire/checks.hpp). Pure.
//
// The rules: a part is below the fleet where its value is less than nine tenths of the median of the same
// check and component on all hosts, of which there are eight at least; it falls where its value is less than
// nine tenths of the median of its own earlier readings, of which there are three at least, before it is bad
// by any other. Of times the reciprocals are compared. Nine tenths is what railcheck(8) asks of a host's GPUs
// among themselves. What several users' checks, or an idle check, find bad is avoided
// (core/detect/agreed_checks.hpp).
#pragma once

#include "restart/core/state.hpp"
#include "restart/wire/checks.hpp"

#include <string_view>

namespace restart {

// `host`: this one alone; empty: all. Linear in what is kept of all hosts.
Checks checks_of(const State& state, base::Time now, std::string_view host);

} // namespace restart
