// What a host knows of itself: its HCAs and GPUs, where they sit, and which HCA is near which GPU.
//
// `railtopo host` prints it as one line of JSON on every host; `railtopo gather` reads many such lines
// (gather.hpp). hwloc_facts.hpp finds it out.
#pragma once

#include "base/expected.hpp"
#include "topo/fabric.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace topo {

inline constexpr int host_facts_version = 1;

struct HcaFacts {
    std::string device; // "mlx5_3"
    Guid guid = 0;      // node GUID, 0 when the host did not report it
    std::string pci;    // "0000:18:00.0"; empty for a device that is on no PCI bus
    int numa = none;
    int gpu = none;          // nearest GPU by pair_gpus() over all HCAs of the host
    std::vector<int> shared; // by GPU: depth of the lowest common ancestor, more is nearer; may be empty
};

struct HostFacts {
    std::string host;
    std::vector<HcaFacts> hcas; // in natural order of devices
    std::vector<Gpu> gpus;      // in order of PCI addresses, as NVML counts them
    // The NVLink domain that its GPUs say, or several; empty: none is said.
    std::vector<std::string> domains = {};
};

// The nearest GPU of each HCA, none for HCAs that `taken` leaves out (empty: all are in) and on hosts without
// GPUs. "HCA nearest GPU r" is one to one as far as numbers allow: pairs are made nearest first, that is by
// lowest common ancestor, then by equal NUMA node, then by PCI addresses of GPU and HCA; an HCA that is left
// over shares the GPU nearest to it. Without `shared` the gpu that stands there is kept.
std::vector<int> pair_gpus(const HostFacts& facts, const std::vector<bool>& taken = {});

// One line, without its newline:
// {"railyard_host":1,"host":"n001","domain":…,"hcas":[{"device":…}],"gpus":[…]}. Several domains are a list,
// "domains".
std::string print_host_facts(const HostFacts& facts);

// The facts of such a line. Errors (Code::input) name the field: "hcas[2].guid: …". Unknown fields are
// ignored. A host of more than 256 HCAs or 256 GPUs is refused.
base::Expected<HostFacts> parse_host_facts(std::string_view line);

} // namespace topo
