#include "restart/rm/slurm_calls.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

namespace restart {

#define RAIL_SLURM_POINTER(name) decltype(&::name) name = nullptr;
RAIL_SLURM_CALLS(RAIL_SLURM_POINTER)
#undef RAIL_SLURM_POINTER

base::Expected<void> load_slurm_calls(const std::string& library) {
    using base::Code;
    using base::Error;
    // Its plugins look up its functions among those of the whole process, as in every program of Slurm.
    void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (handle == nullptr)
        return Error{Code::not_found,
                     fmt::format("{}: Slurm's client library of the release that restartd was built for is "
                                 "wanted; without Slurm, [restartd] resource_manager = \"lsf\"",
                                 ::dlerror())};
    for (const char* name : {
#define RAIL_SLURM_NAME(name) #name,
             RAIL_SLURM_CALLS(RAIL_SLURM_NAME)
#undef RAIL_SLURM_NAME
         })
        if (::dlsym(handle, name) == nullptr)
            return Error{Code::unfit,
                         fmt::format("{} has no {}: it is of another release of Slurm than restartd was "
                                     "built for",
                                     library, name)};
#define RAIL_SLURM_POINTER(name) name = reinterpret_cast<decltype(&::name)>(::dlsym(handle, #name));
    RAIL_SLURM_CALLS(RAIL_SLURM_POINTER)
#undef RAIL_SLURM_POINTER
    return {};
}

const char* slurm_library() {
    return LIBSLURM;
}

} // namespace restart
