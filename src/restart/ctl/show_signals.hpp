// railctl signals: which of a host's signals are wanted, and what is said where they are not at hand.
#pragma once

#include "base/expected.hpp"
#include "base/terminal.hpp"
#include "restart/wire/signals.hpp"

#include <string>

namespace restart {

struct SignalFilter {
    std::string component; // "gpu3", "mlx5_0:1", or "mlx5_0" for all of its ports; empty: any
    std::string rule;      // a rule's or signal's name, or what comes before a '.' or '#' of it; empty: any
};

// The rows that fit, and their rules alone. Errors: Code::not_found when none does.
base::Expected<HostSignals> only(const HostSignals& signals, const SignalFilter& filter);

// Whether some finding holds.
bool holds_any(const HostSignals& signals);

// How long ago the signals came, and the table.
std::string show(const SignalsAnswer& answer, const base::Look& look = {});

// The same of those alone that are not as they should be, without conditions and sources, and how many others
// there are.
std::string show_notable(const SignalsAnswer& answer, const base::Look& look = {});

// Why the signals are not fresh, and the way out; empty: they are.
std::string why_not(const SignalsAnswer& answer);

} // namespace restart
