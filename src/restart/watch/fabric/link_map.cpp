#include "restart/watch/fabric/link_map.hpp"

#include "base/hostlist.hpp"
#include "topo/end_names.hpp"
#include "topo/guid.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace restart {
namespace {

constexpr std::size_t longest_list = 1000; // less than a report carries (wire/report_fields.hpp)

template <class List> auto& at(List& list, int index) {
    return list[static_cast<std::size_t>(index)];
}

topo::Guid guid_of(const topo::Fabric& file, const topo::End& end) {
    if (end.switch_ != topo::none) return at(file.switches, end.switch_).guid;
    return end.host == topo::none ? 0 : at(at(file.hosts, end.host).hcas, end.hca).guid;
}

// The rail of each leaf that all its hosts share; none where they differ.
std::map<int, int> rails_of_leaves(const topo::Fabric& file) {
    constexpr int several = topo::none;
    std::map<int, int> rails;
    for (const auto& host : file.hosts)
        for (std::size_t rail = 0; rail < host.leaves.size(); ++rail) {
            if (host.leaves[rail] == topo::none) continue;
            const auto [entry, first] = rails.try_emplace(host.leaves[rail], static_cast<int>(rail));
            if (!first && entry->second != static_cast<int>(rail)) entry->second = several;
        }
    return rails;
}

} // namespace

LinkMap::LinkMap(const topo::Fabric& file) {
    const auto rails = rails_of_leaves(file);
    const auto rail_of = [&](int leaf) {
        const auto found = rails.find(leaf);
        return found == rails.end() ? topo::none : found->second;
    };
    const auto pod_name = [&](int pod) {
        return pod == topo::none ? std::string() : at(file.pods, pod).name;
    };

    for (std::size_t i = 0; i < file.switches.size(); ++i)
        names_.emplace(file.switches[i].guid,
                       topo::device_of(file, {topo::none, topo::none, static_cast<int>(i), 0}));
    for (const auto& host : file.hosts) {
        for (const auto& hca : host.hcas)
            names_.emplace(hca.guid, fmt::format("{} {}", host.name, hca.device));
        auto leaves = host.leaves;
        std::sort(leaves.begin(), leaves.end());
        leaves.erase(std::unique(leaves.begin(), leaves.end()), leaves.end());
        for (const int leaf : leaves)
            if (leaf != topo::none) behind_[at(file.switches, leaf).guid].push_back(host.name);
        if (host.unit != topo::none)
            if (const auto pod = pod_name(at(file.units, host.unit).pod); !pod.empty())
                in_pod_[pod].push_back(host.name);
    }

    for (const auto& link : file.links) {
        WatchedLink watched;
        watched.gbps = link.mbps / 1000.0;
        int lowest = topo::none; // switch
        for (std::size_t side = 0; side < 2; ++side) {
            const auto& end = side == 0 ? link.a : link.b;
            auto& mine = watched.ends[side];
            mine = {guid_of(file, end),
                    end.port,
                    topo::device_of(file, end),
                    topo::port_of(file, end),
                    end.host,
                    end.switch_ == topo::none ? -1 : std::max(0, at(file.switches, end.switch_).tier)};
            if (end.host != topo::none) {
                const auto& host = at(file.hosts, end.host);
                watched.rail = at(host.hcas, end.hca).rail;
                if (host.unit == topo::none) continue;
                watched.unit = at(file.units, host.unit).name;
                watched.pod = pod_name(at(file.units, host.unit).pod);
            } else if (lowest == topo::none ||
                       at(file.switches, end.switch_).tier < at(file.switches, lowest).tier) {
                lowest = end.switch_;
            }
        }
        if (!topo::is_devices(watched.ends[0].node) || !topo::is_devices(watched.ends[1].node)) continue;
        if (watched.ends[0].host == topo::none && watched.ends[1].host == topo::none) {
            watched.rail = rail_of(lowest);
            watched.pod = pod_name(at(file.switches, lowest).pod);
        }
        for (std::size_t side = 0; side < 2; ++side)
            ends_[watched.ends[side].node].emplace(watched.ends[side].port, std::pair(links_.size(), side));
        links_.push_back(std::move(watched));
    }
}

std::optional<std::pair<std::size_t, std::size_t>> LinkMap::find(topo::Guid node, std::uint8_t port) const {
    const auto device = ends_.find(node);
    if (device == ends_.end()) return {};
    const auto end = device->second.find(port);
    if (end == device->second.end()) return {};
    return end->second;
}

std::string LinkMap::name_of(topo::Guid node) const {
    const auto found = names_.find(node);
    return found == names_.end() ? topo::format_guid(node) : found->second;
}

std::string LinkMap::hosts_of(std::size_t link) const {
    const auto& watched = links_[link];
    std::vector<std::string> hosts;
    for (const auto& end : watched.ends)
        if (end.host != topo::none) hosts.push_back(end.device);
    for (std::size_t side = 0; hosts.empty() && side < 2; ++side)
        if (const auto behind = behind_.find(watched.ends[side].node); behind != behind_.end())
            hosts = behind->second;
    if (hosts.empty())
        if (const auto pod = in_pod_.find(watched.pod); pod != in_pod_.end()) hosts = pod->second;
    return folded(std::move(hosts));
}

std::string LinkMap::end_name(std::size_t link, std::size_t side) const {
    const auto& end = links_[link].ends[side];
    return fmt::format("{}{}{}", end.device, end.host == topo::none ? " port " : " ", end.port_name);
}

std::string LinkMap::folded(std::vector<std::string> hosts) {
    std::sort(hosts.begin(), hosts.end(), base::natural_less);
    hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
    auto folded = base::fold_hostlist(hosts);
    // Names that cannot be folded.
    for (auto some = hosts.size(); folded.size() > longest_list; folded = base::fold_hostlist(hosts)) {
        some /= 2;
        hosts.resize(some);
    }
    return folded;
}

} // namespace restart
