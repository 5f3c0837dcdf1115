#include "restart/run/command.hpp"

#include "base/hostlist.hpp"
#include "spank/rank_lists.hpp"
#include "spank/step_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace restart::run {
namespace {

using base::Code;
using base::Error;
using base::Expected;

enum class Launcher { srun, mpirun, other };

Launcher launcher_of(const Words& words) {
    std::string_view name = words.front();
    name.remove_prefix(std::min(name.rfind('/') + 1, name.size())); // npos + 1 is 0
    if (name == "srun") return Launcher::srun;
    for (const std::string_view mpirun : {"mpirun", "mpiexec", "orterun", "prterun"})
        if (name == mpirun) return Launcher::mpirun;
    return Launcher::other;
}

Words words_of_step(const Given& given) {
    return {given.words.begin() + 1, given.words.end()};
}

Error chooses(std::string_view who, std::string_view what) {
    return {Code::usage,
            fmt::format("{} {}: railrun chooses the hosts of the step: leave it out", who, what)};
}

constexpr std::array<std::string_view, 10> srun_choices = {
    "-w", "--nodelist", "-x", "--exclude", "-F", "--nodefile", "-r", "--relative", "-Z", "--no-allocate"};
constexpr std::array<std::string_view, 8> mpirun_choices = {
    "-H",         "-host",        "--host",        "-hostfile",
    "--hostfile", "-machinefile", "--machinefile", "--default-hostfile"};

Expected<void> check_srun(const Given& given, const Seats& seats) {
    if (given.get("SLURM_HOSTFILE")) return chooses("SLURM_HOSTFILE", "in the environment");
    std::string why;
    const auto asked = spank::read_step_words(words_of_step(given), why);
    if (!asked) {
        const auto option = why.substr(0, why.find_first_of("= "));
        if (std::find(srun_choices.begin(), srun_choices.end(), option) != srun_choices.end())
            return chooses("srun", option);
        if (why == "no program" || why == "a heterogeneous step")
            return Error{Code::usage, fmt::format("srun: {}", why)};
        return {};
    }
    if (asked->nodes && *asked->nodes != seats.ranks.size())
        return Error{
            Code::usage,
            fmt::format("srun --nodes={}: the step runs on the {} hosts that have ranks{}: leave "
                        "--nodes out",
                        *asked->nodes, seats.ranks.size(),
                        seats.spares.empty() ? "" : fmt::format(" ({} are spares)", seats.spares.size()))};
    return {};
}

// "8(x4),4" for these hosts, from the counts of all; nothing if they are unknown.
std::optional<std::string> counts_on(const Hosts& hosts, const Hosts& all,
                                     const std::optional<std::string>& counts) {
    const auto list = spank::expand_counts(counts.value_or(""));
    if (list.size() != all.size()) return {};
    std::map<std::string_view, std::uint32_t> of;
    for (std::size_t i = 0; i < all.size(); ++i)
        of[all[i]] = list[i];
    std::string text;
    for (std::size_t i = 0; i < hosts.size();) {
        const auto found = of.find(hosts[i]);
        if (found == of.end()) return {};
        std::size_t end = i + 1;
        while (end < hosts.size() && of.contains(hosts[end]) && of[hosts[end]] == found->second)
            ++end;
        text += fmt::format("{}{}", text.empty() ? "" : ",", found->second);
        if (end - i > 1) text += fmt::format("(x{})", end - i);
        i = end;
    }
    return text;
}

std::uint64_t sum(const std::optional<std::string>& counts) {
    std::uint64_t all = 0;
    for (const auto count : spank::expand_counts(counts.value_or("")))
        all += count;
    return all;
}

// The variables by which Slurm describes an allocation, for these of its hosts.
void describe(Started& started, const Given& given, const Hosts& hosts) {
    auto& set = started.environment;
    const auto list = base::fold_hostlist(hosts), count = fmt::format("{}", hosts.size());
    for (const char* name : {"SLURM_JOB_NODELIST", "SLURM_NODELIST"})
        set[name] = list;
    for (const char* name : {"SLURM_JOB_NUM_NODES", "SLURM_NNODES"})
        set[name] = count;
    const auto all = base::expand_hostlist(given.get("SLURM_JOB_NODELIST").value_or(""));
    if (!all) return;
    const auto tasks_before = given.get("SLURM_TASKS_PER_NODE");
    const auto tasks = counts_on(hosts, *all, tasks_before);
    if (tasks) set["SLURM_TASKS_PER_NODE"] = tasks;
    if (const auto cpus = counts_on(hosts, *all, given.get("SLURM_JOB_CPUS_PER_NODE")))
        set["SLURM_JOB_CPUS_PER_NODE"] = cpus;
    for (const char* name : {"SLURM_NTASKS", "SLURM_NPROCS"})
        if (tasks && given.get(name) == fmt::format("{}", sum(tasks_before)))
            set[name] = fmt::format("{}", sum(tasks));
}

// Whether spank_rail.so passes these hosts to srun on its own.
bool handed_over(const Given& given, const spank::RankLists& lists, const Lookup& get) {
    if (!given.ordered) return false;
    std::string why;
    const auto asked = spank::read_step_words(words_of_step(given), why);
    return asked && spank::step_hosts(*asked, lists, get, why).has_value();
}

} // namespace

Expected<void> check_command(const Given& given, const Seats& seats) {
    switch (launcher_of(given.words)) {
    case Launcher::srun: return check_srun(given, seats);
    case Launcher::mpirun:
        for (const auto& word : given.words)
            if (std::find(mpirun_choices.begin(), mpirun_choices.end(), word) != mpirun_choices.end())
                return chooses("mpirun", word);
        return {};
    case Launcher::other: break;
    }
    return {};
}

Started command_on(const Given& given, const Seats& seats, const Hosts& allocation,
                   const std::string& hostfile) {
    Started started{given.words, {}, {}};
    const auto launcher = launcher_of(given.words);
    const auto others = missing(allocation, seats.ranks);
    Hosts in_slurms_order = allocation;
    std::erase_if(in_slurms_order, [&](const std::string& host) { return others.contains(host); });
    const spank::RankLists lists{seats.ranks, {}};
    const Lookup now = [&](const std::string& name) {
        const auto changed = started.environment.find(name);
        return changed == started.environment.end() ? given.get(name) : changed->second;
    };
    // Slurm's PMIx identifies a step's hosts by their position in the job's list: if the order differs from
    // Slurm's, its tree fences may never end. srun gets the order of ranks from its hostfile.
    describe(started, given, launcher == Launcher::srun ? in_slurms_order : seats.ranks);
    if (launcher == Launcher::srun && !others.empty() && !handed_over(given, lists, now)) {
        const std::string chosen[] = {"--nodelist=" + base::fold_hostlist(in_slurms_order),
                                      fmt::format("--nodes={}", in_slurms_order.size())};
        started.words.insert(started.words.begin() + 1, std::begin(chosen), std::end(chosen));
    }
    for (const auto& name : spank::claimed("RAIL_LAUNCHERS", now))
        started.environment[name] = std::nullopt;
    started.environment["RAIL_SPARE_NODELIST"] = std::nullopt;
    const auto listed = base::expand_hostlist(now("SLURM_JOB_NODELIST").value_or(""));
    started.hostfile = spank::hostfile(lists, listed ? *listed : seats.ranks,
                                       spank::expand_counts(now("SLURM_TASKS_PER_NODE").value_or("")));
    for (auto& variable : spank::rank_environment(lists, in_slurms_order, hostfile, now))
        started.environment[variable.name] = std::move(variable.value);
    return started;
}

} // namespace restart::run
