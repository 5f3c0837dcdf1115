// synth's words: read or refused; small fabrics are made and planted faults never break the file.
#include "topo/check/check.hpp"
#include "topo/fabric_json.hpp"
#include "topo/synth/synth.hpp"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    auto spec = topo::parse_synth(std::string_view(reinterpret_cast<const char*>(data), size));
    if (!spec) return 0;
    if (spec->pods * spec->units * spec->hosts > 256 || spec->spines > 64 || spec->cores > 64)
        return 0; // time
    const auto fabric = topo::synthesise(*spec);
    if (!fabric) return 0;
    static_cast<void>(topo::check(*fabric));
    const auto stored = topo::print_fabric(*fabric);
    const auto again = topo::parse_fabric(stored, "fuzz");
    if (!again || topo::print_fabric(*again) != stored) std::abort();
    return 0;
}
