#include "topo/draw/show.hpp"

#include "base/json.hpp"
#include "topo/draw/words.hpp"
#include "topo/meeting.hpp"
#include "topo/nameless.hpp"
#include "topo/names.hpp"
#include "topo/rate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace topo {
namespace {

// The most common rate of host links, as "4xHDR".
std::string host_rate(const Fabric& fabric) {
    std::map<std::pair<std::uint32_t, std::uint8_t>, std::size_t> seen;
    for (const Link& link : fabric.links)
        if (link.a.host != none) ++seen[{link.mbps, link.width}];
    const auto most = std::max_element(seen.begin(), seen.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == seen.end() ? "no links" : format_rate({most->first.second, most->first.first});
}

// How a host differs from its unit: rails on other leaves, rails without a link.
std::string peculiarity(const Fabric& fabric, const Host& host) {
    std::string text;
    const auto& leaves = fabric.units[at(host.unit)].leaves;
    for (std::size_t r = 0; r < leaves.size(); ++r) {
        if (host.leaves[r] == leaves[r]) continue;
        text += text.empty() ? "" : ", ";
        text += host.leaves[r] == none ? fmt::format("rail {} not connected", r)
                                       : fmt::format("rail {} on {}", r, switch_name(fabric, host.leaves[r]));
    }
    return text;
}

std::size_t rails_of(const Unit& unit) {
    return unit.leaves.size() -
           static_cast<std::size_t>(std::count(unit.leaves.begin(), unit.leaves.end(), none));
}

// Adjacent units with the same number of hosts and rails are shown as one.
bool alike(const Unit& a, const Unit& b) {
    return a.hosts.size() == b.hosts.size() && rails_of(a) == rails_of(b);
}

// "20 free, 3 drained (n[003,007,009])": hosts that accept no job are named.
std::string states_text(const Fabric& fabric, const Overlay& overlay,
                        const std::vector<std::uint32_t>& hosts) {
    std::map<std::optional<base::HostState>, std::vector<std::uint32_t>> by_state;
    for (const auto h : hosts)
        by_state[overlay.hosts[h].state].push_back(h);
    std::string text;
    using base::HostState;
    for (const std::optional<HostState> state :
         {std::optional(HostState::free), std::optional(HostState::busy), std::optional(HostState::drained),
          std::optional(HostState::down), std::optional<HostState>()}) {
        const auto found = by_state.find(state);
        if (found == by_state.end()) continue;
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", found->second.size(),
                            state ? draw::Words::state(*state) : "of unknown state");
        if (state && *state >= HostState::drained)
            text += fmt::format(" ({})", host_names(fabric, found->second));
    }
    return text;
}

void show_states(std::string& out, const Fabric& fabric, const ShowOptions& options,
                 const std::vector<std::uint32_t>& hosts) {
    if (options.overlay == nullptr || !options.overlay->has_states() || hosts.empty()) return;
    fmt::format_to(std::back_inserter(out), "    {}\n", states_text(fabric, *options.overlay, hosts));
}

// The leaves of a unit, each once.
std::string leaf_names(const Fabric& fabric, const Unit& unit) {
    std::vector<int> leaves;
    const auto add = [&](int leaf) {
        if (leaf != none && std::find(leaves.begin(), leaves.end(), leaf) == leaves.end())
            leaves.push_back(leaf);
    };
    std::for_each(unit.leaves.begin(), unit.leaves.end(), add);
    std::for_each(unit.more_leaves.begin(), unit.more_leaves.end(), add);
    return switch_names(fabric, leaves);
}

// The domains of these hosts, ascending.
std::vector<int> domains_of(const Fabric& fabric, const std::vector<std::uint32_t>& hosts) {
    std::vector<int> domains;
    for (const auto h : hosts)
        if (fabric.hosts[h].domain_index != none) domains.push_back(fabric.hosts[h].domain_index);
    std::sort(domains.begin(), domains.end());
    domains.erase(std::unique(domains.begin(), domains.end()), domains.end());
    return domains;
}

// Each domain of a unit with its hosts there, and hosts without one.
void show_domains(std::string& out, const Fabric& fabric, const Unit& unit) {
    std::map<int, std::vector<std::uint32_t>> hosts; // by domain
    for (const auto h : unit.hosts)
        hosts[fabric.hosts[h].domain_index].push_back(h);
    auto rest = std::move(hosts[none]);
    hosts.erase(none);
    for (const auto& [domain, members] : hosts)
        fmt::format_to(std::back_inserter(out), "    domain {}  {}  {}\n", fabric.domains[at(domain)].name,
                       counted(members.size(), "host", "hosts"), host_names(fabric, members));
    if (!hosts.empty() && !rest.empty())
        fmt::format_to(std::back_inserter(out), "    in no domain  {}\n", host_names(fabric, rest));
}

// " domains nvl1 … nvl8", before the leaves of units that are shown as one.
void show_domain_names(std::string& out, const Fabric& fabric, const std::vector<std::uint32_t>& hosts) {
    const auto domains = domains_of(fabric, hosts);
    if (domains.empty()) return;
    fmt::format_to(std::back_inserter(out), "    {} {}{}{}\n", domains.size() == 1 ? "domain" : "domains",
                   fabric.domains[at(domains.front())].name, domains.size() > 2 ? " … " : ", ",
                   fabric.domains[at(domains.back())].name);
}

void show_unit(std::string& out, const Fabric& fabric, const Unit& unit, const ShowOptions& options) {
    fmt::format_to(std::back_inserter(out), "  {}  {}  {}\n", unit.name,
                   counted(unit.hosts.size(), "host", "hosts"), host_names(fabric, unit.hosts));
    show_domains(out, fabric, unit);
    for (std::size_t r = 0; r < unit.leaves.size(); ++r)
        fmt::format_to(std::back_inserter(out), "    rail {:<3} {}\n", r,
                       switch_name(fabric, unit.leaves[r]));
    if (!unit.more_leaves.empty())
        fmt::format_to(std::back_inserter(out), "    more     {}\n", switch_names(fabric, unit.more_leaves));
    show_states(out, fabric, options, unit.hosts);
}

void show_units(std::string& out, const Fabric& fabric, const Pod& pod, const ShowOptions& options) {
    for (std::size_t i = 0; i < pod.units.size();) {
        const Unit& first = fabric.units[pod.units[i]];
        std::size_t end = i + 1;
        while (!options.every_unit && end < pod.units.size() && alike(first, fabric.units[pod.units[end]]))
            ++end;
        if (end == i + 1) {
            show_unit(out, fabric, first, options);
        } else {
            std::vector<std::uint32_t> hosts;
            for (std::size_t u = i; u < end; ++u) {
                const Unit& unit = fabric.units[pod.units[u]];
                hosts.insert(hosts.end(), unit.hosts.begin(), unit.hosts.end());
            }
            const Unit& last = fabric.units[pod.units[end - 1]];
            fmt::format_to(std::back_inserter(out), "  {} … {}  {} of {} x {}  {}\n    leaves {}{}{}\n",
                           first.name, last.name, counted(end - i, "unit", "units"),
                           counted(first.hosts.size(), "host", "hosts"),
                           counted(rails_of(first), "rail", "rails"), host_names(fabric, hosts),
                           leaf_names(fabric, first), end - i > 2 ? " … " : ", ", leaf_names(fabric, last));
            show_domain_names(out, fabric, hosts);
            show_states(out, fabric, options, hosts);
        }
        i = end;
    }
}

void show_jobs(std::string& out, const Fabric& fabric, const Overlay& overlay) {
    for (const JobOverlay& job : overlay.jobs)
        fmt::format_to(std::back_inserter(out), "{}job {}  {}  {}\n", &job == overlay.jobs.data() ? "\n" : "",
                       job.name, draw::whereabouts(fabric, job), host_names(fabric, job.hosts));
}

} // namespace

