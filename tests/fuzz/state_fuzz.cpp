// The state of hosts as sinfo prints it: read or refused with its line; never a host beyond the fabric.
#include "sched/slurm/host_states.hpp"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const auto fabric = [] {
        topo::Fabric made;
        for (std::uint32_t h = 0; h < 4; ++h) {
            made.hosts.emplace_back().name = "n" + std::to_string(h + 1);
            made.host_index.emplace(made.hosts.back().name, h);
        }
        return made;
    }();
    std::vector<std::string> unknown;
    const auto snapshot = sched::parse_state(std::string_view(reinterpret_cast<const char*>(data), size),
                                             "fuzz", fabric, &unknown);
    if (!snapshot) {
        if (!snapshot.error().text.starts_with("fuzz:")) std::abort();
        return 0;
    }
    if (snapshot->states.size() != 4) std::abort();
    if (!snapshot->health.empty() && snapshot->health.size() != 4) std::abort();
    for (const auto health : snapshot->health)
        if (!(health >= 0 && health <= 1)) std::abort();
    return 0;
}
