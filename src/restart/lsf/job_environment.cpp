#include "restart/lsf/job_environment.hpp"

#include "base/file.hpp"
#include "sched/ask/segments.hpp"
#include "sched/lsf/job_line.hpp"
#include "spank/host_view.hpp"
#include "spank/preload.hpp"
#include "topo/fabric_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unistd.h>

namespace restart::lsf {
namespace {

// Variables set by an outer job's rail-lsf-run are not the user's: the names listed in the variable `by` are
// unset and no longer visible.
void drop_claimed(const std::string& by, const Lookup& get, Changes& changes) {
    for (const auto& name : spank::claimed(by, get))
        changes[name] = std::nullopt;
}

Lookup behind(const Changes& changes, const Lookup& get) {
    return [&changes, &get](const std::string& name) {
        const auto changed = changes.find(name);
        return changed == changes.end() ? get(name) : changed->second;
    };
}

std::set<std::string> in_nccl_conf(const Lookup& get) {
    std::set<std::string> names;
    const auto home = get("HOME"), named = get("NCCL_CONF_FILE");
    for (const auto& file : {std::string("/etc/nccl.conf"), named  ? *named
                                                            : home ? *home + "/.nccl.conf"
                                                                   : std::string()}) {
        if (file.empty() || ::access(file.c_str(), R_OK) != 0) continue;
        if (const auto text = base::read_file(file, std::size_t{1} << 20))
            for (auto& name : spank::names_in_nccl_conf(*text))
                names.insert(std::move(name));
    }
    return names;
}

// Variables that give one launcher the hosts, or the way to reach them.
struct Choice {
    std::vector<const char*> unless; // the user has chosen if one of these is set
    std::vector<std::pair<const char*, std::string>> sets;
};

// Open MPI 4 finds its hosts by spank::rank_environment(). With launcher "rsh", Hydra passes the host as the
// first argument, as rail-lsf-rsh expects; with "ssh" an option comes first.
std::vector<Choice> choices_for(const std::string& agent, const std::string& hostfile) {
    std::vector<Choice> choices = {
        {{"OMPI_MCA_plm_rsh_agent"},
         {{"OMPI_MCA_plm_rsh_agent", agent}, {"OMPI_MCA_plm_rsh_no_tree_spawn", "1"}}},
        {{"PRTE_MCA_plm_ssh_agent"},
         {{"PRTE_MCA_plm_ssh_agent", agent}, {"PRTE_MCA_plm_ssh_no_tree_spawn", "1"}}},
        {{"HYDRA_LAUNCHER", "HYDRA_LAUNCHER_EXEC", "HYDRA_BOOTSTRAP", "HYDRA_BOOTSTRAP_EXEC"},
         {{"HYDRA_LAUNCHER", "rsh"}, {"HYDRA_LAUNCHER_EXEC", agent}}},
        {{"I_MPI_HYDRA_BOOTSTRAP", "I_MPI_HYDRA_BOOTSTRAP_EXEC"},
         {{"I_MPI_HYDRA_BOOTSTRAP", "rsh"}, {"I_MPI_HYDRA_BOOTSTRAP_EXEC", agent}}},
    };
    if (hostfile.empty()) return choices;
    choices.push_back({{}, {{"PRTE_MCA_prte_default_hostfile", hostfile}}});
    choices.push_back({{}, {{"HYDRA_HOST_FILE", hostfile}}});
    choices.push_back({{"I_MPI_HYDRA_HOSTS_GROUP"}, {{"I_MPI_HYDRA_HOST_FILE", hostfile}}});
    return choices;
}

} // namespace

Changes job_variables(const sched::Hints& hints, base::JobId job, std::uint32_t starts_before,
                      const std::string& socket) {
    Changes changes;
    for (auto& [flag, value] : sched::lsf::flags_in(hints))
        changes[std::string(sched::hint_variable(flag))] = std::move(value);
    changes["RAIL_JOB_ID"] = to_string(job);
    changes["RAIL_RESTART_COUNT"] = fmt::format("{}", starts_before);
    changes["RAIL_CKPT_SOCKET"] = socket;
    return changes;
}

Changes order_variables(const spank::RankLists& lists, const std::string& hostfile, const std::string& agent,
                        const Lookup& get) {
    Changes changes;
    drop_claimed("RAIL_LAUNCHERS", get, changes);
    for (const char* name : {"RAIL_NODELIST", "RAIL_SPARE_NODELIST", "RAIL_NUM_NODES", "RAIL_HOSTFILE"})
        changes[name] = std::nullopt;
    const auto now = behind(changes, get);
    const auto variables = spank::rank_environment(lists, {}, hostfile, now);
    std::string claims;
    for (const auto& choice : choices_for(agent, hostfile)) {
        if (std::any_of(choice.unless.begin(), choice.unless.end(),
                        [&](const char* name) { return now(name).has_value(); }))
            continue;
        for (const auto& [name, value] : choice.sets) {
            if (now(name)) continue;
            changes[name] = value;
            claims += fmt::format("{}{}={}", claims.empty() ? "" : " ", name, value);
        }
    }
    for (const auto& [name, value] : variables)
        if (name == "RAIL_LAUNCHERS")
            claims = claims.empty() ? value : fmt::format("{} {}", value, claims);
        else
            changes[name] = value;
    if (!claims.empty()) changes["RAIL_LAUNCHERS"] = claims;
    return changes;
}

std::string hostfile_of(const spank::RankLists& lists, const Allocation& allocation) {
    return spank::hostfile(lists, allocation.hosts, allocation.slots);
}

spank::RankLists lists_of(const Allocation& allocation, const sched::Hints& hints, const std::string& fabric,
                          std::string& why) {
    sched::Request request;
    sched::apply_hints(hints, {}, request); // its allowed span was decided long ago
    topo::Fabric known;
    if (allocation.hosts.size() > 1 && !fabric.empty()) {
        auto read = topo::read_fabric(fabric);
        if (read)
            known = *std::move(read);
        else
            why = read.error().text;
    }
    return spank::rank_lists(known, allocation.hosts, sched::sizes_of(request), request.spares,
                             request.order);
}

Changes host_variables(const std::string& host, const std::string& run_folder, bool alone, const Lookup& get,
                       std::string& why) {
    Changes changes;
    drop_claimed("RAIL_EXPORTS", get, changes);
    const auto before = behind(changes, get);
    const auto mode = spank::parse_bind(before("RAIL_BIND").value_or("near"));
    if (!mode) {
        why = mode.error().text;
        return changes;
    }
    if (mode->what == spank::BindMode::What::off) return changes;
    const auto view = spank::view_host(host, "", run_folder);
    if (!view) {
        why = view.error().text;
        return changes;
    }
    const auto configured = in_nccl_conf(before);
    const spank::Lookup known = [&](const std::string& name) {
        auto value = before(name);
        if (!value && configured.contains(name)) value.emplace();
        return value;
    };
    const auto visible = spank::visible_gpus(view->host().gpus.size(), known);
    spank::Seat seat; // a script: it starts the ranks of this host itself
    seat.gpus = visible.gpus;
    seat.gpus_own = visible.own;
    seat.cpus_held = "a batch script";
    const auto binding = spank::binding_of(view->host(), view->hcas, view->numa, seat);
    const auto variables = spank::environment(view->fabric, view->host(), binding, visible, {},
                                              alone ? view->topo_file : std::string(), known);
    if (!variables) {
        why = variables.error().text;
        return changes;
    }
    for (const auto& [name, value] : *variables)
        changes[name] = value;
    return changes;
}

Changes ucx_variables(const std::string& library, const Lookup& get) {
    const auto wanted = get("RAIL_UCX").value_or("");
    if ((wanted != "watch" && wanted != "stats") || ::access(library.c_str(), R_OK) != 0) return {};
    const auto preload = spank::with_preloaded(library, get("LD_PRELOAD"));
    return preload ? Changes{{"LD_PRELOAD", *preload}} : Changes{};
}

} // namespace restart::lsf
