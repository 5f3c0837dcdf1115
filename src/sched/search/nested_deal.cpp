#include "sched/search/nested_deal.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace sched {

NestedDeal::NestedDeal(const Loads& loads, const NestedParts& parts) : loads_(loads), parts_(parts) {}

std::uint32_t NestedDeal::add_part(std::uint32_t p) {
    const auto& part = parts_.all[p];
    const auto step = loads_.steps().domain;
    Node node;
    node.hosts = part.candidates;
    node.required = part.required;
    node.part = p;
    auto out = part.required;
    for (std::uint32_t i = 0; i < part.candidates / step; ++i) {
        node.gain.push_back(std::min(out, step));
        out -= node.gain.back();
    }
    nodes_.push_back(std::move(node));
    return static_cast<std::uint32_t>(nodes_.size() - 1);
}

std::uint32_t NestedDeal::join(std::vector<std::uint32_t> children, std::uint32_t each) {
    Node node;
    node.each = each;
    // Among groups that include equally many required hosts, those in parts already used come first, then
    // those in large parts: so few parts are used.
    std::stable_sort(children.begin(), children.end(), [&](std::uint32_t a, std::uint32_t b) {
        const auto order = [](const Node& of) {
            return std::tuple(of.required > 0, of.gain.size(), of.hosts);
        };
        return order(nodes_[a]) > order(nodes_[b]);
    });
    for (std::uint32_t c = 0; c < children.size(); ++c) {
        const auto& child = nodes_[children[c]];
        node.hosts += child.hosts;
        node.required += child.required;
        for (const auto gain : child.gain)
            node.groups.push_back({gain, c});
    }
    std::stable_sort(node.groups.begin(), node.groups.end(),
                     [](const Group& a, const Group& b) { return a.gain > b.gain; });
    for (std::size_t i = 0; i + each <= node.groups.size(); i += each) {
        std::uint32_t gain = 0;
        for (std::size_t k = i; k < i + each; ++k)
            gain += node.groups[k].gain;
        node.gain.push_back(gain);
    }
    node.children = std::move(children);
    nodes_.push_back(std::move(node));
    return static_cast<std::uint32_t>(nodes_.size() - 1);
}

std::uint32_t NestedDeal::add_unit(std::uint32_t u) {
    std::vector<std::uint32_t> children;
    for (auto p = parts_.first_of[u]; p < parts_.first_of[u + 1]; ++p)
        if (parts_.all[p].candidates > 0) children.push_back(add_part(p));
    return join(std::move(children), loads_.steps().unit / loads_.steps().domain);
}

// Its groups consist of Steps::whole ranks.
std::uint32_t NestedDeal::root_of(std::uint32_t first, std::uint32_t size) {
    const auto& index = loads_.index();
    const auto& steps = loads_.steps();
    nodes_.clear();
    if (size == 1) return join({add_unit(first)}, steps.whole / steps.unit);
    std::vector<std::uint32_t> pods, units;
    for (auto u = first; u < first + size; ++u) {
        if (loads_.unit(u).candidates > 0) units.push_back(add_unit(u));
        if (u + 1 < first + size && index.units[u + 1].pod == index.units[u].pod) continue;
        pods.push_back(join(std::exchange(units, {}), steps.pod / steps.unit));
    }
    return join(std::move(pods), steps.whole / steps.pod);
}

std::uint32_t NestedDeal::largest(std::uint32_t first, std::uint32_t size, std::uint32_t spares,
                                  std::uint32_t most) {
    const auto& root = nodes_[root_of(first, size)];
    const auto whole = loads_.steps().whole;
    most = std::min(most, root.hosts);
    if (root.required != loads_.required() || most < spares) return 0;
    const auto groups = std::min<std::size_t>(root.gain.size(), (most - spares) / whole);
    auto out = root.required;
    for (std::size_t i = 0; i < groups; ++i)
        out -= root.gain[i];
    return groups == 0 || out > spares ? 0 : static_cast<std::uint32_t>(groups) * whole + spares;
}

std::uint32_t NestedDeal::least(std::uint32_t spares) {
    const auto& root = nodes_[root_of(0, static_cast<std::uint32_t>(loads_.units().size()))];
    std::uint32_t groups = 0;
    for (auto out = root.required; groups == 0 || out > spares; ++groups) {
        if (groups == root.gain.size()) return 0;
        out -= root.gain[groups];
    }
    return groups * loads_.steps().whole + spares;
}

void NestedDeal::deal(std::uint32_t n, std::uint32_t groups, std::vector<Portion>& portions) const {
    const auto& node = nodes_[n];
    if (node.part != ~std::uint32_t{0}) {
        const auto ranks = groups * loads_.steps().domain;
        const auto& part = parts_.all[node.part];
        portions.push_back({node.part, ranks, part.required - std::min(part.required, ranks)});
        return;
    }
    std::vector<std::uint32_t> counts(node.children.size(), 0);
    for (std::size_t i = 0; i < std::size_t{groups} * node.each; ++i)
        ++counts[node.groups[i].child];
    for (std::size_t c = 0; c < counts.size(); ++c)
        deal(node.children[c], counts[c], portions);
}

// As close as possible to the gang, besides the required hosts that are spares.
void NestedDeal::deal_spares(std::uint32_t spares, std::vector<Portion>& portions) const {
    const auto& index = loads_.index();
    const auto unit_of = [&](const Portion& portion) {
        return index.unit_of[index.order[parts_.all[portion.part].first]];
    };
    std::vector<std::uint8_t> units(index.units.size(), 0), pods(index.pods.size(), 0);
    for (const auto& portion : portions)
        if (portion.ranks + portion.spares > 0)
            units[unit_of(portion)] = pods[index.units[unit_of(portion)].pod] = 1;
    const auto room = [&](const Portion& portion) {
        return parts_.all[portion.part].candidates - portion.ranks - portion.spares;
    };
    std::vector<std::pair<std::tuple<int, int, int, std::uint32_t>, std::size_t>> order;
    for (std::size_t i = 0; i < portions.size(); ++i) {
        const auto unit = unit_of(portions[i]);
        order.push_back({{pods[index.units[unit].pod], units[unit],
                          portions[i].ranks + portions[i].spares > 0, room(portions[i])},
                         i});
    }
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    for (const auto& each : order) {
        auto& portion = portions[each.second];
        const auto more = std::min(spares, room(portion));
        portion.spares += more;
        spares -= more;
    }
}

std::optional<std::vector<Portion>> NestedDeal::place(std::uint32_t first, std::uint32_t size,
                                                      std::uint32_t ranks, std::uint32_t spares) {
    if (largest(first, size, spares, ranks + spares) != ranks + spares) return std::nullopt;
    std::vector<Portion> portions;
    deal(static_cast<std::uint32_t>(nodes_.size() - 1), ranks / loads_.steps().whole, portions);
    for (const auto& portion : portions)
        spares -= portion.spares;
    deal_spares(spares, portions);
    std::erase_if(portions, [](const Portion& portion) { return portion.ranks + portion.spares == 0; });
    std::sort(portions.begin(), portions.end(),
              [](const Portion& a, const Portion& b) { return a.part < b.part; });
    return portions;
}

} // namespace sched
