#include "spank/order.hpp"

#include "sched/ask/segments.hpp"

#include "spank/remote.hpp"

#include "base/conf.hpp"
#include "base/file.hpp"
#include "base/hostlist.hpp"
#include "base/job_folder.hpp"
#include "topo/fabric_json.hpp"

#include <fmt/format.h>

#include <malloc.h>
#include <optional>
#include <sys/mman.h>
#include <unistd.h>

namespace spank {
namespace {

struct Order {
    std::vector<std::string> hosts; // in Slurm's order
    std::optional<RankLists> lists;
    std::string file;                      // RAIL_HOSTFILE; empty: it could not be written
    std::optional<base::JobFolder> folder; // the folder of that file
};

Order& order() {
    static Order one;
    return one;
}

// In a folder that only root can write to, and that belongs to the job while this process lives.
void write_hostfile(const std::string& run_folder, std::uint32_t job, const std::string& text) {
    base::remove_left_job_folders(run_folder);
    auto folder = base::JobFolder::hold(run_folder, base::JobId(job));
    if (!folder) return slurm_verbose("spank_rail: no RAIL_HOSTFILE: %s", folder.error().text.c_str());
    order().folder = *std::move(folder);
    const auto path = order().folder->path() + "/hosts";
    if (auto written = base::write_file(path, text))
        order().file = path;
    else
        slurm_verbose("spank_rail: no RAIL_HOSTFILE: %s", written.error().text.c_str());
}

} // namespace

base::Expected<RankLists> job_lists(const std::vector<std::string>& hosts, const Lookup& get) {
    sched::Hints hints;
    for (std::size_t i = 0; i < flags().size(); ++i) {
        if (!flags()[i].for_slurmctld) continue;
        std::string value = options().value(i);
        if (options().origin(i) != Origin::command_line)
            if (auto variable = get(flags()[i].variable); variable && !variable->empty())
                value = *std::move(variable);
        // Invalid values are refused at submission: this one was set later by the script.
        if (!value.empty()) static_cast<void>(sched::set_hint(hints, flags()[i].name, value).has_value());
    }
    const auto conf = base::load_conf("", {base::ConfTable::placement});
    if (!conf) return conf.error();
    const auto fabric = topo::read_fabric(conf->placement.fabric);
    if (!fabric) return fabric.error();
    sched::Request request;
    sched::apply_hints(hints, {}, request); // the placement is already decided
    return rank_lists(*fabric, hosts, sched::sizes_of(request), request.spares, request.order);
}

void prepare_order(spank_t handle) {
    const auto nodes = task_variable(handle, "SLURM_JOB_NODELIST");
    const auto hosts = base::expand_hostlist(nodes.value_or(""));
    if (!hosts || hosts->size() < 2) return;
    const Lookup get = [&](const std::string& name) { return task_variable(handle, name); };
    auto lists = job_lists(*hosts, get);
#ifdef __GLIBC__
    ::malloc_trim(0); // the fabric is large, and slurmstepd keeps running
#endif
    if (!lists) {
        slurm_verbose("spank_rail: the order of ranks is left to Slurm: %s", lists.error().text.c_str());
        return;
    }
    order().hosts = *hosts;
    order().lists = *std::move(lists);
    const auto tasks = expand_counts(get("SLURM_TASKS_PER_NODE").value_or(""));
    write_hostfile(options().run_folder(node_name()), item(handle, S_JOB_ID, 0),
                   hostfile(*order().lists, *hosts, tasks));
}

void export_order(spank_t handle) {
    const Lookup get = [&](const std::string& name) { return task_variable(handle, name); };
    // Set by another job's script and inherited through sbatch.
    for (const auto& name : claimed("RAIL_LAUNCHERS", get))
        spank_unsetenv(handle, name.c_str());
    for (const char* name : {"RAIL_NODELIST", "RAIL_SPARE_NODELIST", "RAIL_NUM_NODES", "RAIL_HOSTFILE"})
        spank_unsetenv(handle, name);
    if (!order().lists) return;
    for (const auto& [name, value] : rank_environment(*order().lists, order().hosts, order().file, get))
        spank_setenv(handle, name.c_str(), value.c_str(), 1);
}

void change_order(spank_t handle, RankLists lists) {
    const Lookup get = [&](const std::string& name) { return task_variable(handle, name); };
    const auto hosts = base::expand_hostlist(get("SLURM_JOB_NODELIST").value_or(""));
    if (!hosts || !same_hosts(lists, *hosts)) return;
    order().hosts = *hosts;
    order().lists = std::move(lists);
    order().file.clear();
    // The file written by root contains the first order. This file has no name, and exists as long as the
    // script, which inherits it, is running.
    const int file = ::memfd_create("railyard-hosts", 0);
    const auto text =
        hostfile(*order().lists, *hosts, expand_counts(get("SLURM_TASKS_PER_NODE").value_or("")));
    if (file >= 0 && ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()))
        order().file = fmt::format("/proc/{}/fd/{}", ::getpid(), file);
    export_order(handle);
}

void forget_order() {
    if (order().folder) order().folder->remove();
    order().folder.reset();
    order().file.clear();
}

} // namespace spank
