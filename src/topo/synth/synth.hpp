// Fabrics generated from a short text: rail-optimised fat trees of any size, for planning and tests.
#pragma once

#include "base/expected.hpp"
#include "topo/fabric.hpp"
#include "topo/rate.hpp"
#include "topo/synth/plant.hpp"

#include <string>
#include <string_view>

namespace topo {

// What to generate. Leaf r of a unit carries HCA r of each of its hosts on ports 1…hosts; its uplinks follow
// and are distributed over the pod's spines; those of the spines over the cores. If a pod has more spines
// than a leaf has uplinks, leaves are assigned to groups of spines in turn: with hosts × rails spines the
// rails never meet.
struct SynthSpec {
    int pods = 1;
    int units = 1;   // per pod
    int hosts = 8;   // per unit
    int rails = 8;   // per host: one HCA each
    int halved = 0;  // last units of each pod whose hosts have half the rails
    int ports = 1;   // of an HCA, each on a separate leaf
    int planes = 1;  // separate networks; ports are assigned to them in turn, at least one to each
    int leaves = 0;  // per unit and port; 0: one for each rail; if fewer, rails share them in turn
    int storage = 0; // storage HCAs per host, at half the rate, on a separate network
    int sharing = 0; // 1: storage HCAs are on the compute leaves instead
    int domains = 0; // hosts per NVLink domain in a unit, its last domain with the rest; 0: none
    int gpus = 0;    // per host, with PCI and NUMA places; 0: hosts report nothing
    int oversub = 1; // host links per uplink of a leaf
    int radix = 64;  // ports of a switch, unless fewer are sufficient
    int spines = 0;  // per pod and plane; 0: as many as the uplinks fill, none for a single unit of one pod
    int cores = 0;   // per plane; 0: as many as the uplinks fill, none for a single pod
    int globals = 0; // links of a spine to its counterpart in each other pod, instead of cores (Dragonfly+)
    std::string prefix = "n";  // hosts are prefix001, prefix002, …
    Rate rate{4, 400000};      // of every link
    std::vector<Fault> faults; // planted afterwards (plant.hpp)
    int seed = 1;              // for choosing where
};

// Words "key=value" separated by spaces, keys as above; rate=4xHDR; faults=12 plants that many, one kind
// after the other, faults=wrong_rail,dead_hca exactly these. Errors (Code::usage) give the word and what is
// allowed: "hosts=0: must be a number from 1 to 200".
base::Expected<SynthSpec> parse_synth(std::string_view text);

// The fabric, derived. Errors (Code::usage): a size whose switches would have more than 254 ports, the limit
// of InfiniBand's port numbers, more than 131,072 hosts, or a fault that does not fit.
base::Expected<Fabric> synthesise(const SynthSpec& spec);

} // namespace topo
