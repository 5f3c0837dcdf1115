// Which hosts of a unit stand together in a picture. Internal to src/topo/draw.
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

// In the order of domains, hosts in none last; a single group without a domain where no host has one.
std::vector<Group> groups_of(const Fabric& fabric, const std::vector<std::uint32_t>& hosts);

bool has_domains(const std::vector<Group>& groups);

// Hosts of the largest one.
std::size_t largest(const std::vector<Group>& groups);

} // namespace topo::draw
