// The sentences of diff(), by what they are about. Internal to src/topo/diff.
#pragma once

#include "topo/diff/cables.hpp"
#include "topo/diff/diff.hpp"
#include "topo/diff/match.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace topo::drift {

// What all of them compare, and where they add the changes they find.
struct Report {
    const Fabric& before;
    const Fabric& after;
    const Match& match;
    const std::vector<int>& unit_of_leaf; // units of before, by its switches
    std::vector<Change>& changes;

    // The same end in `after`; host and switch_ are none when it is not there.
    End now(const End& old) const;
    // By the name things have now, or had if they are gone.
    std::string old_end(const End& old) const;
    // Units are renumbered with every change: a unit of `after` by the name it had.
    std::string unit_name(int unit) const;

    void add(std::string code, std::vector<std::string> ends, std::string text) const {
        changes.push_back({std::move(code), std::move(ends), std::move(text)});
    }
};

void report_hosts(const Report& report); // hosts and units that came, went, were renamed
void report_hcas(const Report& report);  // HCAs, and what is known of hosts
void report_switches(const Report& report, const Cables& cables); // and how replaced ones were plugged
void report_cables(const Report& report, const Cables& cables);   // that moved, came and went
void report_links(const Report& report, const Cables& cables);    // states and rates of cables still there

// Old and new names; two things that have each other's are one change. `mark` is what they are known by.
using Renamed = std::multimap<std::string, std::string>;
void report_renamed(const Report& report, const std::string& code, const Renamed& renamed,
                    std::string_view mark);

// Which switches come or go with a unit or pod of which all hosts do; reported there. By switch of `fabric`,
// with `there` the hosts (by host of `fabric`) that the other fabric has.
std::vector<char> switches_of_whole_units(const Fabric& fabric, const std::vector<int>& there,
                                          const std::vector<int>& switch_there);

} // namespace topo::drift
