// In slurmstepd: passes the job's settings to its tasks' environment, and binds each task.
//
// The host is examined once per step, as root and before the tasks are forked (prepare); each task then binds
// itself, as the user, in its own process (export_settings). If something requested by the user is not
// possible, this is logged in one line; it never ends a task.
#include "spank/binding.hpp"
#include "spank/environment.hpp"
#include "spank/host_view.hpp"
#include "spank/order.hpp"
#include "spank/preflight.hpp"
#include "spank/preload.hpp"
#include "spank/remote.hpp"
#include "spank/statistics.hpp"
#include "spank/watching.hpp"

#include "base/file.hpp"

#include <slurm/slurm.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <sched.h>
#include <set>
#include <string>
#include <unistd.h>
#include <vector>

namespace spank {
namespace {

// The results of prepare(); each task has a copy.
struct Prepared {
    std::optional<HostView> view;
    std::string why_not;
    std::optional<StatisticsPort> statistics; // until the end of the step
};

Prepared& prepared() {
    static Prepared one;
    return one;
}

// The flag overrides the variable, which overrides plugstack.conf.
struct Wish {
    std::string text; // empty: unset
    bool by_user = false;
};

Wish wish(spank_t handle, std::string_view name) {
    const auto flag = flag_index(name);
    if (options().origin(flag) == Origin::command_line) return {options().value(flag), true};
    if (auto variable = task_variable(handle, flags()[flag].variable); variable && !variable->empty())
        return {*std::move(variable), true};
    return {options().value(flag), false};
}

struct Asked {
    BindMode mode;
    bool by_user = false;
};

Asked asked(spank_t handle) {
    const auto [text, by_user] = wish(handle, "rail-bind");
    if (text.empty()) return {};
    const auto mode = parse_bind(text); // validated at submission, but a script may change it
    return {mode.value_or(BindMode{}), by_user};
}

std::vector<int> cpus_of_this_task() {
    std::vector<int> cpus;
    for (std::size_t most = 1024; most <= 65536; most *= 4) {
        cpu_set_t* set = CPU_ALLOC(most);
        if (set == nullptr) return cpus;
        const auto size = CPU_ALLOC_SIZE(most);
        const bool read = ::sched_getaffinity(0, size, set) == 0;
        if (read)
            for (std::size_t cpu = 0; cpu < most; ++cpu)
                if (CPU_ISSET_S(cpu, size, set)) cpus.push_back(static_cast<int>(cpu));
        CPU_FREE(set);
        if (read) break;
    }
    return cpus;
}

bool run_on(const std::vector<int>& cpus) {
    const auto most = static_cast<std::size_t>(cpus.back()) + 1;
    cpu_set_t* set = CPU_ALLOC(most);
    if (set == nullptr) return false;
    const auto size = CPU_ALLOC_SIZE(most);
    CPU_ZERO_S(size, set);
    for (const int cpu : cpus)
        CPU_SET_S(static_cast<std::size_t>(cpu), size, set);
    const bool done = ::sched_setaffinity(0, size, set) == 0;
    CPU_FREE(set);
    return done;
}

// A task's variables. Those set by NCCL's own files count as set, without a value.
class TaskVariables {
public:
    explicit TaskVariables(spank_t handle) : handle_(handle) {
        const auto home = task_variable(handle, "HOME");
        const auto named = task_variable(handle, "NCCL_CONF_FILE");
        const std::string files[] = {"/etc/nccl.conf", named  ? *named
                                                       : home ? *home + "/.nccl.conf"
                                                              : std::string()};
        for (const auto& file : files) {
            if (file.empty() || ::access(file.c_str(), R_OK) != 0) continue;
            if (const auto text = base::read_file(file, std::size_t{1} << 20))
                for (auto& name : names_in_nccl_conf(*text))
                    configured_.insert(std::move(name));
        }
    }
    std::optional<std::string> operator()(const std::string& name) const {
        auto value = task_variable(handle_, name);
        if (!value && configured_.count(name) != 0) value.emplace();
        return value;
    }

private:
    spank_t handle_;
    std::set<std::string> configured_;
};

bool is_script(std::uint32_t step) {
    return step == SLURM_BATCH_SCRIPT || step == SLURM_INTERACTIVE_STEP;
}

void log_line(bool by_user, const std::string& text) {
    if (by_user)
        slurm_error("rail-bind: %s", text.c_str());
    else
        slurm_debug("spank_rail: nothing is bound: %s", text.c_str());
}

// If there is no agent, only the statistics are lost.
void prepare_statistics(spank_t handle) {
    const auto [text, by_user] = wish(handle, "rail-ucx");
    if (text != "stats") return;
    std::uint32_t restart = 0;
    if (const auto count = task_variable(handle, "SLURM_RESTART_COUNT"))
        restart = static_cast<std::uint32_t>(std::max(0, std::atoi(count->c_str())));
    auto port = ask_for_statistics(options().socket(node_name()), item(handle, S_JOB_ID, 0), restart,
                                   item(handle, S_JOB_UID, 0));
    if (port)
        prepared().statistics = *std::move(port);
    else if (by_user)
        slurm_error("rail-ucx: no statistics: %s", port.error().text.c_str());
}

void look_at(const std::string& node) {
    auto view = view_host(node, options().fsroot(node), options().run_folder(node));
    if (view)
        prepared().view = *std::move(view);
    else
        prepared().why_not = view.error().text;
}

void bind_task(spank_t handle, bool script) {
    for (const auto& name :
         claimed("RAIL_EXPORTS", [&](const std::string& each) { return task_variable(handle, each); }))
        spank_unsetenv(handle, name.c_str());
    const auto [mode, by_user] = asked(handle);
    if (mode.what == BindMode::What::off) return;
    const auto local = item(handle, S_TASK_ID, 0);
    if (!prepared().view) {
        if (!prepared().why_not.empty() && local == 0) log_line(by_user && !script, prepared().why_not);
        return;
    }
    const auto& view = *prepared().view;
    const TaskVariables get(handle);
    const auto visible = visible_gpus(view.host().gpus.size(), get);
    Seat seat;
    seat.local = script ? 0 : local;
    seat.tasks = script ? 1 : item(handle, S_JOB_LOCAL_TASK_COUNT, 1);
    seat.gpus = visible.gpus;
    seat.gpus_own = visible.own;
    seat.cpus = cpus_of_this_task();
    if (const auto type = get("SLURM_CPU_BIND_TYPE"); type && !type->empty())
        seat.cpus_held = "srun's --cpu-bind is " + *type;
    if (script) seat.cpus_held = "a batch script";
    if (const auto wanted = get("SLURM_CPUS_PER_TASK"))
        seat.cpus_wanted = static_cast<std::uint32_t>(std::max(1, std::atoi(wanted->c_str())));
    auto binding = binding_of(view.host(), view.hcas, view.numa, seat);
    if (!binding.cpus.empty() && binding.cpus != seat.cpus) {
        if (run_on(binding.cpus))
            seat.cpus = binding.cpus;
        else
            binding.why_not = "the kernel refuses the CPUs";
    }
    const auto variables = environment(view.fabric, view.host(), binding, visible, mode, view.topo_file, get);
    if (!variables) {
        if (local == 0) log_line(by_user, variables.error().text);
        return;
    }
    for (const Variable& variable : *variables)
        spank_setenv(handle, variable.name.c_str(), variable.value.c_str(), 1);
    if (!mode.print || script) return;
    if (const auto line =
            describe(view.fabric, view.host(), binding, item(handle, S_TASK_GLOBAL_ID, 0), seat.cpus))
        ::dprintf(STDERR_FILENO, "%s\n", line->c_str());
}

// Also for the batch script: mpirun starts the ranks of its own host itself.
void preload_ucx(spank_t handle, bool script) {
    const auto [text, by_user] = wish(handle, "rail-ucx");
    const auto& statistics = prepared().statistics;
    for (const auto& [name, setting] : statistics_settings(
             statistics ? std::optional(statistics->number) : std::nullopt,
             task_variable(handle, "UCX_STATS_DEST"), task_variable(handle, "RAIL_UCX_STATS")))
        if (setting.empty())
            spank_unsetenv(handle, name.c_str());
        else
            spank_setenv(handle, name.c_str(), setting.c_str(), 1);
    if (text != "watch" && text != "stats") return;
    const auto library = options().ucx_library(node_name());
    const auto value = with_preloaded(library, task_variable(handle, "LD_PRELOAD"));
    if (!value) return;
    // Otherwise the loader prints an error on each program's standard error.
    if (::access(library.c_str(), R_OK) != 0) {
        if (by_user && !script && item(handle, S_TASK_ID, 0) == 0)
            slurm_error("rail-ucx: %s: %s", library.c_str(), std::strerror(errno));
        return;
    }
    spank_setenv(handle, "LD_PRELOAD", value->c_str(), 1);
}

} // namespace

int prepare(spank_t handle, Arguments) {
    const auto step = item(handle, S_JOB_STEPID, 0);
    if (step == SLURM_EXTERN_CONT) return ESPANK_SUCCESS;
    if (is_script(step)) prepare_order(handle);
    prepared() = {};
    prepare_statistics(handle);
    if (asked(handle).mode.what != BindMode::What::off) look_at(node_name());
    return ESPANK_SUCCESS;
}

int export_settings(spank_t handle, Arguments) {
    for (std::size_t i = 0; i < flags().size(); ++i)
        if (const auto& value = options().value(i); options().origin(i) == Origin::command_line)
            spank_setenv(handle, flags()[i].variable, value.c_str(), 1);

    // The path may be inherited from another host; this host's own is used.
    spank_setenv(handle, "RAIL_CKPT_SOCKET", options().socket(node_name()).c_str(), 1);
    const bool script = is_script(item(handle, S_JOB_STEPID, 0));
    if (script) export_order(handle);
    // An order set by us in srun: another srun within the task must not mistake it for the user's choice.
    if (task_variable(handle, step_ordered)) {
        spank_unsetenv(handle, step_ordered);
        spank_unsetenv(handle, "SLURM_DISTRIBUTION");
    }
    if (item(handle, S_JOB_STEPID, 0) == SLURM_BATCH_SCRIPT) {
        if (const auto text = wish(handle, "rail-preflight").text; !text.empty()) run_preflight(handle, text);
        if (const auto text = wish(handle, "ckpt-kind").text; !text.empty())
            start_watching(handle, text, wish(handle, "ckpt-signal").text);
    }
    bind_task(handle, script);
    preload_ucx(handle, script);
    return ESPANK_SUCCESS;
}

int clean_up(spank_t, Arguments) {
    forget_order();
    prepared().statistics.reset();
    return ESPANK_SUCCESS;
}

} // namespace spank
