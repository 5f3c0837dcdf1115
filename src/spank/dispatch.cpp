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
    {Hook::init, S_CTX_ALLOCATOR, register_flags},       {Hook::init, S_CTX_LOCAL, register_flags},
    {Hook::init, S_CTX_LOCAL, hand_over_order},          {Hook::init, S_CTX_REMOTE, register_flags},
    {Hook::init_post_opt, S_CTX_ALLOCATOR, publish},     {Hook::init_post_opt, S_CTX_LOCAL, publish},
    {Hook::init_post_opt, S_CTX_LOCAL, take_back_order}, {Hook::init_post_opt, S_CTX_REMOTE, prepare},
    {Hook::task_init, S_CTX_REMOTE, export_settings},    {Hook::exit, S_CTX_REMOTE, clean_up},
    {Hook::init, S_CTX_SLURMD, record_slurmd},
};

} // namespace

Options& options() {
    static Options one;
    return one;
}

int dispatch(Hook hook, spank_t handle, Arguments arguments) {
    try {
        const auto context = spank_context();
        for (const auto& entry : entries) {
            if (entry.hook != hook || entry.context != context) continue;
            if (const int result = entry.run(handle, arguments); result != ESPANK_SUCCESS) return result;
        }
    } catch (const std::exception& e) {
        slurm_error("spank_rail: %s", e.what());
        return ESPANK_ERROR;
    }
    return ESPANK_SUCCESS;
}

} // namespace spank
