#include "sched/search/nested_program.hpp"

#include <algorithm>
#include <numeric>

namespace sched {
namespace {

constexpr std::uint64_t one_pod_more = std::uint64_t{1} << 44, one_unit_more = std::uint64_t{1} << 24;

// Appends a number to the key of a table.
void add_to(std::string& look, std::uint64_t number) {
    look.append(reinterpret_cast<const char*>(&number), sizeof number);
}

} // namespace

NestedCost part_cost(const PlacementIndex& index, const NestedPart& part, std::uint32_t hosts) {
    NestedCost cost;
    if (hosts > 0 && part.joined) {
        const std::uint64_t left = part.free - hosts;
        cost.parts = 1;
        cost.broken = left > 0 && part.free == part.size ? std::uint64_t{1} << 32 : 0;
        cost.left = left << 32;
    } else if (!index.domains.empty()) {
        cost.parts = hosts; // each host counts as its own domain
    }
    return cost;
}

NestedProgram::NestedProgram(const Loads& loads, std::uint32_t ranks, std::uint32_t spares)
    : loads_(loads), steps_(loads.steps()), whole_{ranks / steps_.domain, spares,
                                                   loads.idle_bound() ? loads.idle_limit() : 0},
      parts_(nested_parts(loads)), unit_node_(loads.units().size(), -1),
      pod_node_(loads.index().pods.size(), -1) {}

NestedProgram::Extent NestedProgram::at_cell(const Extent& extent, std::size_t cell) {
    Extent at;
    at.idle = static_cast<std::uint32_t>(cell % (extent.idle + 1));
    cell /= extent.idle + 1;
    at.spares = static_cast<std::uint32_t>(cell % (extent.spares + 1));
    at.ranks = static_cast<std::uint32_t>(cell / (extent.spares + 1));
    return at;
}

// The best hosts of a part for each cell.
void NestedProgram::fill_part(Table& table, const NestedPart& part) const {
    struct Kind {
        std::uint32_t required = 0;
        std::uint64_t forced = 0;
        std::vector<std::uint64_t> sums{0}; // sums over the best others, by count
    } kinds[2];                             // in use and idle, if the latter are bound, else all in the first
    std::vector<std::uint32_t> others[2];
    const auto& index = loads_.index();
    for (auto i = part.first; i < part.first + part.size; ++i) {
        const auto h = index.order[i];
        if (!loads_.candidate(h)) continue;
        const std::size_t kind = loads_.idle_bound() && loads_.idle(h) ? 1 : 0;
        if (loads_.is_required(h)) {
            ++kinds[kind].required;
            kinds[kind].forced += loads_.penalty(h);
        } else {
            others[kind].push_back(loads_.penalty(h));
        }
    }
    for (std::size_t k = 0; k < 2; ++k) {
        std::sort(others[k].begin(), others[k].end());
        for (const auto value : others[k])
            kinds[k].sums.push_back(kinds[k].sums.back() + value);
    }
    const auto add = [&](std::uint32_t count, const Kind& kind, std::uint64_t& sum) {
        if (count < kind.required || count - kind.required >= kind.sums.size()) return false;
        sum += kind.forced + kind.sums[count - kind.required];
        return true;
    };
    for (std::size_t cell = 0; cell < table.cost.size(); ++cell) {
        const auto at = at_cell(table.extent, cell);
        const auto hosts = hosts_at(at);
        NestedCost cost;
        if (hosts > part.candidates || at.idle > hosts || !add(hosts - at.idle, kinds[0], cost.avoidance) ||
            !add(at.idle, kinds[1], cost.avoidance))
            continue;
        table.cost[cell] = cost + part_cost(index, part, hosts);
    }
}

void NestedProgram::list_options(Table& table) const {
    for (std::size_t cell = 0; cell < table.cost.size(); ++cell)
        if (table.cost[cell] != infinite)
            table.options.push_back({at_cell(table.extent, cell), cell, table.cost[cell]});
}

std::uint32_t NestedProgram::keep(Table table, std::uint32_t part, std::vector<std::uint32_t> children,
                                  const std::string& look) {
    list_options(table);
    tables_.push_back(std::move(table));
    const auto index = static_cast<std::uint32_t>(tables_.size() - 1);
    if (!look.empty()) known_.emplace(look, index);
    nodes_.push_back({index, part, std::move(children)});
    return static_cast<std::uint32_t>(nodes_.size() - 1);
}

std::uint32_t NestedProgram::node_of_part(std::uint32_t p) {
    const auto& part = parts_.all[p];
    std::string look;
    if (plain(part)) {
        look = part.joined ? "d" : "h";
        for (const auto number : {part.candidates, part.free, part.size})
            add_to(look, number);
        if (const auto known = known_.find(look); known != known_.end()) {
            nodes_.push_back({known->second, p, {}});
            return static_cast<std::uint32_t>(nodes_.size() - 1);
        }
    }
    Table table;
    table.extent = {std::min(whole_.ranks, part.candidates / steps_.domain),
                    std::min(whole_.spares, part.candidates), std::min(whole_.idle, part.candidates)};
    table.cost.assign(table.extent.cells(), infinite);
    done_ += 8 * table.cost.size() + part.size;
    fill_part(table, part);
    return keep(std::move(table), p, {}, look);
}

// The sums over the children, each used in one of the ways in its table.
std::uint32_t NestedProgram::join(std::vector<std::uint32_t> children, Extent extent) {
    Table table;
    table.extent = extent;
    table.cost.assign(extent.cells(), infinite);
    table.cost[0] = {};
    Extent reached;
    for (const auto child : children) {
        const auto& below = tables_[nodes_[child].table];
        auto& picks = table.picks.emplace_back(table.cost.size(), 0);
        std::vector<NestedCost> next(table.cost.size(), infinite);
        const auto limit = [](std::uint32_t a, std::uint32_t b, std::uint32_t most) {
            return static_cast<std::uint32_t>(std::min<std::uint64_t>(std::uint64_t{a} + b, most));
        };
        for (std::uint32_t a = 0; a <= reached.ranks; ++a)
            for (std::uint32_t b = 0; b <= reached.spares; ++b)
                for (std::uint32_t c = 0; c <= reached.idle; ++c) {
                    const auto from = cell_of(extent, {a, b, c});
                    if (table.cost[from] == infinite) continue;
                    done_ += 2 + 3 * below.options.size();
                    if (stopped()) return 0;
                    for (const auto& option : below.options) {
                        if (a + option.at.ranks > extent.ranks) break;
                        if (b + option.at.spares > extent.spares || c + option.at.idle > extent.idle)
                            continue;
                        const auto to = from + cell_of(extent, option.at);
                        const auto sum = table.cost[from] + option.cost;
                        if (sum >= next[to]) continue;
                        next[to] = sum;
                        picks[to] = static_cast<std::uint32_t>(option.cell);
                    }
                }
        table.cost = std::move(next);
        reached = {limit(reached.ranks, below.extent.ranks, extent.ranks),
                   limit(reached.spares, below.extent.spares, extent.spares),
                   limit(reached.idle, below.extent.idle, extent.idle)};
    }
    tables_.push_back(std::move(table));
    nodes_.push_back(
        {static_cast<std::uint32_t>(tables_.size() - 1), ~std::uint32_t{0}, std::move(children)});
    return static_cast<std::uint32_t>(nodes_.size() - 1);
}

// The node of a unit or pod with these children: their sums, if those are whole groups, plus the cost of that
// many of its hosts from `more`. `look`: the key of its table; empty: no other part has the same look.
template <class More>
std::uint32_t NestedProgram::node_of(std::vector<std::uint32_t> children, std::uint32_t candidates,
                                     std::uint32_t step, const std::string& look, More more) {
    if (const auto known = look.empty() ? known_.end() : known_.find(look); known != known_.end()) {
        nodes_.push_back({known->second, ~std::uint32_t{0}, std::move(children)});
        return static_cast<std::uint32_t>(nodes_.size() - 1);
    }
    std::uint64_t ranks = 0;
    for (const auto child : children)
        ranks += tables_[nodes_[child].table].extent.ranks;
    const Extent extent{static_cast<std::uint32_t>(std::min<std::uint64_t>(whole_.ranks, ranks)),
                        std::min(whole_.spares, candidates), std::min(whole_.idle, candidates)};
    const auto node = join(std::move(children), extent);
    if (stopped()) return 0;
    auto& table = tables_[nodes_[node].table];
    for (std::size_t cell = 0; cell < table.cost.size(); ++cell) {
        auto& cost = table.cost[cell];
        const auto at = at_cell(extent, cell);
        const auto hosts = hosts_at(at);
        if (cost == infinite || hosts == 0) continue;
        cost = std::uint64_t{at.ranks} * steps_.domain % step != 0 ? infinite : cost + more(hosts);
    }
    list_options(table);
    if (!look.empty()) known_.emplace(look, nodes_[node].table);
    return node;
}

std::uint32_t NestedProgram::node_of_unit(std::uint32_t u) {
    if (unit_node_[u] >= 0) return static_cast<std::uint32_t>(unit_node_[u]);
    const auto& load = loads_.unit(u);
    std::vector<std::uint32_t> children;
    std::string look = "u";
    bool all_plain = true;
    for (auto p = parts_.first_of[u]; p < parts_.first_of[u + 1]; ++p) {
        children.push_back(node_of_part(p));
        all_plain = all_plain && plain(parts_.all[p]);
        add_to(look, nodes_[children.back()].table);
    }
    add_to(look, load.whole ? 1 : 0);
    const auto node = node_of(
        std::move(children), load.candidates, steps_.unit, all_plain ? look : "", [&](std::uint32_t hosts) {
            const std::uint64_t left = load.free - hosts;
            return NestedCost{one_unit_more, 0, load.whole && left > 0 ? std::uint64_t{1} : 0, left};
        });
    if (!stopped()) unit_node_[u] = node;
    return node;
}

std::uint32_t NestedProgram::node_of_pod(std::uint32_t p) {
    if (pod_node_[p] >= 0) return static_cast<std::uint32_t>(pod_node_[p]);
    const auto& pod = loads_.index().pods[p];
    std::vector<std::uint32_t> children;
    std::string look = "p";
    for (auto u = pod.first; u < pod.first + pod.size; ++u) {
        if (loads_.unit(u).candidates == 0) continue;
        children.push_back(node_of_unit(u));
        if (stopped()) return 0;
        add_to(look, nodes_[children.back()].table); // equal only if units share it
    }
    const auto node =
        node_of(std::move(children), loads_.pod_candidates(p), steps_.pod, look, [](std::uint32_t) {
            return NestedCost{one_pod_more, 0, 0, 0};
        });
    if (!stopped()) pod_node_[p] = node;
    return node;
}

std::optional<NestedCost> NestedProgram::best_of(std::uint32_t node) {
    if (stopped()) return std::nullopt;
    const auto& table = tables_[nodes_[node].table];
    if (whole_.ranks > table.extent.ranks || whole_.spares > table.extent.spares) return std::nullopt;
    auto best = infinite;
    for (std::uint32_t idle = 0; idle <= table.extent.idle; ++idle) {
        const auto cell = cell_of(table.extent, {whole_.ranks, whole_.spares, idle});
        if (table.cost[cell] >= best) continue;
        best = table.cost[cell];
        last_ = node;
        cell_ = cell;
    }
    return best == infinite ? std::nullopt : std::optional(best);
}

std::optional<NestedCost> NestedProgram::in_unit(std::uint32_t unit) {
    const auto node = node_of_unit(unit);
    auto cost = best_of(node);
    if (cost) cost->parts += one_pod_more;
    return cost;
}

std::optional<NestedCost> NestedProgram::in_domain(std::uint32_t unit) {
    std::optional<NestedCost> best;
    const auto& load = loads_.unit(unit);
    auto last = last_;
    auto cell = cell_;
    for (auto p = parts_.first_of[unit]; p < parts_.first_of[unit + 1]; ++p) {
        const auto hosts = whole_.ranks * steps_.domain + whole_.spares;
        if (parts_.all[p].candidates < hosts || parts_.all[p].required != loads_.required()) continue;
        if (!parts_.all[p].joined && hosts > 1) continue;
        const auto node = node_of_part(p);
        auto cost = best_of(node);
        if (!cost) continue;
        const std::uint64_t left = load.free - hosts;
        *cost = *cost + NestedCost{one_pod_more + one_unit_more, 0, load.whole && left > 0 ? 1U : 0U, left};
        if (best && *cost >= *best) continue;
        best = cost;
        last = last_;
        cell = cell_;
    }
    last_ = last;
    cell_ = cell;
    return best;
}

std::optional<NestedCost> NestedProgram::in_pod(std::uint32_t pod) {
    const auto node = node_of_pod(pod);
    return best_of(node);
}

std::optional<NestedCost> NestedProgram::in_pods(std::uint32_t first, std::uint32_t size) {
    std::vector<std::uint32_t> children;
    for (auto p = first; p < first + size; ++p) {
        if (loads_.pod_candidates(p) == 0) continue;
        children.push_back(node_of_pod(p));
        if (stopped()) return std::nullopt;
    }
    const auto node = join(std::move(children), whole_);
    return best_of(node);
}

// The units are filled except for the surplus: a table of what is left out of them is small.
std::optional<NestedCost> NestedProgram::among(const std::vector<std::uint32_t>& units) {
    std::vector<std::uint32_t> children;
    std::uint64_t held = 0;
    for (const auto u : units) {
        children.push_back(node_of_unit(u));
        if (stopped()) return std::nullopt;
        const auto& options = tables_[nodes_[children.back()].table].options;
        held += options.empty() ? 0 : options.back().at.ranks;
    }
    if (held < whole_.ranks) return std::nullopt;
    const auto slack = held - whole_.ranks;
    struct Step {
        NestedCost cost = infinite;
        std::uint32_t cell = 0;
        std::uint32_t out = 0;
    };
    std::vector<std::vector<Step>> layers;
    std::vector<NestedCost> now(slack + 1, infinite);
    now[0] = {};
    for (const auto child : children) {
        const auto& options = tables_[nodes_[child].table].options;
        auto& layer = layers.emplace_back(slack + 1);
        const auto most = options.back().at.ranks;
        for (std::uint64_t spent = 0; spent <= slack; ++spent) {
            if (now[spent] == infinite) continue;
            for (auto option = options.rbegin(); option != options.rend(); ++option) {
                const auto out = most - option->at.ranks;
                ++done_;
                if (spent + out > slack) break;
                auto& step = layer[spent + out];
                const auto sum = now[spent] + option->cost;
                if (sum >= step.cost) continue;
                step = {sum, static_cast<std::uint32_t>(option->cell), out};
            }
            if (stopped()) return std::nullopt;
        }
        for (std::uint64_t spent = 0; spent <= slack; ++spent)
            now[spent] = layer[spent].cost;
    }
    if (now[slack] == infinite) return std::nullopt;
    // As the node of a table with one cell.
    Table table;
    table.extent = {0, 0, 0};
    table.cost = {now[slack]};
    table.picks.resize(children.size());
    auto spent = slack;
    for (auto i = children.size(); i-- > 0;) {
        table.picks[i] = {layers[i][spent].cell};
        spent -= layers[i][spent].out;
    }
    tables_.push_back(std::move(table));
    nodes_.push_back(
        {static_cast<std::uint32_t>(tables_.size() - 1), ~std::uint32_t{0}, std::move(children)});
    last_ = static_cast<std::uint32_t>(nodes_.size() - 1);
    cell_ = 0;
    return now[slack];
}

void NestedProgram::collect(std::uint32_t n, std::size_t cell, std::vector<Share>& shares) const {
    const auto& node = nodes_[n];
    const auto& table = tables_[node.table];
    if (node.part != ~std::uint32_t{0}) {
        const auto at = at_cell(table.extent, cell);
        if (const auto hosts = hosts_at(at); hosts > 0)
            shares.push_back({parts_.all[node.part].first, parts_.all[node.part].size, hosts, at.idle});
        return;
    }
    const auto start = shares.size();
    std::vector<std::pair<std::uint32_t, std::size_t>> below;
    for (auto i = node.children.size(); i-- > 0;) {
        const auto pick = table.picks[i][cell];
        below.emplace_back(node.children[i], pick);
        if (table.extent.cells() == 1) continue; // from among(): one cell
        const auto& child = tables_[nodes_[node.children[i]].table];
        cell -= cell_of(table.extent, at_cell(child.extent, pick));
    }
    for (auto child = below.rbegin(); child != below.rend(); ++child)
        collect(child->first, child->second, shares);
    std::sort(shares.begin() + static_cast<std::ptrdiff_t>(start), shares.end(),
              [](const Share& a, const Share& b) { return a.first < b.first; });
}

} // namespace sched
