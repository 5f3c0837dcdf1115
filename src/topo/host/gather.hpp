// Merges many hosts' facts into one fabric: the location of each HCA, its nearest GPU, and thus its rail.
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
        std::string said_by; // prefix in front of the facts: "n001" (pdsh, clush), "0" (srun -l), or ""
        std::uint32_t line = 0;
    };
    std::vector<Entry> entries;
    std::vector<std::string> other; // lines without facts, as "NAME:LINE: …": messages from ssh and others
};

// The output of `railtopo host --json` on many hosts: bare lines, or prefixed with "n001: " (pdsh, clush) or
// "0: " (srun --label). Errors (Code::input) read "NAME:LINE: …": facts that cannot be parsed, or no facts at
// all.
base::Expected<Gathering> parse_gathering(std::string_view text, std::string_view name);

struct GatherReport {
    std::vector<std::string> contradictions; // sentences: facts and fabric cannot both be correct
    std::vector<std::string> missing;        // sentences: hosts without facts, or with several NVLink domains
    std::vector<std::string> notes;          // sentences: other information for the user
    std::size_t hosts = 0;                   // whose facts were used
    std::size_t rails_changed = 0;           // HCAs whose rail has changed
};

// Puts PCI addresses, NUMA nodes, GPUs and NVLink domains into the fabric and renumbers the rails: rail r is
// the compute HCA nearest to GPU r or, if the numbers of HCAs and GPUs differ, the r-th in the order of the
// nearest GPUs. Hosts whose HCAs and GPUs have equal PCI addresses are one model and are numbered alike, so a
// dead HCA does not shift the others; hosts without facts follow others that had the same numbering before.
// Rails given by an administrator (`rules`, may be null) are kept.
//
// Facts show which hosts share NVLink switches. If the fabric already has a domain of exactly these hosts, as
// far as they are known, with a name that is not NVML's, that name is kept; rules take precedence. Hosts
// whose facts give no domain keep theirs.
//
// Facts belong to the host of that name (with or without its DNS domain); a GUID that is in another host of
// the fabric is a contradiction, and that host's facts are ignored. The fabric is derived again.
GatherReport merge_facts(Fabric& fabric, const Gathering& gathering, const Rules* rules = nullptr);

// Renumbers rails from the facts that are in the fabric, if roles may have changed since.
void renumber_rails(Fabric& fabric, const Rules* rules = nullptr);

} // namespace topo
