// What checks reported about hosts (wire/checks.hpp), what is unusual in it (core/detect/check_signs.hpp),
// and what placement avoids for it (core/detect/agreed_checks.hpp). Pure.
#pragma once

#include "restart/core/facts/state.hpp"
#include "restart/wire/checks.hpp"

#include <string_view>

namespace restart {

// `host`: only this one; empty: all. Linear in what is kept of all hosts.
Checks checks_of(const State& state, base::Time now, std::string_view host);

} // namespace restart
