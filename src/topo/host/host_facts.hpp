// What a host knows about itself: its HCAs and GPUs, their locations, and which HCA is near which GPU.
//
// `railtopo host` prints it as one line of JSON on every host; `railtopo gather` reads many such lines
// (gather.hpp). hwloc_facts.hpp determines it.
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
    Guid guid = 0;      // node GUID, 0 if not reported by the host
    std::string pci;    // "0000:18:00.0"; empty for a device that is not on a PCI bus
    int numa = none;
    int gpu = none;          // nearest GPU according to pair_gpus() over all HCAs of the host
    std::vector<int> shared; // by GPU: depth of the lowest common ancestor, higher is nearer; may be empty
};

struct HostFacts {
    std::string host;
    std::vector<HcaFacts> hcas; // in natural order of devices
    std::vector<Gpu> gpus;      // ordered by PCI address, as in NVML
    // The NVLink domain reported by its GPUs, or several; empty: none is reported.
    std::vector<std::string> domains = {};
};

// The nearest GPU of each HCA, none for HCAs excluded by `taken` (empty: all are included) and on hosts
// without GPUs. "HCA nearest to GPU r" is one to one as far as the numbers allow: pairs are made nearest
// first, that is by lowest common ancestor, then by equal NUMA node, then by PCI addresses of GPU and HCA; a
// remaining HCA shares the GPU nearest to it. Without `shared` the existing gpu is kept.
std::vector<int> pair_gpus(const HostFacts& facts, const std::vector<bool>& taken = {});

// One line, without its newline:
// {"railyard_host":1,"host":"n001","domain":…,"hcas":[{"device":…}],"gpus":[…]}. Several domains are a list,
// "domains".
std::string print_host_facts(const HostFacts& facts);

// The facts in such a line. Errors (Code::input) name the field: "hcas[2].guid: …". Unknown fields are
// ignored. A host with more than 256 HCAs or 256 GPUs is rejected.
base::Expected<HostFacts> parse_host_facts(std::string_view line);

} // namespace topo
