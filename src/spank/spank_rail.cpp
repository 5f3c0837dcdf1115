// spank_rail.so: spank_rail(8). The plugin's identity and entry points; only these are exported.
#include "spank/plugin.hpp"

#include <slurm/slurm_version.h>

// const objects have internal linkage in C++ unless they are declared extern first.
extern "C" {
extern const char plugin_name[];
extern const char plugin_type[];
extern const unsigned int plugin_version;
extern const unsigned int spank_plugin_version;
}
SPANK_PLUGIN(rail, 1)

namespace {

spank::Arguments as_span(int count, char** arguments) {
    return {arguments, static_cast<std::size_t>(count)};
}

} // namespace

extern "C" {

int slurm_spank_init(spank_t handle, int count, char** arguments) {
    return dispatch(spank::Hook::init, handle, as_span(count, arguments));
}

int slurm_spank_init_post_opt(spank_t handle, int count, char** arguments) {
    return dispatch(spank::Hook::init_post_opt, handle, as_span(count, arguments));
}

int slurm_spank_task_init(spank_t handle, int count, char** arguments) {
    return dispatch(spank::Hook::task_init, handle, as_span(count, arguments));
}

int slurm_spank_exit(spank_t handle, int count, char** arguments) {
    return dispatch(spank::Hook::exit, handle, as_span(count, arguments));
}

} // extern "C"
