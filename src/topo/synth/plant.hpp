// Plants faults into a healthy fabric, one of each kind that check() finds, for tests and experiments.
#pragma once

#include "base/expected.hpp"
#include "topo/fabric.hpp"

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace topo {

enum class Fault : std::uint8_t {
    rails_swapped,   // two cables of one host
    hosts_swapped,   // cables of two rails of two hosts of a unit
    rails_rotated,   // three cables of one host
    wrong_rail,      // a cable moved to a free port of another rail's leaf
    wrong_unit,      // a cable moved to the same rail's leaf of another unit
    on_spine,        // a cable moved to a spine
    dead_hca,        // an HCA that is not seen in the fabric
    narrow_link,     // a host's link at one lane
    slow_link,       // a host's link at half its speed
    uplink_missing,  // a leaf's cable unplugged
    uplinks_crossed, // cables of two leaves of a pod to different spines
    uplink_narrow,   // a leaf's uplink at one lane
    name_duplicate,  // an HCA with the description of another one in its host
    name_missing,    // an HCA with the vendor's default description
    switch_name,     // two leaves with the same name
    host_missing     // a host that is not seen in the fabric
};

inline constexpr std::size_t fault_count = 16;
std::string_view to_string(Fault fault);             // "rails_swapped"
base::Expected<Fault> parse_fault(std::string_view); // Code::usage gives the word and what is allowed

// Plants each fault at a separate host or leaf, chosen by `seed`, and derives the fabric again. `fabric` must
// be derived and healthy. Errors (Code::usage): the fabric is too small for a fault; it must then not be used
// any more.
base::Expected<void> plant(Fabric& fabric, const std::vector<Fault>& faults, std::uint32_t seed);

} // namespace topo
