// Cables and leaves of units none of whose hosts has a name: a host is plugged into equal ports of a plane's
// leaves, so that a port which most of them use and one does not lacks a cable.
#include "topo/check/absent.hpp"
#include "topo/check/nameless.hpp"
#include "topo/check/parts.hpp"

#include <fmt/format.h>

#include <set>

namespace topo::checks {
namespace {

// An HCA that is where no other of its host is: what is on its port of the leaf, and whether that is a spine.
struct OffPort {
    End hca, on;
    int unit = none; // of that leaf
};

// A port of a plane that leaves lack.
struct Gap {
    int unit = none;
    const std::vector<int>* plane;
    int port = 0;
    std::vector<int> leaves;

    std::vector<std::string> ends(const Fabric& fabric) const {
        std::vector<std::string> list;
        for (const int leaf : leaves)
            list.push_back(end_name(fabric, {none, none, leaf, static_cast<std::uint8_t>(port)}));
        return list;
    }
};

// By switch and port the HCA there.
std::vector<std::map<int, End>> hcas_by_port(const Fabric& fabric) {
    std::vector<std::map<int, End>> hcas(fabric.switches.size());
    for (const Link& link : fabric.links)
        for (const auto& [here, there] : {std::pair(&link.a, &link.b), std::pair(&link.b, &link.a)})
            if (here->switch_ != none && there->host != none)
                hcas[at(here->switch_)].emplace(here->port, *there);
    return hcas;
}

class Places {
public:
    Places(const Fabric& fabric, const std::vector<UnnamedUnit>& units)
        : fabric_(fabric), hcas_(hcas_by_port(fabric)) {
        for (int u = 0; at(u) < units.size(); ++u)
            for (const auto& plane : units[at(u)].planes)
                judge(u, plane);
        for (int s = 0; at(s) < hcas_.size() && !gaps_.empty(); ++s)
            for (const auto& [port, hca] : hcas_[at(s)])
                if (fabric.switches[at(s)].tier > 0 && nameless(fabric.hosts[at(hca.host)]))
                    off_ports_.push_back({hca, {none, none, s, static_cast<std::uint8_t>(port)}, none});
    }

    // An HCA in a spine or on a port of its own is the cable that a leaf lacks; of several nothing says which
    // is whose.
    void report(Findings& findings) const {
        std::vector<std::string> lacking;
        for (const Gap& gap : gaps_)
            for (auto& end : gap.ends(fabric_))
                lacking.push_back(std::move(end));
        if (lacking.empty()) return;
        for (const OffPort& off : off_ports_)
            report_off_port(off, lacking, findings);
        if (off_ports_.size() >= lacking.size()) return;
        for (const Gap& gap : gaps_)
            report_gap(gap, findings);
    }

private:
    void judge(int unit, const std::vector<int>& plane) {
        std::set<int> ports;
        for (const int leaf : plane)
            for (const auto& [port, hca] : hcas_[at(leaf)])
                ports.insert(port);
        std::vector<Gap> gaps;
        std::vector<OffPort> off_ports;
        for (const int port : ports) {
            Gap gap{unit, &plane, port, {}};
            bool behind = false; // the last port of a leaf that lacks it
            for (const int leaf : plane) {
                if (hcas_[at(leaf)].contains(port)) continue;
                gap.leaves.push_back(leaf);
                behind = behind || hcas_[at(leaf)].rbegin()->first < port;
            }
            const auto with = plane.size() - gap.leaves.size();
            if (with > gap.leaves.size() || (with == gap.leaves.size() && !behind)) {
                if (!gap.leaves.empty()) gaps.push_back(std::move(gap));
            } else if (with == 1) {
                for (const int leaf : plane)
                    if (const auto hca = hcas_[at(leaf)].find(port);
                        hca != hcas_[at(leaf)].end() && nameless(fabric_.hosts[at(hca->second.host)]))
                        off_ports.push_back(
                            {hca->second, {none, none, leaf, static_cast<std::uint8_t>(port)}, unit});
            }
        }
        if ((gaps.size() + off_ports.size()) * 4 > ports.size()) return; // no order is kept
        gaps_.insert(gaps_.end(), gaps.begin(), gaps.end());
        off_ports_.insert(off_ports_.end(), off_ports.begin(), off_ports.end());
    }