std::string show(const Fabric& fabric, ShowOptions options) {
    std::string out;
    auto put = std::back_inserter(out);
    std::size_t compute = 0, storage = 0; // HCAs
    for (const Host& host : fabric.hosts) {
        if (nameless(host)) continue;
        for (const Hca& hca : host.hcas)
            ++(hca.role == Role::compute ? compute : storage);
    }
    const auto unknown = count_nameless(fabric); // each is a separate host
    const auto domains =
        fabric.domains.empty()
            ? std::string()
            : fmt::format(" in {}", counted(fabric.domains.size(), "NVLink domain", "NVLink domains"));
    fmt::format_to(put, "{}{}, {}, {} ({}){}{}; {} in {}, {}\n",
                   counted(fabric.hosts.size() - unknown, "host", "hosts"), domains,
                   counted(static_cast<std::size_t>(fabric.rails), "rail", "rails"),
                   counted(compute, "compute HCA", "compute HCAs"), host_rate(fabric),
                   storage > 0 ? fmt::format(", {}", counted(storage, "storage HCA", "storage HCAs")) : "",
                   unknown > 0 ? fmt::format(", {} of no known host", counted(unknown, "HCA", "HCAs")) : "",
                   counted(fabric.switches.size(), "switch", "switches"),
                   counted(static_cast<std::size_t>(fabric.tiers), "tier", "tiers"),
                   counted(fabric.links.size(), "link", "links"));
    if (const auto text = rails_meeting_text(rails_meeting(fabric)); !text.empty())
        fmt::format_to(put, "{}\n", text);
    if (!fabric.source.empty()) fmt::format_to(put, "from {}\n", fabric.source);

    for (std::size_t p = 0; p < fabric.pods.size(); ++p) {
        const Pod& pod = fabric.pods[p];
        std::size_t hosts = 0;
        for (const auto u : pod.units)
            hosts += fabric.units[u].hosts.size();
        std::vector<int> spines;
        for (std::size_t s = 0; s < fabric.switches.size(); ++s)
            if (fabric.switches[s].tier == 1 && at(fabric.switches[s].pod) == p)
                spines.push_back(static_cast<int>(s));
        fmt::format_to(put, "\n{}  {}, {}, {}{}\n", pod.name, counted(pod.units.size(), "unit", "units"),
                       counted(hosts, "host", "hosts"), counted(spines.size(), "spine", "spines"),
                       spines.empty() ? "" : fmt::format(": {}", switch_names(fabric, spines)));
        show_units(out, fabric, pod, options);
    }

    std::vector<int> above, unreached;
    for (std::size_t s = 0; s < fabric.switches.size(); ++s) {
        if (fabric.switches[s].tier >= 2) above.push_back(static_cast<int>(s));
        if (fabric.switches[s].tier == none) unreached.push_back(static_cast<int>(s));
    }
    if (!above.empty())
        fmt::format_to(put, "\ncore  {}: {}\n", counted(above.size(), "switch", "switches"),
                       switch_names(fabric, above));
    if (!unreached.empty()) fmt::format_to(put, "\nno host reaches  {}\n", switch_names(fabric, unreached));

    std::vector<std::uint32_t> unitless;
    std::string peculiar;
    for (std::uint32_t h = 0; h < fabric.hosts.size(); ++h) {
        const Host& host = fabric.hosts[h];
        if (host.unit == none) {
            unitless.push_back(h);
        } else if (const auto text = peculiarity(fabric, host); !text.empty()) {
            peculiar += fmt::format("  {}  {}\n", host.name, text);
        }
    }
    if (!unitless.empty()) {
        fmt::format_to(put, "\nin no unit  {}\n", known_host_names(fabric, unitless));
        show_states(out, fabric, options, unitless);
    }
    if (options.overlay != nullptr) show_jobs(out, fabric, *options.overlay);
    if (!peculiar.empty())
        fmt::format_to(put, "\nunlike their unit (railtopo check says more)\n{}", peculiar);
    return out;
}

