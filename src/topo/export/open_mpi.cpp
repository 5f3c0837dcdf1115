// Open MPI: hosts and ranks in an order in which neighbours in rank are neighbours in the fabric.
#include "topo/export/formats.hpp"

#include "topo/names.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace topo::exports {
namespace {

using base::Code;
using base::Error;
using base::Expected;

// The hosts by pod and unit, then those without a unit.
std::vector<const Host*> in_rank_order(const Chosen& chosen) {
    std::vector<const Host*> hosts;
    for (const auto& part : chosen.selection.parts)
        for (const auto h : part.hosts)
            hosts.push_back(&chosen.fabric.hosts[h]);
    if (!chosen.options.nodes.empty()) // then each was named
        for (const auto h : chosen.selection.unitless)
            hosts.push_back(&chosen.fabric.hosts[h]);
    return hosts;
}

int slots_of(const Chosen& chosen, const Host& host) {
    if (chosen.options.slots > 0) return chosen.options.slots;
    if (!host.gpus.empty()) return static_cast<int>(host.gpus.size());
    return std::max(1, chosen.fabric.rails);
}

// The NUMA node of the rank's GPU, or of its rail's HCA.
int numa_of(const Host& host, int local) {
    if (at(local) < host.gpus.size() && host.gpus[at(local)].numa != none) return host.gpus[at(local)].numa;
    for (const Hca& hca : host.hcas)
        if (hca.rail == local) return hca.numa;
    return none;
}

} // namespace

Expected<std::string> hostfile(Chosen& chosen) {
    std::string out = "# Made by railtopo export; changes made here are lost.\n";
    for (const Host* host : in_rank_order(chosen)) {
        if (auto sound = check_name(*host, "Open MPI"); !sound) return std::move(sound).error();
        fmt::format_to(std::back_inserter(out), "{} slots={}\n", host->name, slots_of(chosen, *host));
    }
    return out;
}

Expected<std::string> rankfile(Chosen& chosen) {
    std::string out = "# Made by railtopo export; changes made here are lost.\n";
    auto put = std::back_inserter(out);
    const int cores = chosen.options.cores;
    int rank = 0;
    for (const Host* host : in_rank_order(chosen)) {
        if (auto sound = check_name(*host, "Open MPI"); !sound) return std::move(sound).error();
        const int slots = slots_of(chosen, *host);
        for (int local = 0; local < slots; ++local, ++rank) {
            const int numa = cores > 0 ? none : numa_of(*host, local);
            if (cores <= 0 && numa == none)
                return Error{Code::unfit,
                             fmt::format("host {}: the NUMA node of GPU {} and of the HCA of rail {} is not "
                                         "known, and a rankfile must bind each rank: give --cores N, or put "
                                         "the hosts' facts into the fabric file with railtopo "
                                         "gather",
                                         host->name, local, local)};
            fmt::format_to(put, "rank {}={} slot=", rank, host->name);
            if (cores <= 0)
                fmt::format_to(put, "{}:*\n", numa);
            else if (cores == 1)
                fmt::format_to(put, "{}\n", local);
            else
                fmt::format_to(put, "{}-{}\n", local * cores, local * cores + cores - 1);
        }
    }
    return out;
}

} // namespace topo::exports
