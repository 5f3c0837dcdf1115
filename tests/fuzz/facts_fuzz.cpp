// Hosts' facts as they come from pdsh: read or refused; what was read survives its own line, and merged into
// a fabric leaves one that can be stored and read.
#include "topo/fabric_json.hpp"
#include "topo/host/gather.hpp"
#include "topo/synth/synth.hpp"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const auto first = [] {
        const auto fabric = topo::synthesise(*topo::parse_synth("units=2 hosts=2 rails=4"));
        return *fabric;
    }();
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto gathering = topo::parse_gathering(text, "fuzz");
    if (!gathering) return 0;
    for (const auto& entry : gathering->entries) {
        const auto line = topo::print_host_facts(entry.facts);
        const auto again = topo::parse_host_facts(line);
        if (!again || topo::print_host_facts(*again) != line) std::abort();
    }
    auto fabric = first;
    static_cast<void>(topo::merge_facts(fabric, *gathering));
    const auto stored = topo::print_fabric(fabric);
    const auto read = topo::parse_fabric(stored, "fuzz");
    if (!read || topo::print_fabric(*read) != stored) std::abort();
    return 0;
}
