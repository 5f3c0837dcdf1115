// The agent's answer to a request for its signals: the judge's view as a message of the protocol, within the
// limits of the protocol whatever the host, its kernel log and the site's rules contain. Pure.
#pragma once

#include "base/clock.hpp"
#include "restart/watch/rules/rule_view.hpp"
#include "restart/wire/signals.hpp"

#include <map>
#include <string>
#include <vector>

namespace restart {

struct SignalTableOf {
    std::string host;
    base::Time now{};                     // on the judge's clock
    base::Duration wall_offset{};         // time of day minus that clock
    std::map<std::string, bool> watching; // by source (Reading::watching)
    std::vector<std::string> not_watching;
};

// One row per rule and component. The rules of an event that did not occur share one row.
HostSignals signal_table(const SignalTableOf& of, const std::vector<RuleView>& views);

} // namespace restart
