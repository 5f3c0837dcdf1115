// The job's settings in its tasks' environment.
#include "spank/plugin.hpp"

#include <climits>

namespace spank {

int export_settings(spank_t handle, Arguments) {
    for (std::size_t i = 0; i < flags().size(); ++i)
        if (const auto& value = options().value(i); options().origin(i) == Origin::command_line)
            spank_setenv(handle, flags()[i].variable, value.c_str(), 1);

    // A path from another host may have come along; this host's own counts.
    char node[HOST_NAME_MAX + 1] = "";
    if (spank_getenv(handle, "SLURMD_NODENAME", node, sizeof node) != ESPANK_SUCCESS) node[0] = '\0';
    spank_setenv(handle, "RAIL_CKPT_SOCKET", options().socket(node).c_str(), 1);
    return ESPANK_SUCCESS;
}

} // namespace spank
