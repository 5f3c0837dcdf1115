// Text of any source but ibnetdiscover's own (ibnetdiscover_fuzz.cpp), read as each of them: read or refused;
// what was read can be stored and read again.
#include "topo/fabric_json.hpp"
#include "topo/read/plan_file.hpp"
#include "topo/read/source.hpp"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using topo::SourceFormat;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    for (const auto format :
         {SourceFormat::automatic, SourceFormat::iblinkinfo, SourceFormat::opensm, SourceFormat::net_dump,
          SourceFormat::db_csv, SourceFormat::ufm, SourceFormat::slurm, SourceFormat::lsf}) {
        const auto assembly = topo::read_source(text, "fuzz", format);
        if (!assembly) continue;
        const auto stored = topo::print_fabric(assembly->fabric);
        const auto again = topo::parse_fabric(stored, "fuzz");
        if (!again || topo::print_fabric(*again) != stored) std::abort();
    }
    static_cast<void>(topo::read_plan(text, "fuzz", {}));
    return 0;
}
