// The best use of each part of a fabric for each number of hosts. Internal to src/sched.
//
// A table has a cell for each (ranks, spares, idle hosts). That of a domain is the cost of its best hosts;
// that of a unit the best sum over its domains, that of a pod over its units, that of everything over the
// pods (min-plus convolutions). Parts whose hosts look the same share a table.
#pragma once

#include "sched/search/found.hpp"
#include "sched/search/loads.hpp"
#include "sched/search/nested_parts.hpp"

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sched {

// Added member by member, compared in order; the halves of a word do not overflow.
struct NestedCost {
    std::uint64_t parts = 0; // pods 20, units 20, domains 24 bits
    std::uint64_t avoidance = 0;
    std::uint64_t broken = 0; // domains, units: 32 bits each
    std::uint64_t left = 0;   // in domains, in units
    auto operator<=>(const NestedCost&) const = default;
};
inline NestedCost operator+(const NestedCost& a, const NestedCost& b) {
    return {a.parts + b.parts, a.avoidance + b.avoidance, a.broken + b.broken, a.left + b.left};
}

// The cost of this many hosts of a part besides their penalties, in domains.
NestedCost part_cost(const PlacementIndex& index, const NestedPart& part, std::uint32_t hosts);

class NestedProgram {
public:
    // `steps` of the gang's ranks, which are a multiple of steps.whole.
    NestedProgram(const Loads& loads, std::uint32_t ranks, std::uint32_t spares);

    const NestedParts& parts() const { return parts_; }
    // Parts of equal size for which this is true have the same table.
    bool plain(const NestedPart& part) const { return part.plain && !loads_.idle_bound(); }

    // The limit of total work; once it is reached, no tables are made and the answers are nullopt.
    void allow(std::uint64_t work) { allowed_ = work; }
    std::uint64_t done() const { return done_; }
    bool stopped() const { return done_ > allowed_; }

    // The best use that holds all ranks and spares in one domain of a unit, one unit, one pod, or pods
    // [first, first + size); the cost, or nullopt if there is none.
    std::optional<NestedCost> in_domain(std::uint32_t unit);
    std::optional<NestedCost> in_unit(std::uint32_t unit);
    std::optional<NestedCost> in_pod(std::uint32_t pod);
    std::optional<NestedCost> in_pods(std::uint32_t first, std::uint32_t size);
    // From these units, as many hosts as there are ranks, without spares and the steps of pods: the best use
    // of a given part.
    std::optional<NestedCost> among(const std::vector<std::uint32_t>& units);

    // Adds the parts of the last answer.
    void collect(std::vector<Share>& shares) const { collect(last_, cell_, shares); }

private:
    struct Extent {
        std::uint32_t ranks = 0, spares = 0, idle = 0; // the largest of each; ranks in steps of the domain
        std::size_t cells() const {
            return (std::size_t{ranks} + 1) * (std::size_t{spares} + 1) * (std::size_t{idle} + 1);
        }
    };
    struct Option { // a cell of a table that is used in another
        Extent at;
        std::size_t cell = 0;
        NestedCost cost;
    };
    // A table, and the components of each of its cells.
    struct Table {
        Extent extent;
        std::vector<NestedCost> cost;
        std::vector<Option> options;                   // cells that are not infinite
        std::vector<std::vector<std::uint32_t>> picks; // by child, by cell: the child's cell
    };
    // A part with its table: parts with the same look share it.
    struct Node {
        std::uint32_t table = 0;
        std::uint32_t part = ~std::uint32_t{0}; // index in parts_.all, if it is one
        std::vector<std::uint32_t> children;    // nodes
    };

    static std::size_t cell_of(const Extent& extent, const Extent& at) {
        return (std::size_t{at.ranks} * (extent.spares + 1) + at.spares) * (extent.idle + 1) + at.idle;
    }
    static Extent at_cell(const Extent& extent, std::size_t cell);

    std::uint32_t node_of_part(std::uint32_t part);
    std::uint32_t node_of_unit(std::uint32_t unit);
    std::uint32_t node_of_pod(std::uint32_t pod);
    template <class More>
    std::uint32_t node_of(std::vector<std::uint32_t> children, std::uint32_t candidates, std::uint32_t step,
                          const std::string& look, More more);
    std::uint32_t join(std::vector<std::uint32_t> children, Extent extent);
    void fill_part(Table& table, const NestedPart& part) const;
    void list_options(Table& table) const;
    std::uint32_t keep(Table table, std::uint32_t part, std::vector<std::uint32_t> children,
                       const std::string& look);
    std::optional<NestedCost> best_of(std::uint32_t node);
    void collect(std::uint32_t node, std::size_t cell, std::vector<Share>& shares) const;
    std::uint32_t hosts_at(const Extent& at) const { return at.ranks * steps_.domain + at.spares; }

    static constexpr NestedCost infinite{~std::uint64_t{0}, 0, 0, 0};

    const Loads& loads_;
    const Steps steps_;
    const Extent whole_; // of the gang
    const NestedParts& parts_;
    std::vector<Table> tables_;
    std::vector<Node> nodes_;
    std::vector<std::int64_t> unit_node_, pod_node_; // below 0: not created yet
    std::map<std::string, std::uint32_t> known_;     // tables by the look of their parts
    std::uint64_t allowed_ = ~std::uint64_t{0}, done_ = 0;
    std::uint32_t last_ = 0;
    std::size_t cell_ = 0;
};

} // namespace sched
