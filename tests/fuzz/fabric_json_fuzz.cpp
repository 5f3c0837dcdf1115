// fabric.json: read or refused; what was read can be checked, shown and stored, and its bytes are stable.
#include "topo/check/check.hpp"
#include "topo/fabric_json.hpp"
#include "topo/read/loss.hpp"
#include "topo/draw/show.hpp"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto fabric =
        topo::parse_fabric(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz");
    if (!fabric) return 0;
    static_cast<void>(topo::check(*fabric));
    static_cast<void>(topo::show(*fabric));
    static_cast<void>(topo::show_json(*fabric));
    const auto stored = topo::print_fabric(*fabric);
    const auto again = topo::parse_fabric(stored, "fuzz");
    if (!again || topo::print_fabric(*again) != stored) std::abort();
    if (!topo::losses(*fabric, *again).empty()) std::abort();
    return 0;
}
