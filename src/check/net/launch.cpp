#include "check/net/launch.hpp"

#include "base/fnv.hpp"
#include "base/hostlist.hpp"
#include "base/units.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace check::net {

namespace {

using Get = std::function<const char*(const char*)>;

std::string variable(const Get& get, const char* name) {
    const char* value = get(name);
    return value == nullptr ? std::string() : value;
}

base::Expected<std::uint32_t> number(const Get& get, const char* name) {
    const auto value = base::parse_count(variable(get, name));
    if (!value || *value > 0xffffffff)
        return base::Error{base::Code::usage,
                           fmt::format("{} is no number: \"{}\"", name, variable(get, name))};
    return static_cast<std::uint32_t>(*value);
}

// The rank that the launcher set; none if there is no launcher.
base::Expected<std::optional<std::uint32_t>> launched_rank(const Get& get) {
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID"})
        if (!variable(get, name).empty()) {
            const auto rank = number(get, name);
            if (!rank) return rank.error();
            return std::optional(*rank);
        }
    return std::optional<std::uint32_t>();
}

base::Expected<Launch> ranked(Launch launch) {
    if (launch.rank >= launch.hosts.size())
        return base::Error{base::Code::usage,
                           fmt::format("rank {} of {} hosts: one process a host is needed (srun "
                                       "--ntasks-per-node=1, mpirun --map-by ppr:1:node)",
                                       launch.rank, launch.hosts.size())};
    auto sorted = launch.hosts;
    std::sort(sorted.begin(), sorted.end());
    if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
        return base::Error{base::Code::usage, fmt::format("{} is twice in the list of hosts", *twice)};
    return launch;
}

} // namespace

base::Expected<Launch> launch_of(const Said& said, const Get& get) {
    Launch launch;
    launch.job = variable(get, "SLURM_JOB_ID") + "." + variable(get, "SLURM_STEP_ID") + "." +
                 variable(get, "LSB_JOBID") + "." + variable(get, "PMIX_NAMESPACE");
    const auto given = launched_rank(get);
    if (!given) return given.error();
    if (!said.hosts.empty()) {
        auto hosts = base::expand_hostlist(said.hosts);
        if (!hosts) return std::move(hosts).error().within("--hosts");
        launch.hosts = *std::move(hosts);
        launch.job += said.hosts;
        const auto own = std::find(launch.hosts.begin(), launch.hosts.end(), said.own_name);
        if (said.rank)
            launch.rank = *said.rank;
        else if (own != launch.hosts.end())
            launch.rank = static_cast<std::uint32_t>(own - launch.hosts.begin());
        else if (*given)
            launch.rank = **given;
        else
            return base::Error{
                base::Code::usage,
                fmt::format("--hosts has no {}, this host's name: --rank says which it is", said.own_name)};
        return ranked(std::move(launch));
    }
    const auto nodes = variable(get, "SLURM_STEP_NODELIST");
    if (nodes.empty() || !*given)
        return base::Error{base::Code::usage,
                           "nothing says which hosts take part: start it by srun --ntasks-per-node=1, or say "
                           "--hosts=n[1-4]"};
    auto hosts = base::expand_hostlist(nodes);
    if (!hosts) return std::move(hosts).error().within("SLURM_STEP_NODELIST");
    launch.hosts = *std::move(hosts);
    launch.rank = **given;
    const auto tasks = number(get, "SLURM_NTASKS");
    if (!tasks) return tasks.error();
    if (*tasks != launch.hosts.size())
        return base::Error{
            base::Code::usage,
            fmt::format("{} tasks on {} hosts: one task a host is needed (srun --ntasks-per-node=1)", *tasks,
                        launch.hosts.size())};
    return ranked(std::move(launch));
}

std::vector<std::uint16_t> meeting_ports(const std::string& job) {
    constexpr std::uint16_t first = 22000, last = 32000;
    base::Fnv1a hash;
    hash.add(job);
    const auto from = static_cast<std::uint16_t>(first + 8 * (hash.value() % ((last - first) / 8)));
    std::vector<std::uint16_t> ports;
    for (std::uint16_t i = 0; i < 8; ++i)
        ports.push_back(static_cast<std::uint16_t>(from + i));
    return ports;
}

} // namespace check::net
