// Distributes a gang over domains, units and pods, each of which keeps groups of ranks whole, without a
// search: it decides exactly whether the gang fits, even if required hosts may be spares, and gives a place
// if there is no time to search for the best. Internal to src/sched.
//
// The number of required hosts that each additional group of a part includes decreases: first whole groups of
// them, then a remainder, then none. Such parts are joined by taking the best groups of all of them, and the
// result decreases in the same way, even if only every n-th number of groups is allowed. So the first groups
// of the whole leave the fewest required hosts to be spares (a convolution of concave sequences, which is a
// merge).
#pragma once

#include "sched/search/nested_parts.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace sched {

// What is used of a part (NestedParts::all).
struct Portion {
    std::uint32_t part = 0, ranks = 0, spares = 0;
};

class NestedDeal {
public:
    // Both are referenced and must outlive this.
    NestedDeal(const Loads& loads, const NestedParts& parts);

    // The largest gang with this many spares, at most `most` in total, in units [first, first + size): one
    // unit, or whole pods. 0: none that includes all required hosts.
    std::uint32_t largest(std::uint32_t first, std::uint32_t size, std::uint32_t spares, std::uint32_t most);
    // The smallest gang with this many spares that includes all required hosts; 0: there is none.
    std::uint32_t least(std::uint32_t spares);

    // A place for ranks, a multiple of Steps::whole, and spares in these units, largest parts first;
    // ascending. nullopt: they do not fit.
    std::optional<std::vector<Portion>> place(std::uint32_t first, std::uint32_t size, std::uint32_t ranks,
                                              std::uint32_t spares);

private:
    // A group of ranks: how many required hosts it includes, and the child that contains it.
    struct Group {
        std::uint32_t gain = 0, child = 0;
    };
    struct Node {
        std::uint32_t hosts = 0, required = 0;
        std::uint32_t each = 1; // groups of the children in one group of this node
        std::vector<std::uint32_t> children;
        std::vector<Group> groups;       // of the children, best first
        std::vector<std::uint32_t> gain; // by group of this node
        std::uint32_t part = ~std::uint32_t{0};
    };

    std::uint32_t add_part(std::uint32_t part);
    std::uint32_t join(std::vector<std::uint32_t> children, std::uint32_t each);
    std::uint32_t add_unit(std::uint32_t unit);
    std::uint32_t root_of(std::uint32_t first, std::uint32_t size);
    void deal(std::uint32_t node, std::uint32_t groups, std::vector<Portion>& portions) const;
    void deal_spares(std::uint32_t spares, std::vector<Portion>& portions) const;

    const Loads& loads_;
    const NestedParts& parts_;
    std::vector<Node> nodes_;
};

} // namespace sched
