#include "topo/draw/words.hpp"

#include "base/hostlist.hpp"
#include "topo/fabric_json.hpp"
#include "topo/names.hpp"
#include "topo/rate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace topo::draw {
namespace {

// Each name once, in natural order, folded.
std::string folded(std::vector<std::string> names) {
    std::sort(names.begin(), names.end(), base::natural_less);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return base::fold_hostlist(names);
}

std::string rate_text(const Link& link) {
    return link.mbps == 0 && link.width == 0 ? std::string() : " · " + format_rate({link.width, link.mbps});
}

// " · 30 m MFS1S00-H030V", from the end that is known.
std::string cable_text(const Link& link) {
    for (const Module& module : link.modules) {
        std::string text;
        if (module.length_m > 0) text += fmt::format(" · {} m", module.length_m);
        if (!module.part.empty()) text += (text.empty() ? " · " : " ") + module.part;
        if (!text.empty()) return text;
    }
    return {};
}

std::string link_text(const Fabric& fabric, const Link& link) {
    const auto state =
        link.state == LinkState::unknown ? std::string() : fmt::format(" · {}", to_string(link.state));
    return fmt::format("{} – {}{}{}{}", end_name(fabric, link.a), end_name(fabric, link.b), rate_text(link),
                       state, cable_text(link));
}

} // namespace

Words::Words(const Fabric& fabric, const Overlay& overlay, const Marks& marks)
    : fabric_(fabric), overlay_(overlay), marks_(marks), jobs_(fabric.hosts.size()),
      links_(fabric.switches.size()), switch_marks_(marks_of_switches(fabric, marks)) {
    for (std::size_t j = 0; j < overlay.jobs.size(); ++j)
        for (const auto h : overlay.jobs[j].hosts)
            jobs_[h].push_back(j);
    for (std::size_t l = 0; l < fabric.links.size(); ++l)
        for (const End* end : {&fabric.links[l].a, &fabric.links[l].b})
            if (end->switch_ != none) links_[at(end->switch_)].push_back(l);
}

std::string Words::letter(std::size_t job) {
    std::string text;
    for (++job; job > 0; job = (job - 1) / 26)
        text.insert(text.begin(), static_cast<char>('A' + (job - 1) % 26));
    return text;
}

std::string_view Words::state(base::HostState state) {
    switch (state) {
    case base::HostState::free: return "free";
    case base::HostState::mixed:
    case base::HostState::busy: return "allocated";
    case base::HostState::drained: return "drained";
    case base::HostState::down: break;
    }
    return "down";
}

std::string Words::findings(const Mark* mark) const {
    std::string text;
    if (mark == nullptr) return text;
    for (const auto f : mark->findings)
        text += fmt::format("\n({}) {}", f + 1, overlay_.findings[f].text);
    return text;
}

std::string Words::host(std::uint32_t h) const {
    const Host& host = fabric_.hosts[h];
    std::string text = host.name;
    if (host.unit == none) {
        text += " · in no unit";
    } else {
        const Unit& unit = fabric_.units[at(host.unit)];
        text += fmt::format(" · {}", unit.name);
        if (unit.pod != none) text += fmt::format(" · {}", fabric_.pods[at(unit.pod)].name);
    }
    if (host.domain_index != none) text += fmt::format(" · NVLink domain {}", host.domain);
    if (overlay_.has_states()) {
        const auto& overlay_host = overlay_.hosts[h];
        text += fmt::format("\n{}", overlay_host.state ? state(*overlay_host.state) : "no state was given");
        if (!overlay_host.reason.empty()) text += fmt::format(": {}", overlay_host.reason);
        if (overlay_host.health < 1) text += fmt::format("\nhealth {:.2f}", overlay_host.health);
    }
    for (const auto j : jobs_[h])
        text += fmt::format("\njob {} {}", letter(j), overlay_.jobs[j].name);
    std::vector<std::string> storage;
    for (const Hca& hca : host.hcas)
        if (hca.role == Role::storage) storage.push_back(hca.device.empty() ? "an HCA" : hca.device);
    if (!storage.empty()) text += fmt::format("\nstorage: {}", folded(std::move(storage)));
    const auto mark = mark_of_host(fabric_, marks_, h);
    return text + findings(mark ? &*mark : nullptr);
}

