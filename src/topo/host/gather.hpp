// Many hosts' facts into one fabric: where each HCA sits, which GPU is nearest, and so which rail it is.
#pragma once

#include "base/expected.hpp"
#include "topo/host/host_facts.hpp"
#include "topo/read/rules.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace topo {

struct Gathering {
    struct Entry {
        HostFacts facts;
        std::string said_by; // what stood in front of the facts: "n001" (pdsh, clush), "0" (srun -l), or ""
        std::uint32_t line = 0;
    };
    std::vector<Entry> entries;
    std::vector<std::string>
        other; // lines that are no facts, as "NAME:LINE: …": ssh's complaints and the like
};

// The output of `railtopo host --json` on many hosts: bare lines, or behind "n001: " (pdsh, clush) or "0: "
// (srun --label). Errors (Code::input) say "NAME:LINE: …": facts that cannot be read, or no facts at all.
base::Expected<Gathering> parse_gathering(std::string_view text, std::string_view name);

struct GatherReport {
    std::vector<std::string> contradictions; // sentences: facts and fabric cannot both be right
    std::vector<std::string> missing;        // sentences: hosts that gave no facts, or not one NVLink domain
    std::vector<std::string> notes;          // sentences: what else a person should know
    std::size_t hosts = 0;                   // whose facts were taken
    std::size_t rails_changed = 0;           // HCAs that have another rail now
};

// Puts PCI addresses, NUMA nodes, GPUs and NVLink domains into the fabric and renumbers the rails: rail r is
// the compute HCA nearest GPU r, or, with fewer HCAs than GPUs or more, the r-th in the order of the nearest
// GPUs. Hosts whose HCAs and GPUs have equal PCI addresses are one model and are numbered alike, so that a
// dead HCA does not shift the others; hosts without facts follow the others that were numbered like them
// before. Rails an administrator has given (`rules`, may be null) stay.
//
// Facts tell which hosts share NVLink switches; a domain that the fabric has, under a name that is not
// NVML's, of just these hosts, as far as they are known, keeps its name there, and rules have the last word.
// Hosts whose facts tell none keep theirs.
//
// Facts belong to the host of that name (with or without its domain); a GUID that the fabric has in another
// host is a contradiction, and that host's facts are left out. The fabric is derived again.
GatherReport merge_facts(Fabric& fabric, const Gathering& gathering, const Rules* rules = nullptr);

// Numbers rails once more from the facts that are in the fabric, where roles may have changed since.
void renumber_rails(Fabric& fabric, const Rules* rules = nullptr);

} // namespace topo
