// In slurmd, as it starts: records what it has loaded for nodewatchd (base/slurmd_record.hpp).
#include "spank/plugin.hpp"
#include "spank/remote.hpp"

#include "base/file.hpp"
#include "base/slurmd_record.hpp"

namespace spank {
int record_slurmd(spank_t, Arguments arguments) {
    for (const char* argument : arguments)
        if (auto set = options().set_argument(argument); !set)
            slurm_error("spank_rail: %s", set.error().text.c_str());
    // Errors are ignored: slurmd must start in any case.
    const auto maps = base::read_file("/proc/self/maps");
    if (!maps) {
        slurm_info("spank_rail: %s", maps.error().text.c_str());
        return ESPANK_SUCCESS;
    }
    const auto written =
        base::write_slurmd_record(options().run_folder(node_name()), base::slurmd_record(*maps));
    if (!written)
        slurm_info("spank_rail: what slurmd has loaded is not told: %s", written.error().text.c_str());
    return ESPANK_SUCCESS;
}

} // namespace spank
