// fabric-rules(5): read or refused; what was read leaves a fabric that can be stored and read.
#include "topo/derive.hpp"
#include "topo/fabric_json.hpp"
#include "topo/read/roles.hpp"
#include "topo/synth/synth.hpp"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const auto first = [] {
        const auto fabric = topo::synthesise(*topo::parse_synth("units=2 hosts=2 rails=4"));
        return *fabric;
    }();
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto rules = topo::parse_rules(text, "fuzz");
    if (!rules) return 0;
    auto fabric = first;
    static_cast<void>(topo::drop_ignored(fabric, *rules));
    topo::assign_roles(fabric, &*rules);
    topo::derive(fabric);
    const auto stored = topo::print_fabric(fabric);
    const auto read = topo::parse_fabric(stored, "fuzz");
    if (!read || topo::print_fabric(*read) != stored) std::abort();
    return 0;
}
