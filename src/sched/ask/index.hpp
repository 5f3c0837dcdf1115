// What placement needs to know about a fabric, computed once: hosts grouped into units, pods and islands, and
// where their rails meet. A plain value; it depends on the Fabric only and is valid until that changes.
//
// Every host has a unit here and every unit a pod: a host without a unit forms its own, in the pod of its
// leaves if they agree, otherwise in a pod of its own; so does a unit without a pod. An island is what links
// connect: a healthy fabric is one island. If the fabric has NVLink domains, a unit's domains are below it. A
// domain in several units is split. A unit's hosts without a domain form its last part, in which they are not
// joined. Islands are numbered by first host, pods and units in the fabric's order, those created here after
// the fabric's.
#pragma once

#include "topo/fabric.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sched {

struct PlacementIndex {
    struct Unit {
        std::string name;        // from the fabric, or the host's
        std::uint32_t first = 0; // its hosts are order[first … first + size)
        std::uint32_t size = 0;
        std::uint32_t pod = 0;
    };
    struct Domain {
        std::string name;        // from the fabric, or the unit's if the hosts are not joined
        std::uint32_t first = 0; // its hosts are order[first … first + size)
        std::uint32_t size = 0;
        std::uint32_t unit = 0;
        bool joined = true; // false: hosts without a domain, each of which counts as its own domain
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
    // switches connected to it (2 and up). Equal numbers meet; negative: the host has no such rail.
    int meeting(std::uint32_t host, std::uint32_t rail, std::uint32_t tier) const {
        const auto level = tier < 2 ? tier : 2;
        return meetings[(std::size_t{host} * 3 + level) * rails + rail];
    }
    // Whether any rail of the host differs, at this tier, from most of its unit, pod or island.
    bool irregular(std::uint32_t host, std::uint32_t tier) const {
        return (irregular_at[host] >> (tier < 2 ? tier : 2) & 1) != 0;
    }

    // Whether a rail of the host meets at another place than most in its unit, pod or island. Otherwise an
    // irregular host only lacks rails.
    bool elsewhere(std::uint32_t host, std::uint32_t tier) const {
        return (elsewhere_at[host] >> (tier < 2 ? tier : 2) & 1) != 0;
    }

    // The rails that make a host irregular, among the first 64.
    std::uint64_t differs(std::uint32_t host, std::uint32_t tier) const {
        return differing[tier < 2 ? tier : 2][host];
    }

    std::vector<std::uint32_t> order;        // hosts by island, pod, unit, domain, index: the order of ranks
    std::vector<std::uint32_t> position;     // of each host in `order`
    std::vector<std::uint32_t> unit_of;      // by host
    std::vector<Unit> units;                 // by pod
    std::vector<Domain> domains;             // by unit; empty: the fabric has none
    std::vector<std::uint32_t> domain_of;    // by host; empty: the fabric has none
    std::vector<std::uint32_t> first_domain; // of each unit, and the end; empty: the fabric has none
    std::uint32_t largest_domain = 0;        // hosts, of joined domains; 0: there is none
    std::uint32_t largest_unit = 0, largest_pod = 0; // hosts
    std::vector<Pod> pods;                           // by island
    std::vector<Island> islands;
    std::uint32_t rails = 0;
    bool in_order = true;                   // order is 0, 1, 2, …
    bool regular = true;                    // no host is irregular at any tier
    std::vector<int> meetings;              // [host][tier 0…2][rail]
    std::vector<std::uint8_t> irregular_at; // by host; bit t: at tier t
    std::vector<std::uint8_t> elsewhere_at; // the same
    // By tier, then by host; bit r: rail r does not meet where most do, or is missing; only the first 64
    // rails.
    std::vector<std::uint64_t> differing[3];
    std::vector<std::uint32_t> irregular_hosts[3]; // by tier, ascending
};

} // namespace sched
