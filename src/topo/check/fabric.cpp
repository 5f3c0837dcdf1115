// The fabric as a whole: parts that cannot reach each other, oversubscription, storage among compute.
#include "topo/check/parts.hpp"

#include "base/hostlist.hpp"

#include <fmt/format.h>

#include <numeric>

namespace topo::checks {
namespace {

// Hosts and switches joined by links; a host joins its rails, as rail-only networks need no spine.
class Parts {
public:
    explicit Parts(const Fabric& fabric)
        : hosts_(fabric.hosts.size()), up_(fabric.hosts.size() + fabric.switches.size()) {
        std::iota(up_.begin(), up_.end(), std::size_t{0});
        for (const Link& link : fabric.links)
            if (link.state != LinkState::down) up_[find(node(link.a))] = find(node(link.b));
    }
    std::size_t of_host(std::size_t host) { return find(host); }

private:
    std::size_t node(const End& end) const {
        return end.host != none ? at(end.host) : hosts_ + at(end.switch_);
    }
    std::size_t find(std::size_t x) {
        while (up_[x] != x)
            x = up_[x] = up_[up_[x]];
        return x;
    }
    std::size_t hosts_;
    std::vector<std::size_t> up_;
};

void tell_disconnected(const Fabric& fabric, Findings& findings) {
    Parts parts(fabric);
    std::map<std::size_t, std::vector<std::uint32_t>> hosts;
    for (std::uint32_t h = 0; h < fabric.hosts.size(); ++h)
        if (fabric.hosts[h].unit != none) hosts[parts.of_host(h)].push_back(h);
    if (hosts.size() < 2) return;
    std::vector<std::vector<std::uint32_t>> groups;
    for (auto& [part, members] : hosts)
        groups.push_back(std::move(members));
    std::sort(groups.begin(), groups.end());
    Finding finding{"fabric.parts", Severity::error, {}, {}};
    for (const auto& group : groups)
        finding.ends.push_back(host_names(fabric, group));
    finding.text =
        fmt::format("the fabric is in {} parts that no link joins: {}; look at the cables above them",
                    groups.size(), fmt::join(finding.ends, " | "));
    findings.push_back(std::move(finding));
}

// The usual ratio of bandwidth below to bandwidth above, per tier; a single odd leaf is for uplinks().
void tell_oversubscribed(const Fabric& fabric, Findings& findings) {
    std::vector<std::uint64_t> below(fabric.switches.size(), 0), above(fabric.switches.size(), 0);
    for (const Link& link : fabric.links)
        for (const End* here : {&link.a, &link.b}) {
            if (here->switch_ == none) continue;
            const End& there = other_end(link, *here);
            const bool up = there.switch_ != none &&
                            fabric.switches[at(there.switch_)].tier > fabric.switches[at(here->switch_)].tier;
            (up ? above : below)[at(here->switch_)] += link.mbps;
        }
    for (int tier = 0; tier + 1 < fabric.tiers; ++tier) {
        Mode<std::uint64_t> percent;
        for (std::size_t s = 0; s < fabric.switches.size(); ++s)
            if (fabric.switches[s].tier == tier && fabric.switches[s].pod != none && above[s] > 0)
                percent.add(below[s] * 100 / above[s]);
        if (percent.empty() || percent.value() <= 105) continue;
        findings.push_back(
            {"tier.oversubscribed",
             Severity::info,
             {tier == 0 ? "leaves" : fmt::format("tier {}", tier)},
             fmt::format("most switches of tier {} have {}.{:02} times as much bandwidth below as above",
                         tier, percent.value() / 100, percent.value() % 100)});
    }
}

void tell_mixed_leaves(const Fabric& fabric, Findings& findings) {
    std::map<int, std::vector<std::string>> storage; // leaf → HCAs
    std::vector<char> compute(fabric.switches.size(), 0);
    for (const Host& host : fabric.hosts)
        for (const Hca& hca : host.hcas)
            for (const HcaPort& port : hca.ports) {
                if (port.leaf == none || unidentified(host, hca)) continue;
                if (hca.role == Role::compute)
                    compute[at(port.leaf)] = 1;
                else
                    storage[port.leaf].push_back(hca_name(host, hca));
            }
    for (const auto& [leaf, hcas] : storage) {
        if (compute[at(leaf)] == 0 || fabric.switches[at(leaf)].tier != 0) continue;
        Finding finding{"leaf.storage", Severity::info, {switch_name(fabric, leaf)}, {}};
        finding.ends.insert(finding.ends.end(), hcas.begin(), hcas.end());
        finding.text = fmt::format(
            "{} carries compute and {} ({}{}): their traffic shares its buffers", switch_name(fabric, leaf),
            counted(hcas.size(), "storage HCA", "storage HCAs"), hcas.front(), hcas.size() > 1 ? ", …" : "");
        findings.push_back(std::move(finding));
    }
}

} // namespace

void parts(const Fabric& fabric, Findings& findings) {
    tell_disconnected(fabric, findings);
    tell_oversubscribed(fabric, findings);
    tell_mixed_leaves(fabric, findings);
}

} // namespace topo::checks
