// The hosts of a job as the straggler detection compares them: those with enough windows, in roles of equals.
// Internal to restart/core/straggle.
#pragma once

#include "restart/core/straggle/judge.hpp"

#include <optional>
#include <string>
#include <vector>

namespace restart::straggle {

struct Comparison {
    std::vector<const PacedHost*> hosts;         // with enough windows
    std::vector<std::vector<std::size_t>> roles; // places in `hosts`: those that move as many bytes
    std::size_t windows = 0;                     // available for all of them
    double coverage = 0;                         // their share of the job's hosts

    // The k-th newest window of a host.
    const PaceWindow& at(std::size_t host, std::size_t back) const {
        const auto& list = hosts[host]->windows;
        return *list[list.size() - 1 - back];
    }
};

// None: fewer than two hosts have enough windows.
std::optional<Comparison> compare(const std::vector<PacedHost>& all);

// The rail of a port of this host, by the fabric or by its place.
int rail_of(const PacedHost& host, const std::vector<PortPace>& ports, std::size_t place);

// A suspect with the evidence against it.
using Suspect = std::optional<Straggler>;

// waits.cpp: by step marks, who waits least; sets `seen` to whether all but a few hosts make them.
Suspect by_waits(const Comparison& job, double least, bool& seen);
// causes.cpp: why this one is slow, by readings of its GPUs: sets `gpu` if it is one of them, and adds to
// evidence and confidence.
void add_causes(const Comparison& job, std::size_t host, Straggler& straggler);
// causes.cpp: without step marks, whose GPUs differ most; sets `seen` to whether they are read.
Suspect by_gpus(const Comparison& job, double least, bool& seen);
// states.cpp: what its GPUs do, a phrase each; if all of them wait in each window, which of them has no
// kernel at all.
std::vector<std::string> gpu_states(const Comparison& job);
Suspect by_stillness(const Comparison& job);
// rails.cpp: what makes a rail slow; sets `seen` to whether that can be seen.
Suspect by_rails(const Comparison& job, double least, bool& seen);
// ras.cpp: by NCCL's RAS, a process that does not answer.
Suspect by_ras(const Comparison& job, double least);
// ras.cpp: adds to evidence and confidence what RAS reports about the suspect, and about others.
void add_ras(const Comparison& job, Straggler& suspect);

} // namespace restart::straggle
