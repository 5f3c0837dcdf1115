#include "topo/draw/groups.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace topo::draw {

std::vector<Group> groups_of(const Fabric& fabric, const std::vector<std::uint32_t>& hosts) {
    std::map<int, std::vector<std::uint32_t>> by_domain;
    for (const auto h : hosts)
        by_domain[fabric.hosts[h].domain_index].push_back(h);
    std::vector<Group> groups;
    for (auto& [domain, members] : by_domain)
        groups.push_back({domain, std::move(members)});
    if (!groups.empty() && groups.front().domain == none)
        std::rotate(groups.begin(), groups.begin() + 1, groups.end());
    return groups;
}

bool has_domains(const std::vector<Group>& groups) {
    return !groups.empty() && groups.front().domain != none;
}

std::size_t largest(const std::vector<Group>& groups) {
    std::size_t most = 0;
    for (const auto& group : groups)
        most = std::max(most, group.hosts.size());
    return most;
}

} // namespace topo::draw
