#include "topo/read/networks.hpp"

#include "topo/names.hpp"
#include "topo/sets.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace topo {
namespace {

// Depth-first search for pairs of switches whose cables are the only connection to a part (Tarjan's bridges),
// with an explicit stack: a chain of switches may be long.
class Search {
public:
    struct Bridge {
        int above, below; // the latter is farther from the start of the search
    };

    std::vector<Bridge> bridges;
    std::vector<int> first,
        last;              // for the part reached through a switch: its numbers in search order
    std::vector<int> root; // the switch where the search of its part began

    explicit Search(const Fabric& fabric)
        : first(fabric.switches.size(), none), last(first), root(first), cables_(fabric.switches.size()) {
        for (const Link& link : fabric.links) {
            const int a = link.a.switch_, b = link.b.switch_;
            if (a == none || b == none || a == b) continue;
            cables_[at(a)].push_back(b);
            cables_[at(b)].push_back(a);
        }
        std::vector<int> lowest(cables_.size(), none);
        for (int s = 0; at(s) < cables_.size(); ++s)
            if (first[at(s)] == none) visit(s, lowest);
    }

private:
    struct Step {
        int here;
        int from;             // the switch that led here
        std::size_t next = 0; // next cable to examine
    };

    void visit(int start, std::vector<int>& lowest) {
        std::vector<Step> stack;
        const auto enter = [&](int s, int from) {
            first[at(s)] = lowest[at(s)] = seen_++;
            root[at(s)] = start;
            stack.push_back({s, from});
        };
        enter(start, none);
        while (!stack.empty()) {
            Step& step = stack.back();
            const int here = step.here;
            if (step.next < cables_[at(here)].size()) {
                const int there = cables_[at(here)][step.next++];
                if (there == step.from) continue;
                if (first[at(there)] == none)
                    enter(there, here);
                else
                    lowest[at(here)] = std::min(lowest[at(here)], first[at(there)]);
                continue;
            }
            last[at(here)] = seen_;
            stack.pop_back();
            if (stack.empty()) continue;
            const int above = stack.back().here;
            lowest[at(above)] = std::min(lowest[at(above)], lowest[at(here)]);
            if (lowest[at(here)] > first[at(above)]) bridges.push_back({above, here});
        }
    }

    std::vector<std::vector<int>> cables_; // by switch: its neighbours
    int seen_ = 0;
};

// The number of HCAs of a device on either side of a pair of switches.
struct Sides {
    std::size_t inside = 0, outside = 0;
    std::size_t all() const { return inside + outside; }
    std::size_t fewer() const { return std::min(inside, outside); }
};

class Counts {
public:
    std::size_t hosts; // their class

    Counts(const Search& search, const ClassDevice& device)
        : hosts(device.hosts), search_(search), before_(search.first.size() + 1, 0) {
        for (const auto& [leaf, hcas] : device.on_leaf)
            before_[at(search.first[at(leaf)]) + 1] += hcas;
        for (std::size_t i = 1; i < before_.size(); ++i)
            before_[i] += before_[i - 1];
    }
    Sides of(const Search::Bridge& bridge) const {
        const auto inside = through(bridge.below);
        return {inside, through(search_.root[at(bridge.below)]) - inside};
    }

private:
    std::size_t through(int s) const {
        return before_[at(search_.last[at(s)])] - before_[at(search_.first[at(s)])];
    }
    const Search& search_;
    std::vector<std::size_t> before_; // in search order
};

// Whether each device is on one side, except for few of its HCAs and of all on that side, and hosts on both.
bool apart(const std::vector<Counts>& devices, const Search::Bridge& bridge) {
    Sides sum;
    std::map<std::size_t, Sides> of_hosts;
    for (const Counts& device : devices)
        for (Sides* sides : {&sum, &of_hosts[device.hosts]}) {
            sides->inside += device.of(bridge).inside;
            sides->outside += device.of(bridge).outside;
        }
    const bool shared = std::any_of(of_hosts.begin(), of_hosts.end(), [](const auto& hosts) {
        return hosts.second.fewer() * 32 > hosts.second.all();
    });
    return shared && std::all_of(devices.begin(), devices.end(), [&](const Counts& device) {
               const auto own = device.of(bridge);
               const auto of = own.inside < own.outside ? sum.inside : sum.outside;
               return own.fewer() * 10 <= std::min(own.all(), of);
           });
}

} // namespace

std::vector<int> networks_of(const Fabric& fabric, const std::vector<ClassDevice>& devices) {
    constexpr std::size_t most_devices = 64; // more are not devices but different names
    const Search search(fabric);
    if (devices.size() > most_devices) return search.root;
    std::vector<Counts> counts;
    for (const ClassDevice& device : devices)
        counts.emplace_back(search, device);
    std::set<std::pair<int, int>> cut;
    for (const auto& bridge : search.bridges)
        if (apart(counts, bridge)) cut.insert(std::minmax({bridge.above, bridge.below}));
    Sets joined(fabric.switches.size());
    for (const Link& link : fabric.links)
        if (link.a.switch_ != none && link.b.switch_ != none &&
            !cut.contains(std::minmax({link.a.switch_, link.b.switch_})))
            joined.join(link.a.switch_, link.b.switch_);
    std::vector<int> networks;
    for (int s = 0; at(s) < fabric.switches.size(); ++s)
        networks.push_back(joined.find(s));
    return networks;
}

} // namespace topo
