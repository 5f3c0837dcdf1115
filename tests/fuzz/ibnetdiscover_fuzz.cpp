// Text of ibnetdiscover: read or refused; what was read can be assembled, checked, stored and read again.
#include "topo/read/assemble.hpp"
#include "topo/check/check.hpp"
#include "topo/fabric_json.hpp"
#include "topo/read/ibnetdiscover.hpp"
#include "topo/synth/ibsim_net.hpp"
#include "topo/draw/show.hpp"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto raw = topo::parse_ibnetdiscover(text, "fuzz");
    if (!raw) return 0;
    const auto assembly = topo::assemble(*raw);
    if (!assembly) return 0;
    const auto& fabric = assembly->fabric;
    static_cast<void>(topo::check(fabric));
    static_cast<void>(topo::show(fabric, {true}));
    static_cast<void>(topo::print_ibsim_net(fabric));
    const auto stored = topo::print_fabric(fabric);
    const auto again = topo::parse_fabric(stored, "fuzz");
    if (!again || topo::print_fabric(*again) != stored) std::abort();
    return 0;
}
