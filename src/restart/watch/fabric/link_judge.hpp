// Judges links by what sweeps saw and read of both of their ends: the rules over the signals, and one finding
// a rule and link, which names both ends and who suffers. Pure.
#pragma once

#include "restart/watch/fabric/link_signals.hpp"
#include "restart/watch/rules/rule_book.hpp"
#include "restart/wire/report.hpp"

#include <span>
#include <string>
#include <vector>

namespace restart {

// Where a finding is: its ends, rail, unit, pod and hosts. The rest is left empty.
LinkFinding place_of(const LinkMap& map, const LinkComponent& what);

class LinkJudge {
public:
    // Of [throttle] in `limits` only `clear` has a meaning here; `interval` is that of sweeps.
    LinkJudge(const topo::Fabric& file, const RuleSet& rules, const Limits& limits);

    // Other rules from now on; what has been seen stays (RuleBook::set).
    void set_rules(const RuleSet& rules, const Limits& limits) { book_.set(rules, limits); }

    // Whether it judges the links of this file: then it need not begin anew.
    bool judges(const topo::Fabric& file) const { return LinkMap(file) == signals_.map(); }

    // One sweep; `now` is of a clock that never steps, and so is `since` of findings. At most
    // most_link_findings, the worst first.
    std::vector<LinkFinding> judge(base::Time now, std::span<const SeenEnd> seen,
                                   std::span<const PortReading> readings);

private:
    LinkFinding whole(const Finding& finding) const;
    std::vector<Finding> without_what_is_explained(std::vector<Finding> findings) const;

    LinkSignals signals_;
    RuleBook book_;
};

// What is new in `after`, and what is gone, a sentence each, for the log; with the hosts.
std::vector<std::string> news(const std::vector<LinkFinding>& before, const std::vector<LinkFinding>& after);

} // namespace restart
