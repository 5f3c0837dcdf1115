// railctl signals: which of a host's signals are requested, and what is printed when they are not available.
#pragma once

#include "base/expected.hpp"
#include "base/terminal.hpp"
#include "restart/wire/signals.hpp"

#include <string>

namespace restart {

struct SignalFilter {
    std::string component; // "gpu3", "mlx5_0:1", or "mlx5_0" for all of its ports; empty: any
    std::string rule;      // a rule's or signal's name, or the part of it before a '.' or '#'; empty: any
};

// Only the matching rows, and their rules. Errors: Code::not_found when there are none.
base::Expected<HostSignals> only(const HostSignals& signals, const SignalFilter& filter);

// Whether some finding holds.
bool holds_any(const HostSignals& signals);

// How long ago the signals came, and the table.
std::string show(const SignalsAnswer& answer, const base::Look& look = {});

// Only those that are not in order, without conditions and sources, and the number of the others.
std::string show_notable(const SignalsAnswer& answer, const base::Look& look = {});

// Why the signals are not fresh, and what to do; empty: they are.
std::string why_not(const SignalsAnswer& answer);

} // namespace restart
