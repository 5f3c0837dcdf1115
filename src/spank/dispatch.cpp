#include "spank/plugin.hpp"

#include <exception>

namespace spank {
namespace {

struct Entry {
    Hook hook;
    spank_context_t context;
    int (*run)(spank_t, Arguments);
};

constexpr Entry entries[] = {
    {Hook::init, S_CTX_ALLOCATOR, register_flags},    {Hook::init, S_CTX_LOCAL, register_flags},
    {Hook::init, S_CTX_REMOTE, register_flags},       {Hook::init_post_opt, S_CTX_ALLOCATOR, publish},
    {Hook::init_post_opt, S_CTX_LOCAL, publish},      {Hook::init_post_opt, S_CTX_REMOTE, prepare},
    {Hook::task_init, S_CTX_REMOTE, export_settings},
};

} // namespace

Options& options() {
    static Options one;
    return one;
}

int dispatch(Hook hook, spank_t handle, Arguments arguments) {
    try {
        const auto context = spank_context();
        for (const auto& entry : entries)
            if (entry.hook == hook && entry.context == context) return entry.run(handle, arguments);
    } catch (const std::exception& e) {
        slurm_error("spank_rail: %s", e.what());
        return ESPANK_ERROR;
    }
    return ESPANK_SUCCESS;
}

} // namespace spank
