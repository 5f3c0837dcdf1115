// Which GPUs, HCAs and CPUs a rank gets on its host, and the matching environment variables. Pure.
//
// The facts come from fabric.json (topo::Host) and hwloc (topo::NumaNode). What is not known is left
// unchanged: a binding without GPUs, CPUs or HCAs has no opinion on them.
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

// --rail-bind: off, near (the default), gpu; with any but off also print.
struct BindMode {
    enum class What : std::uint8_t {
        off,  // nothing is bound or exported
        near, // HCAs and CPUs near the rank's GPU; it sees all GPUs of the step, as most programs expect
        gpu   // the same, but it sees only its own GPUs
    };
    What what = What::near;
    bool print = false;
    bool operator==(const BindMode&) const = default;
};

// "off", "near", "gpu", "print", "gpu,print". Errors (Code::usage) give the value and the allowed values:
// "--rail-bind=x: …".
base::Expected<BindMode> parse_bind(std::string_view value);

// The value of a task's environment variable; nullopt if it is not set.
using Lookup = std::function<std::optional<std::string>(const std::string&)>;

// The GPUs a task may use.
struct VisibleGpus {
    // Indices into Host::gpus, in the order in which the program numbers its GPUs. nullopt: unknown.
    std::optional<std::vector<int>> gpus;
    std::string variable;  // their source, mostly CUDA_VISIBLE_DEVICES; empty: none, all GPUs of the host
    bool by_slurm = false; // allocated to the step by Slurm, not narrowed by the user
    bool own = false;      // allocated by Slurm to this task alone (--gpu-bind, --gpus-per-task)
};

// From CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES or GPU_DEVICE_ORDINAL, whichever is
// set first, and SLURM_STEP_GPUS or SLURM_JOB_GPUS, which use the host's numbering even if cgroups make the
// others count from 0. SLURMD_TRES_BIND shows that Slurm bound the GPUs. Names (UUIDs, MIG) are only known by
// position in Slurm's list. `gpus`: how many the host has.
VisibleGpus visible_gpus(std::size_t gpus, const Lookup& get);

// One task of a step, among those on this host.
struct Seat {
    std::uint32_t local = 0; // its number: 0 … tasks - 1
    std::uint32_t tasks = 1;
    std::optional<std::vector<int>> gpus; // as in VisibleGpus
    bool gpus_own = false;                // they belong to this task, not to the whole step
    std::vector<int> cpus;                // allowed CPUs; ascending
    std::uint32_t cpus_wanted = 1;        // CPUs that Slurm allocated to the task
    std::string cpus_held;                // why its CPUs must not be changed; empty: they may be
};

struct Binding {
    std::vector<int> gpus;      // of this rank
    std::vector<int> hcas;      // near its GPUs: indices into Host::hcas in the order of rails
    std::vector<int> step_hcas; // near any GPU of the step; all if not all of the step's GPUs are known
    int numa = topo::none;      // of all its GPUs (or HCAs, if the GPUs have none)
    std::vector<int> cpus;      // to bind to; empty: not changed
    std::string why_not;        // why they are not changed, as a sentence; empty if there is nothing to log
};

// Ranks and GPUs: a binding by Slurm is kept. A single rank gets all GPUs and is not bound to CPUs, unless it
// has only one GPU. With at least as many ranks as GPUs, rank r gets GPU r modulo GPUs; fewer ranks get runs
// of consecutive ones. A GPU's HCAs are those nearest to it in the host's facts; if none of them works, the
// nearest working one in its NUMA node, else anywhere. Storage HCAs are never used. `hcas`: those that work,
// in the order of rails (topo::exports::working_hcas).
Binding binding_of(const topo::Host& host, const std::vector<int>& hcas, std::span<const topo::NumaNode> numa,
                   const Seat& seat);

// "0-15,32": numbers in ascending order, in the list format of Slurm and the kernel; "" for none.
std::string number_list(const std::vector<int>& numbers);

} // namespace spank
