#include "topo/check/plan.hpp"

#include "topo/check/parts.hpp"

#include <fmt/format.h>

#include <tuple>

namespace topo::checks {
namespace {

const Hca* hca_of(const Host& host, std::size_t rail) {
    for (const Hca& hca : host.hcas)
        if (hca.rail == static_cast<int>(rail)) return &hca;
    return nullptr;
}

bool uses_several_ports(const Hca& hca) {
    return std::count_if(hca.ports.begin(), hca.ports.end(),
                         [](const HcaPort& port) { return port.leaf != none; }) > 1;
}

// Of equals one of the unit's own leaves, then the one of the HCAs' first ports.
int usual_leaf(const Mode<int>& leaves, const std::vector<int>& owners, int unit, int first) {
    const auto rank = [&](const auto& counted) {
        const auto& [leaf, count] = counted;
        return std::tuple(count, owners[at(leaf)] == unit, leaf == first);
    };
    return std::max_element(leaves.counts().begin(), leaves.counts().end(),
                            [&](const auto& a, const auto& b) { return rank(a) < rank(b); })
        ->first;
}

std::vector<Lane> lanes_of(const Fabric& fabric, const std::vector<int>& owners, int u, std::size_t rail) {
    const Unit& unit = fabric.units[at(u)];
    if (unit.leaves[rail] == none) return {};
    std::vector<const Hca*> hcas; // with a link
    bool several = false;
    for (const auto h : unit.hosts) {
        const Host& host = fabric.hosts[h];
        if (host.leaves[rail] == none) continue;
        hcas.push_back(hca_of(host, rail));
        several = several || uses_several_ports(*hcas.back());
    }
    std::vector<Lane> lanes;
    if (several) {
        std::map<int, Mode<int>> leaves; // by port
        for (const Hca* hca : hcas)
            for (const HcaPort& port : hca->ports)
                if (port.leaf != none) leaves[port.number].add(port.leaf);
        for (const auto& [port, leaf] : leaves)
            if (leaf.total() * 2 > hcas.size())
                lanes.push_back({port, usual_leaf(leaf, owners, u, unit.leaves[rail])});
    }
    if (lanes.size() < 2) return {{none, unit.leaves[rail]}};
    return lanes;
}

} // namespace

Plan::Plan(const Fabric& fabric) : rails_(at(fabric.rails)) {
    std::vector<Mode<int>> votes(fabric.switches.size());
    std::vector<std::size_t> unnamed(fabric.switches.size(), 0);
    for (const Host& host : fabric.hosts)
        for (const Hca& hca : host.hcas)
            for (const HcaPort& port : hca.ports) {
                if (port.leaf == none) continue;
                if (hca.rail != none && host.unit != none) votes[at(port.leaf)].add(host.unit);
                unnamed[at(port.leaf)] += nameless(host) ? 1 : 0;
            }
    // A cable among HCAs without a name does not make the leaf that of its unit.
    const auto own = [&](int leaf, int unit) {
        const auto& [leaves, more] =
            std::tie(fabric.units[at(unit)].leaves, fabric.units[at(unit)].more_leaves);
        return std::find(leaves.begin(), leaves.end(), leaf) != leaves.end() ||
               std::find(more.begin(), more.end(), leaf) != more.end();
    };
    for (int s = 0; at(s) < votes.size(); ++s) {
        const auto& vote = votes[at(s)];
        owners_.push_back(
            vote.empty() || (unnamed[at(s)] > vote.count() && !own(s, vote.value())) ? none : vote.value());
    }
    lanes_.reserve(fabric.units.size() * rails_);
    for (int u = 0; at(u) < fabric.units.size(); ++u)
        for (std::size_t r = 0; r < rails_; ++r)
            lanes_.push_back(lanes_of(fabric, owners_, u, r));
}

const std::vector<Lane>& Plan::lanes(int unit, int rail) const {
    return lanes_[at(unit) * rails_ + at(rail)];
}

const HcaPort* Plan::port(const Host& host, const Hca& hca, const Lane& lane) {
    for (const HcaPort& port : hca.ports)
        if (port.leaf != none &&
            (lane.port == none ? port.leaf == host.leaves[at(hca.rail)] : port.number == lane.port))
            return &port;
    return nullptr;
}

int Plan::unit_of(int leaf) const {
    return owners_[at(leaf)];
}

std::string Plan::rails_of(int leaf) const {
    std::vector<std::size_t> rails;
    for (std::size_t r = 0; r < rails_ && owners_[at(leaf)] != none; ++r)
        for (const Lane& lane : lanes_[at(owners_[at(leaf)]) * rails_ + r])
            if (lane.leaf == leaf && (rails.empty() || rails.back() != r)) rails.push_back(r);
    if (rails.empty()) return "no rail";
    return fmt::format("{} {}", rails.size() == 1 ? "rail" : "rails", fmt::join(rails, ", "));
}

} // namespace topo::checks
