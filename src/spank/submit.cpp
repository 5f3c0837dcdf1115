// The flags, and how they reach slurmctld and the job.
#include "spank/plugin.hpp"
#include "spank/slurmctld_conf.hpp"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <utility>

namespace spank {
namespace {

// Called for each flag that was given: at submission with the text as typed, in slurmstepd (`remote`) with
// what submission accepted.
int take_flag(int flag, const char* text, int remote) {
    try {
        const auto set = options().set_flag(static_cast<std::size_t>(flag), text != nullptr ? text : "");
        if (set || remote != 0) return ESPANK_SUCCESS;
        slurm_error("%s", set.error().text.c_str());
    } catch (const std::exception& e) {
        slurm_error("spank_rail: %s", e.what());
    }
    return ESPANK_BAD_ARG;
}

// Whether this process requests an allocation from slurmctld; srun within one requests a step.
bool allocates() {
    return spank_context() == S_CTX_ALLOCATOR || std::getenv("SLURM_JOB_ID") == nullptr;
}

// The flags for slurmctld as given by the user; without the site's defaults.
std::string given_for_slurmctld() {
    std::string given;
    for (std::size_t i = 0; i < flags().size(); ++i)
        if (flags()[i].for_slurmctld && options().origin(i) >= Origin::environment)
            given += std::string(given.empty() ? "--" : ", --") + flags()[i].name + "=" + options().value(i);
    return given;
}

// Without job_submit_rail the flags would be silently lost. This is a warning, never a reason to reject the
// job.
void warn_of_lost_flags() {
    constexpr std::chrono::milliseconds patience(2'000);
    static bool asked = false; // once for all components of a heterogeneous job
    const auto given = given_for_slurmctld();
    if (given.empty() || !allocates() || std::exchange(asked, true)) return;
    if (const auto plugins = job_submit_plugins(patience); plugins && !lists_rail(*plugins))
        slurm_error("%s: has no effect, slurmctld does not know it: JobSubmitPlugins lacks rail "
                    "(job_submit_rail(8)), which an administrator can add",
                    given.c_str());
}

// Actions before or alongside a batch script only apply to sbatch. Such a setting in the environment may come
// from another job; and steps of the job are passed their own.
void warn_without_script(std::string_view name, std::string_view without, const char* what) {
    const auto flag = flag_index(name);
    const std::string_view program = program_invocation_short_name;
    if (options().origin(flag) != Origin::command_line || options().value(flag) == without ||
        std::getenv("SLURM_JOB_ID") != nullptr)
        return;
    if (program == "salloc" || program == "srun")
        slurm_error("--%s=%s: has no effect, %s", flags()[flag].name, options().value(flag).c_str(), what);
}

void say_doubts() {
    static bool said = false; // once for all components of a heterogeneous job
    if (!allocates() || std::exchange(said, true)) return;
    for (const auto& doubt : doubts(options(), [](const std::string& folder) {
             struct stat about {};
             return ::stat(folder.c_str(), &about) == 0 && S_ISDIR(about.st_mode);
         }))
        slurm_info("%s", doubt.c_str());
}

} // namespace

int register_flags(spank_t handle, Arguments arguments) {
    int result = ESPANK_SUCCESS;
    for (const char* argument : arguments) {
        if (const auto set = options().set_argument(argument); !set) {
            slurm_error("spank_rail: plugstack.conf: %s", set.error().text.c_str());
            result = ESPANK_BAD_ARG;
        }
    }
    // Slurm copies the option; its fields are not const in C.
    for (std::size_t i = 0; i < flags().size(); ++i) {
        const auto& flag = flags()[i];
        std::string name = flag.name, arginfo = flag.arginfo, usage = flag.usage;
        spank_option option{name.data(), arginfo.data(), usage.data(), 1, static_cast<int>(i), take_flag};
        if (const auto error = spank_option_register(handle, &option); error != ESPANK_SUCCESS) {
            slurm_error("spank_rail: --%s cannot be registered: %s", flag.name, spank_strerror(error));
            result = error;
        }
    }
    return result;
}

int publish(spank_t handle, Arguments) {
    auto result = ESPANK_SUCCESS;
    if (const auto read = options().read_environment([](const char* name) { return std::getenv(name); });
        !read) {
        slurm_error("%s", read.error().text.c_str());
        result = ESPANK_BAD_ARG;
    }
    for (std::size_t i = 0; i < flags().size(); ++i) {
        const auto& value = options().value(i);
        if (value.empty()) continue;
        const char* variable = flags()[i].variable;
        ::setenv(variable, value.c_str(), 1); // for the job
        if (!flags()[i].for_slurmctld) continue;
        // job_submit_rail and select_rail read it there.
        if (const auto error = spank_job_control_setenv(handle, variable, value.c_str(), 1);
            error != ESPANK_SUCCESS) {
            slurm_error("spank_rail: %s does not reach slurmctld: %s", variable, spank_strerror(error));
            result = error;
        }
    }
    if (result == ESPANK_SUCCESS) {
        warn_of_lost_flags();
        warn_without_script("rail-preflight", "off", "only jobs of sbatch are tried before they begin");
        warn_without_script("ckpt-kind", "railckpt",
                            "only beside scripts of sbatch are checkpoints watched: start railckpt watch");
        say_doubts();
    }
    return result;
}

} // namespace spank
