// Which GPUs, HCAs and CPUs a rank gets on its host, and what its environment says about them. Pure.
//
// The facts come from fabric.json (topo::Host) and hwloc (topo::NumaNode). What is not known is left alone:
// a binding without GPUs, CPUs or HCAs is no opinion on them.
#pragma once

#include "base/expected.hpp"
#include "topo/fabric.hpp"
#include "topo/host/numa.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spank {

// --rail-bind: off, near (the default), gpu, and print with any but off.
struct BindMode {
    enum class What : std::uint8_t {
        off,  // nothing is bound or exported
        near, // HCAs and CPUs near the rank's GPU; it sees all GPUs of the step, as most programs want
        gpu   // and it sees its own GPUs only
    };
    What what = What::near;
    bool print = false;
    bool operator==(const BindMode&) const = default;
};

// "off", "near", "gpu", "print", "gpu,print". Errors (Code::usage) name the value and what is allowed, as
// "--rail-bind=x: …".
base::Expected<BindMode> parse_bind(std::string_view value);

// The value of an environment variable of the task; nullopt when it is not set.
using Lookup = std::function<std::optional<std::string>(const std::string&)>;

// The GPUs a task may use.
struct VisibleGpus {
    // Indices into Host::gpus, as the program numbers those it sees. nullopt: not known.
    std::optional<std::vector<int>> gpus;
    std::string variable;  // that says so, CUDA_VISIBLE_DEVICES mostly; empty: none, all GPUs of the host
    bool by_slurm = false; // Slurm gave them to the step, the user did not narrow them
    bool own = false;      // Slurm gave them to this task alone (--gpu-bind, --gpus-per-task)
};

// From CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES or GPU_DEVICE_ORDINAL, whichever is
// set first, and SLURM_STEP_GPUS or SLURM_JOB_GPUS, which have the host's own numbers where cgroups make the
// others count from 0; SLURMD_TRES_BIND says that Slurm bound them. Names of GPUs (UUIDs, MIG) are known
// only by their place in Slurm's list. `gpus`: how many the host has.
VisibleGpus visible_gpus(std::size_t gpus, const Lookup& get);

// One task among those of its step on this host.
struct Seat {
    std::uint32_t local = 0; // its number: 0 … tasks - 1
    std::uint32_t tasks = 1;
    std::optional<std::vector<int>> gpus; // as VisibleGpus
    bool gpus_own = false;                // these are the task's, not the step's
    std::vector<int> cpus;                // it may run on; ascending
    std::uint32_t cpus_wanted = 1;        // that Slurm promised it
    std::string cpus_held;                // why its CPUs must stay as they are; empty: they need not
};

struct Binding {
    std::vector<int> gpus;      // the rank's own
    std::vector<int> hcas;      // near these: indices into Host::hcas in the order of rails
    std::vector<int> step_hcas; // near any GPU of the step; all, where its GPUs are not known as a whole
    int numa = topo::none;      // of all its GPUs (or HCAs, where GPUs have none)
    std::vector<int> cpus;      // to bind to; empty: they stay as they are
    std::string why_not;        // why they stay, as a sentence; empty when there is nothing to log
};

// Ranks and GPUs: what Slurm bound stays; a single rank has all GPUs and is not bound to CPUs, unless it has
// one GPU only; as many ranks or more than GPUs take turns (rank r: GPU r modulo GPUs); fewer ranks share
// them out in runs of neighbours. A GPU's HCAs are those the facts put nearest to it; where none of them
// works, the nearest remaining one in its NUMA node, then anywhere. Storage HCAs are never taken. `hcas`:
// those that work, in the order of rails (topo::exports::working_hcas).
Binding binding_of(const topo::Host& host, const std::vector<int>& hcas, std::span<const topo::NumaNode> numa,
                   const Seat& seat);

// "0-15,32": numbers in ascending order as Slurm and the kernel list them; "" for none.
std::string number_list(const std::vector<int>& numbers);

} // namespace spank