    void report_off_port(const OffPort& off, const std::vector<std::string>& lacking,
                         Findings& findings) const {
        constexpr std::size_t most = 4; // that are listed
        const bool spine = fabric_.switches[at(off.on.switch_)].tier > 0;
        const bool own_unit =
            std::any_of(gaps_.begin(), gaps_.end(), [&](const Gap& gap) { return gap.unit == off.unit; });
        Finding finding{spine      ? "hca.on_spine"
                        : own_unit ? "hca.wrong_rail"
                                   : "hca.wrong_unit",
                        Severity::error,
                        {end_name(fabric_, off.hca), end_name(fabric_, off.on)},
                        {},
                        {}};
        finding.ends.insert(finding.ends.end(), lacking.begin(), lacking.end());
        const auto listed = fmt::format(
            "{}{}",
            fmt::join(lacking.begin(),
                      lacking.begin() + static_cast<std::ptrdiff_t>(std::min(most, lacking.size())), ", "),
            lacking.size() > most ? ", …" : "");
        finding.evidence =
            fmt::format("{} hangs on {}, {}; by equal ports {} {} an HCA of a host without a name",
                        finding.ends[0], finding.ends[1],
                        spine ? "which is no leaf" : "a port that no other leaf of its unit has an HCA on",
                        listed, lacking.size() == 1 ? "lacks" : "lack");
        finding.fix = fmt::format("look whether its cable belongs in {}",
                                  lacking.size() == 1 ? listed : std::string("one of those"));
        findings.push_back(std::move(finding));
    }

    void report_gap(const Gap& gap, Findings& findings) const {
        std::vector<int> with;
        std::set_difference(gap.plane->begin(), gap.plane->end(), gap.leaves.begin(), gap.leaves.end(),
                            std::back_inserter(with));
        Finding finding{"host.rails", Severity::error, gap.ends(fabric_), {}, {}};
        finding.evidence = fmt::format("a host without a name on port {} of {} has no link on {}", gap.port,
                                       switch_names(fabric_, with), fmt::join(finding.ends, ", "));
        finding.fix = "look for a dead, disabled or uncabled HCA";
        findings.push_back(std::move(finding));
    }

    const Fabric& fabric_;
    std::vector<std::map<int, End>> hcas_; // by switch and port
    std::vector<Gap> gaps_;
    std::vector<OffPort> off_ports_;
};

// Planes that have one leaf less than most, where names say which.
void report_absent_leaves(const Fabric& fabric, const std::vector<UnnamedUnit>& units, Findings& findings) {
    Mode<std::size_t> sizes;
    for (const Unit& unit : fabric.units)
        sizes.add(rails_of(unit));
    for (const UnnamedUnit& unit : units)
        for (const auto& plane : unit.planes)
            sizes.add(plane.size());
    if (sizes.count() * 2 <= sizes.total()) return;
    for (const UnnamedUnit& unit : units)
        for (const auto& plane : unit.planes) {
            if (plane.size() + 1 != sizes.value()) continue;
            const auto names = absent_beside(fabric, plane);
            if (names.empty()) continue;
            const auto name = fmt::format("{}", fmt::join(names, " or "));
            Finding finding{"unit.rails", Severity::error, {switch_names(fabric, plane)}, {}, {}};
            finding.ends.insert(finding.ends.end(), names.begin(), names.end());
            finding.evidence =
                fmt::format("{} are {} where most units have {}; {} is not seen", finding.ends.front(),
                            counted(plane.size(), "leaf", "leaves"), sizes.value(), name);
            finding.fix = fmt::format("look whether {} is powered and cabled", name);
            findings.push_back(std::move(finding));
        }
}

} // namespace

void unnamed(const Fabric& fabric, const Nameless& nameless, Findings& findings) {
    const auto& units = nameless.units();
    if (units.empty()) return;
    Places(fabric, units).report(findings);
    report_absent_leaves(fabric, units, findings);
}

} // namespace topo::checks
