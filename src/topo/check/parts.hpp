// The parts of check(): each looks for one kind of fault. Internal to src/topo/check.
#pragma once

#include "topo/check/check.hpp"
#include "topo/nameless.hpp"
#include "topo/names.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace topo::checks {

using Findings = std::vector<Finding>;

class Nameless;
class Plan;

void cabling(const Fabric& fabric, const Plan& plan, Findings& findings); // HCAs on wrong leaves
void hosts(const Fabric& fabric, const Plan& plan, const Nameless& nameless,
           Findings& findings); // rails and ports without a link
void missing(const Fabric& fabric, const Nameless& nameless,
             Findings& findings); // hosts that are not seen, by number and size of units
void missing_units(const Fabric& fabric, Findings& findings); // whole ones, by the numbers of the others
void unnamed(const Fabric& fabric, const Nameless& nameless,
             Findings& findings);                       // cables and leaves of units without a name
void leaves(const Fabric& fabric, Findings& findings);  // missing rails, shared leaves
void order(const Fabric& fabric, Findings& findings);   // rails of whole units in another order
void gpus(const Fabric& fabric, Findings& findings);    // GPUs far from the HCAs of their rails
void uplinks(const Fabric& fabric, Findings& findings); // crossed, missing and too few uplinks
void links(const Fabric& fabric, Findings& findings);   // down, slow and narrow links
void storage(const Fabric& fabric, const Plan& plan,
             Findings& findings);                        // HCAs and cables of storage networks
void vanished(const Fabric& fabric, Findings& findings); // spines and cores to which nothing leads any more
void strays(const Fabric& fabric, Findings& findings);   // cables between switches that do not fit a tree
void names(const Fabric& fabric, const Nameless& nameless,
           Findings& findings);                         // duplicates, nameless HCAs, hosts without facts
void domains(const Fabric& fabric, Findings& findings); // NVLink domains that are not in one unit
void parts(const Fabric& fabric, Findings& findings);   // disconnected fabrics, oversubscription

// Whether hosts lack rails because they were built like this: several hosts, and at least half of the rails.
bool of_another_make(std::size_t lacking, std::size_t of, std::size_t hosts);

// An HCA whose description does not identify it: nameless, or with the name of another one in its host.
bool unidentified(const Host& host, const Hca& hca);

// Rails that the unit has.
std::size_t rails_of(const Unit& unit);
// Whether some of them have a leaf in common.
bool shares_leaves(const Unit& unit);

// The port of its leaf that an HCA's cable is in.
inline int switch_port(const Fabric& fabric, const HcaPort& port) {
    const Link& link = fabric.links[at(port.link)];
    return link.a.switch_ == port.leaf ? link.a.port : link.b.port;
}

// The end of a link that is not `here`.
inline const End& other_end(const Link& link, const End& here) {
    return link.a == here ? link.b : link.a;
}

// The most common value and its frequency; the larger value wins a tie.
template <class Value> class Mode {
public:
    void add(const Value& value) { ++counts_[value]; }
    bool empty() const { return counts_.empty(); }
    Value value() const { return most()->first; }
    std::size_t count() const { return most()->second; }
    const std::map<Value, std::size_t>& counts() const { return counts_; }
    std::size_t total() const {
        std::size_t sum = 0;
        for (const auto& [value, count] : counts_)
            sum += count;
        return sum;
    }

private:
    auto most() const {
        auto best = counts_.begin();
        for (auto next = counts_.begin(); next != counts_.end(); ++next)
            if (next->second >= best->second) best = next;
        return best;
    }
    std::map<Value, std::size_t> counts_;
};

} // namespace topo::checks
