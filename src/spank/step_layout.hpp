// The step that an srun within an allocation will request, from its arguments and environment before it reads
// them itself, and the tasks of each host. Pure.
//
// Slurm numbers the nodes of a step in the order of its node table. The only way to get another order is a
// host list with one entry per task (SLURM_HOSTFILE), which srun must find before it parses its options, and
// which then determines the whole layout. So this module must know the layout that stock srun would choose,
// or do nothing: an option that is unknown here, or that chooses hosts or order itself, means no opinion.
#pragma once

#include "spank/binding.hpp"
#include "spank/rank_lists.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spank {

struct StepWords {
    std::optional<std::uint32_t> nodes, tasks, tasks_per_node, cpus_per_task;
    bool fill_known = true; // nothing else decides how many tasks run on a node
};

// srun's arguments, without its own name, up to the program. nullopt: an option is unknown, or decides where
// tasks go; `why` names it.
std::optional<StepWords> read_step_words(const std::vector<std::string>& words, std::string& why);

struct StepHosts {
    std::vector<std::string> hosts;   // in rank order
    std::vector<std::uint32_t> tasks; // number on each host
    std::uint32_t total = 0;
};

// The step that stock srun would make of these arguments, on the job's rank hosts in their order; with as
// many nodes as the job, spares come last. With fewer, Slurm chooses the hosts, since steps may run side by
// side. nullopt if srun's layout cannot be predicted; `why` gives the reason. `get`: srun's environment, with
// SLURM_* of the job.
std::optional<StepHosts> step_hosts(const StepWords& words, const RankLists& lists, const Lookup& get,
                                    std::string& why);

} // namespace spank
