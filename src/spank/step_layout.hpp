// What an srun within an allocation is about to ask for, read from its words and environment before it reads
// them itself, and how many tasks each host then gets. Pure.
//
// Slurm numbers the nodes of a step as they stand in its node table. The only way to another order is a list
// of hosts with one entry a task (SLURM_HOSTFILE), which srun must find before it looks at its options, and
// which then determines the whole layout. So this must know which layout stock srun would make, or do
// nothing: an option that is not known here, or that chooses hosts or order itself, means no opinion.
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
    bool fill_known = true; // nothing else decides how many tasks a node takes
};

// srun's words, without its own name, up to the program. nullopt: an option that is not known, or that says
// where tasks go; `why` names it.
std::optional<StepWords> read_step_words(const std::vector<std::string>& words, std::string& why);

struct StepHosts {
    std::vector<std::string> hosts;   // in rank order
    std::vector<std::uint32_t> tasks; // of each
    std::uint32_t total = 0;
};

// The step that stock srun would make of these words, on the job's rank hosts in their order; with as many
// nodes as the job has and spares among them, the spares last. Fewer hosts are for Slurm to choose, since
// steps may run side by side. nullopt where srun's layout cannot be predicted, and `why` says so. `get`:
// srun's environment, SLURM_* of the job.
std::optional<StepHosts> step_hosts(const StepWords& words, const RankLists& lists, const Lookup& get,
                                    std::string& why);

} // namespace spank