std::string Words::port(std::uint32_t h, int hca, int port, int rail) const {
    const auto what = rail == none ? std::string("storage") : fmt::format("rail {}", rail);
    const Host& host = fabric_.hosts[h];
    if (hca == none) return fmt::format("{} · {}: no HCA", host.name, what);
    const Hca& card = host.hcas[at(hca)];
    const HcaPort& end = card.ports[at(port)];
    const auto own = findings(marks_.of_hca(h, static_cast<std::uint32_t>(hca)));
    if (end.link == none)
        return fmt::format("{}/{} · {}: not connected{}", hca_name(host, card), end.number, what, own);
    return fmt::format("{} · {}{}{}", link_text(fabric_, fabric_.links[at(end.link)]), what, own,
                       findings(marks_.of_link(end.link)));
}

std::string Words::link(std::size_t l) const {
    return link_text(fabric_, fabric_.links[l]) + findings(marks_.of_link(static_cast<int>(l)));
}

std::string Words::domain(int domain, const std::vector<std::uint32_t>& hosts) const {
    const auto here =
        fmt::format("{}: {}", counted(hosts.size(), "host", "hosts"), host_names(fabric_, hosts));
    if (domain == none) return "in no NVLink domain · " + here;
    const Domain& whole = fabric_.domains[at(domain)];
    const auto elsewhere = whole.hosts.size() - hosts.size();
    return fmt::format("NVLink domain {} · {}{}", whole.name, here,
                       elsewhere == 0 ? "" : fmt::format("\nand {} not in this unit", elsewhere));
}

std::string Words::switch_(std::size_t index) const {
    const Switch& here = fabric_.switches[index];
    std::vector<std::string> hosts, up, down, beside;
    std::size_t host_links = 0, up_links = 0, down_links = 0, beside_links = 0;
    for (const auto l : links_[index]) {
        const Link& link = fabric_.links[l];
        const End& far = link.a.switch_ == static_cast<int>(index) ? link.b : link.a;
        if (far.host != none) {
            ++host_links;
            hosts.push_back(fabric_.hosts[at(far.host)].name);
            continue;
        }
        const Switch& other = fabric_.switches[at(far.switch_)];
        ++(other.tier > here.tier ? up_links : other.tier < here.tier ? down_links : beside_links);
        (other.tier > here.tier ? up : other.tier < here.tier ? down : beside).push_back(other.name);
    }
    const char* role = here.tier == none ? "no host reaches it"
                       : here.tier == 0  ? "leaf"
                       : here.tier == 1  ? "spine"
                                         : "core";
    std::string text = fmt::format("{} · {}", here.name, role);
    if (here.pod != none) text += fmt::format(" of {}", fabric_.pods[at(here.pod)].name);
    if (host_links > 0)
        text += fmt::format("\n{} to {}", counted(host_links, "host link", "host links"),
                            folded(std::move(hosts)));
    if (up_links > 0)
        text += fmt::format("\n{} to {}", counted(up_links, "uplink", "uplinks"), folded(std::move(up)));
    if (down_links > 0)
        text +=
            fmt::format("\n{} to {}", counted(down_links, "downlink", "downlinks"), folded(std::move(down)));
    if (beside_links > 0)
        text += fmt::format("\n{} to {}", counted(beside_links, "link", "links"), folded(std::move(beside)));
    const auto mark = switch_marks_.find(index);
    return text + findings(mark == switch_marks_.end() ? nullptr : &mark->second);
}

std::string whereabouts(const Fabric& fabric, const JobOverlay& job) {
    std::set<int> units, pods;
    for (const auto h : job.hosts) {
        const int unit = fabric.hosts[h].unit;
        if (unit == none) continue;
        units.insert(unit);
        if (fabric.units[at(unit)].pod != none) pods.insert(fabric.units[at(unit)].pod);
    }
    auto text = counted(job.hosts.size(), "host", "hosts");
    if (units.empty()) return text;
    text += units.size() == 1 ? fmt::format(" in {}", fabric.units[at(*units.begin())].name)
                              : fmt::format(" in {} units", units.size());
    if (pods.size() == 1) text += fmt::format(" of {}", fabric.pods[at(*pods.begin())].name);
    if (pods.size() > 1) text += fmt::format(" of {} pods", pods.size());
    return text;
}

} // namespace topo::draw
