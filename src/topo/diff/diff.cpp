#include "topo/diff/diff.hpp"

#include "base/hostlist.hpp"
#include "topo/diff/report.hpp"
#include "topo/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace topo {

std::vector<Change> diff(const Fabric& before, const Fabric& after) {
    std::vector<Change> changes;
    const auto match = drift::match(before, after);
    const auto cables = drift::compare_cables(before, after, match);
    std::vector<int> unit_of_leaf(before.switches.size(), none);
    for (std::size_t u = 0; u < before.units.size(); ++u)
        for (const int leaf : before.units[u].leaves)
            if (leaf != none) unit_of_leaf[at(leaf)] = static_cast<int>(u);
    const drift::Report report{before, after, match, unit_of_leaf, changes};
    drift::report_hosts(report);
    drift::report_hcas(report);
    drift::report_switches(report, cables);
    drift::report_cables(report, cables);
    drift::report_links(report, cables);
    std::stable_sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
        if (a.code != b.code) return a.code < b.code;
        return a.ends.front() != b.ends.front() ? base::natural_less(a.ends.front(), b.ends.front())
                                                : a.text < b.text;
    });
    return changes;
}

End drift::Report::now(const End& old) const {
    if (old.switch_ != none) return {none, none, match.switch_after[at(old.switch_)], old.port};
    const HcaAt hca = match.hca_after[at(old.host)][at(old.hca)];
    return {hca.host, hca.hca, none, old.port};
}

std::string drift::Report::old_end(const End& old) const {
    const End end = now(old);
    return end.host == none && end.switch_ == none ? end_name(before, old) : end_name(after, end);
}

std::string drift::Report::unit_name(int unit) const {
    std::map<int, std::size_t> votes; // by unit of `before` that had the leaf
    for (const int leaf : after.units[at(unit)].leaves) {
        const int old = leaf == none ? none : match.switch_before[at(leaf)];
        if (old != none && unit_of_leaf[at(old)] != none) ++votes[unit_of_leaf[at(old)]];
    }
    const auto most = std::max_element(votes.begin(), votes.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == votes.end() ? after.units[at(unit)].name : before.units[at(most->first)].name;
}

void drift::report_renamed(const Report& report, const std::string& code, const Renamed& renamed,
                           std::string_view mark) {
    std::vector<std::pair<std::string, std::string>> rest;
    std::set<std::string> told;
    for (const auto& [old, now] : renamed) {
        if (told.contains(old)) continue;
        // From name to name, until the first one is reached again.
        std::vector<std::string> ring{old};
        for (auto next = renamed.find(now); next != renamed.end() && renamed.count(next->first) == 1 &&
                                            next->first != old && ring.size() <= renamed.size();
             next = renamed.find(next->second))
            ring.push_back(next->first);
        if (ring.size() > 1 && renamed.find(ring.back())->second == old) {
            told.insert(ring.begin(), ring.end());
            const auto text =
                ring.size() == 2
                    ? fmt::format("{} and {} have exchanged their names, not their {}", ring[0], ring[1],
                                  mark)
                    : fmt::format(
                          "{} have rotated their names, not their {}: each is called as the next one was",
                          fmt::join(ring, ", "), mark);
            report.add(code, std::move(ring), text);
        } else {
            rest.emplace_back(old, now);
        }
    }
    // If at least half of them changed, it is one change: they were renamed.
    constexpr std::size_t single = 3;
    const auto all = code.starts_with("host") ? report.before.hosts.size() : report.before.switches.size();
    if (rest.size() <= single || rest.size() * 2 < all) {
        for (const auto& [old, now] : rest)
            report.add(code, {old, now},
                       fmt::format("{} is now called {}, with the same {}", old, now, mark));
        return;
    }
    std::vector<std::string> ends, olds, names; // of the new ones, each once
    for (const auto& [old, now] : rest) {
        ends.insert(ends.end(), {old, now});
        olds.push_back(old);
        if (std::find(names.begin(), names.end(), now) == names.end()) names.push_back(now);
    }
    report.add(code, std::move(ends),
               fmt::format("{} have other names, with the same {}: {} are now called {}", rest.size(), mark,
                           base::fold_hostlist(olds), base::fold_hostlist(names)));
}

} // namespace topo
