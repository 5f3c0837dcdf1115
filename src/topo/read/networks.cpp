#include "topo/read/networks.hpp"

#include "topo/names.hpp"
#include "topo/sets.hpp"

#include <algorithm>
#include <utility>

namespace topo {
namespace {

// Depth-first search for cables without which a part would be cut off (Tarjan's bridges), on a stack of its
// own: a chain of switches may be long.
class Search {
public:
    struct Bridge {
        std::size_t link;
        int below; // the switch at its end that is farther from where the search began
    };

    std::vector<Bridge> bridges;
    std::vector<int> first,
        last;              // of what is reached through a switch: its numbers in the order of the search
    std::vector<int> root; // the switch at which the search of its part began

    explicit Search(const Fabric& fabric)
        : first(fabric.switches.size(), none), last(first), root(first), cables_(fabric.switches.size()) {
        for (std::size_t l = 0; l < fabric.links.size(); ++l) {
            const int a = fabric.links[l].a.switch_, b = fabric.links[l].b.switch_;
            if (a == none || b == none || a == b) continue;
            cables_[at(a)].emplace_back(b, l);
            cables_[at(b)].emplace_back(a, l);
        }
        std::vector<int> lowest(cables_.size(), none);
        for (int s = 0; at(s) < cables_.size(); ++s)
            if (first[at(s)] == none) visit(s, lowest);
    }

private:
    struct Step {
        int here;
        std::size_t by;       // the link that led here
        std::size_t next = 0; // cable to look at
    };
    static constexpr std::size_t no_link = ~std::size_t{0};

    void visit(int start, std::vector<int>& lowest) {
        std::vector<Step> stack;
        const auto enter = [&](int s, std::size_t by) {
            first[at(s)] = lowest[at(s)] = seen_++;
            root[at(s)] = start;
            stack.push_back({s, by});
        };
        enter(start, no_link);
        while (!stack.empty()) {
            Step& step = stack.back();
            const int here = step.here;
            if (step.next < cables_[at(here)].size()) {
                const auto [there, link] = cables_[at(here)][step.next++];
                if (link == step.by) continue;
                if (first[at(there)] == none)
                    enter(there, link);
                else
                    lowest[at(here)] = std::min(lowest[at(here)], first[at(there)]);
                continue;
            }
            last[at(here)] = seen_;
            const auto by = step.by;
            stack.pop_back();
            if (stack.empty()) continue;
            const int above = stack.back().here;
            lowest[at(above)] = std::min(lowest[at(above)], lowest[at(here)]);
            if (lowest[at(here)] > first[at(above)]) bridges.push_back({by, here});
        }
    }

    std::vector<std::vector<std::pair<int, std::size_t>>> cables_; // by switch: the other, the link
    int seen_ = 0;
};

} // namespace

std::vector<int> networks_of(const Fabric& fabric, const std::vector<std::map<int, std::size_t>>& on_leaf) {
    constexpr std::size_t most_devices = 64; // more are no devices but names made to differ
    const Search search(fabric);
    if (on_leaf.size() > most_devices) return search.root;
    std::vector<char> apart(search.bridges.size(), 1);
    std::vector<char> both(search.bridges.size(), 0); // HCAs on either side
    for (const auto& leaves : on_leaf) {
        std::vector<std::size_t> before(fabric.switches.size() + 1, 0); // in the order of the search
        for (const auto& [leaf, hcas] : leaves)
            before[at(search.first[at(leaf)]) + 1] += hcas;
        for (std::size_t i = 1; i < before.size(); ++i)
            before[i] += before[i - 1];
        const auto through = [&](int s) {
            return before[at(search.last[at(s)])] - before[at(search.first[at(s)])];
        };
        for (std::size_t b = 0; b < apart.size(); ++b) {
            const int below = search.bridges[b].below;
            const auto inside = through(below), all = through(search.root[at(below)]);
            if (std::min(inside, all - inside) * 10 > all) apart[b] = 0;
            both[b] = static_cast<char>(both[b] | (inside > 0 ? 1 : 0) | (all > inside ? 2 : 0));
        }
    }
    std::vector<std::size_t> cut;
    for (std::size_t b = 0; b < apart.size(); ++b)
        if (apart[b] != 0 && both[b] == 3) cut.push_back(search.bridges[b].link);
    std::sort(cut.begin(), cut.end());
    Sets joined(fabric.switches.size());
    for (std::size_t l = 0; l < fabric.links.size(); ++l) {
        const Link& link = fabric.links[l];
        if (link.a.switch_ != none && link.b.switch_ != none &&
            !std::binary_search(cut.begin(), cut.end(), l))
            joined.join(link.a.switch_, link.b.switch_);
    }
    std::vector<int> networks;
    for (int s = 0; at(s) < fabric.switches.size(); ++s)
        networks.push_back(joined.find(s));
    return networks;
}

} // namespace topo
