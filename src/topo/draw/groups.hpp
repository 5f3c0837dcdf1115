// Which hosts of a unit are drawn together in a picture. Internal to src/topo/draw.
#pragma once

#include "topo/fabric.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace topo::draw {

// Hosts of one NVLink domain, or of none.
struct Group {
    int domain = none;
    std::vector<std::uint32_t> hosts;
};

// In the order of domains, hosts without one last; a single group without a domain if no host has one.
std::vector<Group> groups_of(const Fabric& fabric, const std::vector<std::uint32_t>& hosts);

bool has_domains(const std::vector<Group>& groups);

// The number of hosts in the largest group.
std::size_t largest(const std::vector<Group>& groups);

} // namespace topo::draw
