// What the agent tells when it is asked for its signals: the judge's view as a body of the protocol, within
// the protocol's bounds whatever the host, its kernel log and the site's rules hold. Pure.
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
    base::Duration wall_offset{};         // of the time of day from that clock
    std::map<std::string, bool> watching; // by source (Reading::watching)
    std::vector<std::string> not_watching;
};

// One row a rule and component. Events that are not there have one row for all of their rules.
HostSignals signal_table(const SignalTableOf& of, const std::vector<RuleView>& views);

} // namespace restart
