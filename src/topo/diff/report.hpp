// The sentences of diff(), by subject. Internal to src/topo/diff.
#pragma once

#include "topo/diff/cables.hpp"
#include "topo/diff/diff.hpp"
#include "topo/diff/match.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace topo::drift {

// What they all compare, and where they add the changes found.
struct Report {
    const Fabric& before;
    const Fabric& after;
    const Match& match;
    const std::vector<int>& unit_of_leaf; // units of `before`, by its switches
    std::vector<Change>& changes;

    // The same end in `after`; host and switch_ are none if it does not exist.
    End now(const End& old) const;
    // By the current name, or the last one if it is gone.
    std::string old_end(const End& old) const;
    // Units are renumbered with every change: a unit of `after` by its previous name.
    std::string unit_name(int unit) const;

    void add(std::string code, std::vector<std::string> ends, std::string text) const {
        changes.push_back({std::move(code), std::move(ends), std::move(text)});
    }
};

void report_hosts(const Report& report); // added, removed and renamed hosts and units
void report_hcas(const Report& report);  // HCAs, and facts about hosts
void report_switches(const Report& report, const Cables& cables); // and how replaced ones are cabled
void report_cables(const Report& report, const Cables& cables);   // moved, added and removed
void report_links(const Report& report, const Cables& cables);    // states and rates of remaining cables

// Old and new names; two things that have exchanged names are one change. `mark` is how they are identified.
using Renamed = std::multimap<std::string, std::string>;
void report_renamed(const Report& report, const std::string& code, const Renamed& renamed,
                    std::string_view mark);

// Switches added or removed with all hosts of a unit or pod, which are reported there. By switch of `fabric`;
// `there`: its hosts that are in the other fabric.
std::vector<char> switches_of_whole_units(const Fabric& fabric, const std::vector<int>& there,
                                          const std::vector<int>& switch_there);

} // namespace topo::drift
