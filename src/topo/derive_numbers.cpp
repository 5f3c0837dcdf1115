#include "topo/derive_numbers.hpp"

#include "topo/names.hpp"

#include <algorithm>
#include <map>

namespace topo {
namespace {

constexpr int farthest = 9; // in host numbers

std::int64_t offset_of(const NumberedName& name, int port) {
    return static_cast<std::int64_t>(name.number) - port;
}

template <class Visit> void each_cable_of(const Fabric& fabric, const Host& host, Visit visit) {
    for (const Hca& hca : host.hcas)
        for (const HcaPort& port : hca.ports) {
            if (hca.rail == none || !shapes_units(fabric, port.leaf)) continue;
            const Link& link = fabric.links[at(port.link)];
            visit(port.leaf, link.a.switch_ == port.leaf ? link.a.port : link.b.port);
        }
}

template <class Visit> void each_cable(const Fabric& fabric, Visit visit) {
    for (const Host& host : fabric.hosts)
        if (const auto name = numbered(host.name))
            each_cable_of(fabric, host, [&](int leaf, int port) { visit(*name, leaf, port); });
}

} // namespace

Numbering::Numbering(const Fabric& fabric) : fabric_(fabric) {
    for (const Host& host : fabric.hosts)
        names_.push_back(numbered(host.name));
}

Tally Numbering::around(std::uint32_t h, std::size_t each) const {
    Tally units;
    for (const int step : {-1, 1}) {
        std::size_t found = 0;
        const auto last = static_cast<std::int64_t>(h) + step * farthest;
        for (auto n = static_cast<std::int64_t>(h) + step; n != last && kin(h, n) && found < each; n += step)
            if (const int unit = fabric_.hosts[static_cast<std::size_t>(n)].unit; unit != none) {
                units.add(unit);
                ++found;
            }
    }
    return units;
}

int Numbering::between(std::uint32_t h) const {
    const auto next = around(h, 1), wide = around(h, 2);
    if (next.counts.size() != 1 || next.counts.front().second != 2) return none;
    std::size_t same = 0, others = 0;
    for (const auto& [unit, count] : wide.counts)
        (unit == next.counts.front().first ? same : others) += count;
    return same >= 3 && others <= 1 ? next.counts.front().first : none;
}

bool Numbering::kin(std::uint32_t h, std::int64_t other) const {
    if (other < 0 || static_cast<std::size_t>(other) >= names_.size()) return false;
    const auto& a = names_[h];
    const auto& b = names_[static_cast<std::size_t>(other)];
    return a && b && a->kin(*b);
}

PortOrder::PortOrder(const Fabric& fabric) : fabric_(fabric), leaves_(fabric.switches.size()) {
    std::vector<std::map<std::int64_t, std::size_t>> offsets(fabric.switches.size());
    std::vector<std::string_view> stems(fabric.switches.size());
    std::vector<std::size_t> hosts(fabric.switches.size(), 0);
    each_cable(fabric, [&](const NumberedName& name, int leaf, int port) {
        if (stems[at(leaf)].empty()) stems[at(leaf)] = name.stem;
        ++hosts[at(leaf)];
        if (name.stem == stems[at(leaf)]) ++offsets[at(leaf)][offset_of(name, port)];
    });
    for (std::size_t s = 0; s < leaves_.size(); ++s)
        for (const auto& [offset, count] : offsets[s])
            if (count >= 4 && count * 4 >= hosts[s] * 3) leaves_[s] = {true, stems[s], offset, 255, 0};
    each_cable(fabric, [&](const NumberedName& name, int leaf, int port) {
        auto& order = leaves_[at(leaf)];
        if (!order.kept || order.offset != offset_of(name, port)) return;
        order.first = std::min(order.first, port);
        order.last = std::max(order.last, port);
        longest_ = std::max(longest_, port);
    });
}

std::vector<int> PortOrder::in_order(std::uint32_t h) const {
    std::vector<int> found;
    if (const auto name = numbered(fabric_.hosts[h].name))
        each_cable_of(fabric_, fabric_.hosts[h], [&](int leaf, int port) {
            const auto& order = leaves_[at(leaf)];
            if (order.kept && order.stem == name->stem && order.offset == offset_of(*name, port))
                found.push_back(leaf);
        });
    return found;
}

int PortOrder::unit_of(std::uint32_t h) const {
    const Host& host = fabric_.hosts[h];
    const auto name = numbered(host.name);
    int leaf = none, port = none;
    each_cable_of(fabric_, host, [&](int l, int p) {
        leaf = l;
        port = p;
    });
    if (!name || leaf == none || !leaves_[at(leaf)].kept) return none;
    if (leaves_[at(leaf)].stem == name->stem && leaves_[at(leaf)].offset == offset_of(*name, port))
        return host.unit;
    const auto rail = std::find(host.leaves.begin(), host.leaves.end(), leaf) - host.leaves.begin();
    int found = none;
    for (int u = 0; at(u) < fabric_.units.size(); ++u) {
        const int other = fabric_.units[at(u)].leaves[static_cast<std::size_t>(rail)];
        if (other == none || !leaves_[at(other)].kept || leaves_[at(other)].stem != name->stem) continue;
        const auto& order = leaves_[at(other)];
        const auto place = static_cast<std::int64_t>(name->number) - order.offset;
        if (place < 1 || place + 1 < order.first || place > std::min(order.last + 1, longest_)) continue;
        if (found != none) return none;
        found = u;
    }
    return found;
}

} // namespace topo
