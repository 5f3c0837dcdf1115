#include "restart/daemon/link_views.hpp"

#include "base/hostlist.hpp"
#include "base/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace restart {
namespace {

// fabricwatchd reads counters every few seconds; older data does not show the present state.
constexpr base::Duration counts_for{60'000};

// The hosts in question: where each is in the fabric.
struct Users {
    std::vector<std::string> names; // sorted
    std::map<std::string_view, std::set<std::string_view>> on_leaf, in_unit, in_pod;
    std::vector<std::string> unplaced; // not in the fabric file
    bool job = false;

    bool has(const std::string& name) const { return std::binary_search(names.begin(), names.end(), name); }
};

Users users_of(const State& state, const std::vector<std::string>& hosts, bool job) {
    Users users{hosts, {}, {}, {}, {}, job};
    std::sort(users.names.begin(), users.names.end());
    users.names.erase(std::unique(users.names.begin(), users.names.end()), users.names.end());
    for (const auto& name : users.names) {
        const auto found = state.hosts.find(name);
        if (found == state.hosts.end() ||
            (found->second.unit.empty() && found->second.leaves.empty() && found->second.ports.empty())) {
            users.unplaced.push_back(name);
            continue;
        }
        const auto& host = found->second;
        for (const auto& leaf : host.leaves)
            users.on_leaf[leaf].insert(name);
        for (const auto& port : host.ports)
            if (!port.leaf.empty()) users.on_leaf[port.leaf].insert(name);
        if (!host.unit.empty()) users.in_unit[host.unit].insert(name);
        if (!host.pod.empty()) users.in_pod[host.pod].insert(name);
    }
    return users;
}

std::vector<std::string> listed(const std::set<std::string_view>& names) {
    std::vector<std::string> list(names.begin(), names.end());
    std::sort(list.begin(), list.end(), base::natural_less);
    return list;
}

bool is_leaf(const State& state, const std::string& device) {
    const auto found = state.switches.find(device);
    return found != state.switches.end() && found->second.tier == 0;
}

std::string rail_text(const LinkFinding& finding) {
    return finding.rail < 0 ? std::string() : fmt::format(" on rail {}", finding.rail);
}

// What is true of a link that is above hosts and one of several paths upwards.
void say_some(const Users& users, std::string_view below, UsedLinkStatus& into) {
    const auto behind = base::fold_hostlist(into.hosts);
    const auto rail = rail_text(into.finding);
    if (!users.job) {
        into.passing = Passing::some;
        into.says =
            fmt::format("some of what {} exchanges with hosts beyond {}{} may pass it", behind, below, rail);
    } else if (into.hosts.size() == users.names.size()) {
        into.passing = Passing::none;
        into.says =
            fmt::format("all hosts of the job meet at {}{}: only what leaves them, such as storage, may "
                        "pass it",
                        below, rail);
    } else {
        into.passing = Passing::some;
        into.says =
            fmt::format("some of what {} exchanges with the job's other hosts{} may pass it", behind, rail);
    }
}

// Whether they use the link, or what waits behind it waits for it: then adds how to `into`.
bool passes(const State& state, const Users& users, UsedLinkStatus& into) {
    const auto& finding = into.finding;
    const bool rail = finding.b.empty(); // of a unit
    if (rail) {
        const auto unit = users.in_unit.find(finding.unit);
        if (unit == users.in_unit.end()) return false;
        into.hosts = listed(unit->second);
        into.passing = Passing::all;
        into.says = fmt::format("all that {} sends and receives{} is on it", base::fold_hostlist(into.hosts),
                                rail_text(finding));
        return true;
    }
    for (const auto* end : {&finding.a, &finding.b})
        if (users.has(*end)) into.hosts.push_back(*end);
    if (!into.hosts.empty()) {
        into.passing = Passing::all;
        into.says = fmt::format("all that {} sends and receives{} passes it", base::fold_hostlist(into.hosts),
                                rail_text(finding));
        return true;
    }
    const bool of_host = state.hosts.contains(finding.a) || state.hosts.contains(finding.b);
    bool below = of_host;
    for (const auto* end : {&finding.a, &finding.b}) {
        if (of_host || !is_leaf(state, *end)) continue;
        below = true;
        const auto leaf = users.on_leaf.find(*end);
        if (leaf == users.on_leaf.end()) continue;
        into.hosts = listed(leaf->second);
        say_some(users, *end, into);
        return true;
    }
    const auto pod = users.in_pod.find(finding.pod);
    if (!below && pod != users.in_pod.end()) {
        into.hosts = listed(pod->second);
        say_some(users, "pod " + finding.pod, into);
        return true;
    }
    for (auto& host : base::expand_hostlist(finding.hosts).value_or(std::vector<std::string>()))
        if (users.has(host)) into.hosts.push_back(std::move(host));
    if (into.hosts.empty()) return false;
    into.passing = Passing::other;
    into.says =
        fmt::format("it is no link of {}, whose traffic may wait for it", base::fold_hostlist(into.hosts));
    return true;
}

// Other users' hosts are not named.
void withhold(const State& state, const Users& users, UsedLinkStatus& link) {
    auto& finding = link.finding;
    finding.hosts = base::fold_hostlist(link.hosts);
    bool others = false;
    for (auto* end : {&finding.a, &finding.b})
        if (state.hosts.contains(*end) && !users.has(*end)) {
            *end = "another host";
            others = true;
        }
    if (others || link.passing == Passing::other) finding.evidence = "not shown";
}

std::vector<std::string> down_links(const State& state, const Users& users) {
    std::set<std::string> down;
    for (const auto& [leaf, hosts] : users.on_leaf) {
        const auto found = state.switches.find(leaf);
        if (found == state.switches.end()) continue;
        for (const auto& link : found->second.down) {
            // Of a host: "n003 mlx5_3:1"; between switches: "sw1 port 5 - sw9 port 2".
            const auto host = link.substr(0, link.find(' '));
            if (users.has(host))
                down.insert(fmt::format("{} - {}", link, leaf));
            else if (link.find(" - ") != std::string::npos)
                down.insert(link);
        }
    }
    std::vector<std::string> list(down.begin(), down.end());
    if (list.size() <= most_down_shown) return list;
    const auto more = list.size() - most_down_shown;
    list.resize(most_down_shown);
    list.push_back(fmt::format("{} more", more));
    return list;
}

std::string why_unknown(const State& state, const UsedLinksStatus& links, const Users& users,
                        base::Time now) {
    if (!links.judged)
        return state.swept && now - *state.swept <= counts_for
                   ? "fabricwatchd sweeps, and has not read the counters of any port ([fabricwatchd] "
                     "counters)"
                   : "fabricwatchd has told nothing of links (fabricwatchd(8))";
    if (*links.judged > counts_for)
        return fmt::format("fabricwatchd last judged them {} ago (fabricwatchd(8))",
                           base::human_duration(*links.judged));
    if (!users.unplaced.empty())
        return fmt::format("{} not in the fabric file ([placement] fabric)",
                           users.unplaced.size() > 4
                               ? fmt::format("{} hosts are", users.unplaced.size())
                               : fmt::format("{} {}", fmt::join(users.unplaced, ", "),
                                             users.unplaced.size() == 1 ? "is" : "are"));
    return {};
}

} // namespace

UsedLinksStatus used_links(const State& state, base::Time now, const std::vector<std::string>& hosts,
                           bool job, const View& to) {
    UsedLinksStatus links;
    const auto users = users_of(state, hosts, job);
    if (state.links_judged) {
        links.judged = std::max(now - *state.links_judged, base::Duration::zero());
        links.counters = state.counters;
    }
    links.unknown = why_unknown(state, links, users, now);
    for (const auto& finding : state.links) {
        UsedLinkStatus link{finding, {}, Passing::all, {}};
        if (!passes(state, users, link)) continue;
        if (!to.sees_hosts()) withhold(state, users, link);
        links.findings.push_back(std::move(link));
    }
    if (state.swept) links.down = down_links(state, users);
    return links;
}

} // namespace restart
