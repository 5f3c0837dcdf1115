// Evaluates links from what sweeps read at both of their ends: applies the rules to the signals, and makes
// one finding per rule and link, with both ends and the affected hosts. Pure.
#pragma once

#include "restart/watch/fabric/link_signals.hpp"
#include "restart/watch/rules/rule_book.hpp"
#include "restart/wire/report.hpp"

#include <span>
#include <string>
#include <vector>

namespace restart {

// The location of a finding: its ends, rail, unit, pod and hosts. Other members are left empty.
LinkFinding place_of(const LinkMap& map, const LinkComponent& what);

class LinkJudge {
public:
    // Of [throttle] in `limits` only `clear` is used; `interval` is that of sweeps.
    LinkJudge(const topo::Fabric& file, const RuleSet& rules, const Limits& limits);

    // Replaces the rules; what has been seen is kept (RuleBook::set).
    void set_rules(const RuleSet& rules, const Limits& limits) { book_.set(rules, limits); }

    // Whether it already judges the links of this file and can be kept.
    bool judges(const topo::Fabric& file) const { return LinkMap(file) == signals_.map(); }

    // Evaluates one sweep; `now`, and `since` of findings, are on a clock that never steps. At most
    // most_link_findings, the worst first.
    std::vector<LinkFinding> judge(base::Time now, std::span<const SeenEnd> seen,
                                   std::span<const PortReading> readings);

private:
    LinkFinding whole(const Finding& finding) const;
    std::vector<Finding> without_what_is_explained(std::vector<Finding> findings) const;

    LinkSignals signals_;
    RuleBook book_;
};

// New findings in `after`, and findings that ended, one sentence each, with the hosts, for the log.
std::vector<std::string> news(const std::vector<LinkFinding>& before, const std::vector<LinkFinding>& after);

} // namespace restart