std::string show_json(const Fabric& fabric) {
    namespace json = boost::json;
    const auto names = [&](const std::vector<std::uint32_t>& hosts) {
        json::array array;
        for (const auto h : hosts)
            array.emplace_back(fabric.hosts[h].name);
        return array;
    };
    json::array pods, units, switches;
    for (const Pod& pod : fabric.pods) {
        json::array members;
        for (const auto u : pod.units)
            members.emplace_back(fabric.units[u].name);
        pods.push_back(json::object{{"name", pod.name}, {"units", std::move(members)}});
    }
    for (const Unit& unit : fabric.units) {
        json::array leaves;
        for (const int leaf : unit.leaves)
            leaves.push_back(leaf == none ? json::value(nullptr)
                                          : json::value(fabric.switches[at(leaf)].name));
        units.push_back(json::object{{"name", unit.name},
                                     {"pod", fabric.pods[at(unit.pod)].name},
                                     {"hosts", names(unit.hosts)},
                                     {"leaves", std::move(leaves)}});
    }
    for (const Switch& s : fabric.switches)
        switches.push_back(json::object{
            {"name", s.name},
            {"tier", s.tier == none ? json::value(nullptr) : json::value(s.tier)},
            {"pod", s.pod == none ? json::value(nullptr) : json::value(fabric.pods[at(s.pod)].name)}});
    json::array unitless, unknown;
    for (const Host& host : fabric.hosts)
        if (host.unit == none) (nameless(host) ? unknown : unitless).emplace_back(host.name);
    json::object top{{"source", fabric.source},
                     {"hosts", fabric.hosts.size() - count_nameless(fabric)},
                     {"rails", fabric.rails},
                     {"tiers", fabric.tiers},
                     {"links", fabric.links.size()},
                     {"pods", std::move(pods)},
                     {"units", std::move(units)},
                     {"hosts_in_no_unit", std::move(unitless)},
                     {"hcas_of_no_known_host", std::move(unknown)},
                     {"switches", std::move(switches)},
                     {"rails_meet", rails_meeting_json(rails_meeting(fabric))}};
    if (!fabric.domains.empty()) {
        auto& domains = top["domains"].emplace_array();
        for (const Domain& domain : fabric.domains)
            domains.push_back(
                json::object{{"name", domain.name},
                             {"unit", domain.unit == none ? json::value(nullptr)
                                                          : json::value(fabric.units[at(domain.unit)].name)},
                             {"hosts", names(domain.hosts)}});
    }
    return base::to_pretty(top);
}

} // namespace topo
