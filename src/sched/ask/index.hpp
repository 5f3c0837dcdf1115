// What placement needs of a fabric, worked out once: hosts grouped into units, pods and islands, and where
// their rails meet. A plain value; depends on the Fabric only and is good until that changes.
//
// Every host has a unit here and every unit a pod: a host without one is a unit of its own, in the pod of
// its leaves where they agree, otherwise in a pod of its own; so is a unit without a pod. An island is what
// links join: a sound fabric is one island. Where the fabric has NVLink domains, those of a unit come below
// it: a domain that does not lie within one unit is as many domains here, and the hosts of a unit that are in
// none are its last part, in which they are not joined. Islands are numbered by first host, pods and units by
// the fabric's order, those made up here after the fabric's.
#pragma once

#include "topo/fabric.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sched {

struct PlacementIndex {
    struct Unit {
        std::string name;        // the fabric's, or the host's
        std::uint32_t first = 0; // its hosts are order[first … first + size)
        std::uint32_t size = 0;
        std::uint32_t pod = 0;
    };
    struct Domain {
        std::string name;        // the fabric's, or the unit's where it is not joined
        std::uint32_t first = 0; // its hosts are order[first … first + size)
        std::uint32_t size = 0;
        std::uint32_t unit = 0;
        bool joined = true; // false: hosts without a domain, each of which counts as one of its own
    };
    struct Pod {
        std::string name;
        std::uint32_t first = 0; // its units are [first, first + size)
        std::uint32_t size = 0;
        std::uint32_t hosts = 0;
        std::uint32_t island = 0;
    };
    struct Island {
        std::uint32_t first = 0; // its pods are [first, first + size)
        std::uint32_t size = 0;
        std::uint32_t hosts = 0;
    };

    explicit PlacementIndex(const topo::Fabric& fabric);

    // Where rail r of a host is attached, as seen from a tier: its leaf (0), the leaf's pod (1), the set of
    // switches joined to it (2 and up). Equal numbers meet; negative: the host has no such rail.
    int meeting(std::uint32_t host, std::uint32_t rail, std::uint32_t tier) const {
        const auto level = tier < 2 ? tier : 2;
        return meetings[(std::size_t{host} * 3 + level) * rails + rail];
    }
    // Does any rail of the host differ, at this tier, from what its unit, pod or island has?
    bool irregular(std::uint32_t host, std::uint32_t tier) const {
        return (irregular_at[host] >> (tier < 2 ? tier : 2) & 1) != 0;
    }

    // Does a rail of the host meet at another place than in most of its unit, pod or island? Otherwise what
    // is irregular about it are rails that it lacks.
    bool elsewhere(std::uint32_t host, std::uint32_t tier) const {
        return (elsewhere_at[host] >> (tier < 2 ? tier : 2) & 1) != 0;
    }

    // Which rails make a host irregular, of the first 64.
    std::uint64_t differs(std::uint32_t host, std::uint32_t tier) const {
        return differing[tier < 2 ? tier : 2][host];
    }

    std::vector<std::uint32_t> order;        // hosts by island, pod, unit, domain, index: the order of ranks
    std::vector<std::uint32_t> position;     // of each host in `order`
    std::vector<std::uint32_t> unit_of;      // by host
    std::vector<Unit> units;                 // by pod
    std::vector<Domain> domains;             // by unit; empty: the fabric has none
    std::vector<std::uint32_t> domain_of;    // by host; empty: likewise
    std::vector<std::uint32_t> first_domain; // of each unit, and the end; empty: likewise
    std::uint32_t largest_domain = 0;        // hosts, of those that are joined; 0: there is none
    std::uint32_t largest_unit = 0, largest_pod = 0; // hosts
    std::vector<Pod> pods;                           // by island
    std::vector<Island> islands;
    std::uint32_t rails = 0;
    bool in_order = true;                   // order is 0, 1, 2, …
    bool regular = true;                    // no host is irregular at any tier
    std::vector<int> meetings;              // [host][tier 0…2][rail]
    std::vector<std::uint8_t> irregular_at; // by host; bit t: at tier t
    std::vector<std::uint8_t> elsewhere_at; // the same
    // By tier, then by host; bit r: rail r does not meet where most do, or is not there; of the first 64
    // rails.
    std::vector<std::uint64_t> differing[3];
    std::vector<std::uint32_t> irregular_hosts[3]; // by tier, ascending
};

} // namespace sched
