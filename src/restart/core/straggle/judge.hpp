// Which host, GPU, port or rail slows a job down, although all of its processes wait in the same collective.
// Pure: takes the paces of the job's hosts and returns one suspect with its evidence.
//
// In a synchronous job all steps take equally long everywhere, so the step time blames no host. The evidence:
//   * The host that delays the others is the one that waits least. What the job would gain without it is how
//     much less it waits than the next ones, as in a what-if analysis (Lin et al.,
//     "Understanding Stragglers in Large Model Training Using What-if Analysis", OSDI 2025). A host that is
//     slow where the others have time to spare delays no one, whatever its clock.
//   * The reason: heat or a brake, a lower clock than its equals' at the power limit or below it, a narrower
//     PCIe link, GPUs without kernels (its CPU or its input is late; waiting NCCL kernels keep all others
//     busy), or just more to do. Which GPUs work and which wait is seen by their power, or by GPM's counters
//     (wire/pace.hpp): those that wait have the higher clocks.
//   * A collective runs over each rail as a ring or a tree, as fast as its slowest link. A slow link shows in
//     the peak of *all* hosts of its rail, against the same hosts' other rails; the bytes of a window are the
//     same. Which of the hosts it is: by its link's rate, by its retransmissions, by one that is slower
//     still, or by who waits for credits: all hosts of one leaf, or those that send to it.
//   * NCCL's RAS, if it answers, names processes that do not answer it: the job cannot go on without them,
//     though how much it waits is not seen. Ranks that have launched less than most may be late or just
//     compute longer: they blame no host, but raise or lower the confidence in the rest.
// Hosts are compared only with equals, which move as many bytes a second: stages of a pipeline and other
// roles differ by design. The judgement uses medians and median deviations, and requires the same suspect in
// most of the last windows: fail-slows last from tens of seconds to hours and slow jobs by 1.34 times on
// average (Wu et al., "Greyhound: Hunting Fail-Slows in Hybrid-Parallel Training at Scale", USENIX ATC 2025).
// NVRx treats a rank below 0.75 of the others' speed as a straggler, dlrover one at more than twice the
// median time; waiting times reveal smaller differences.
#pragma once

#include "restart/wire/pace.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace restart {

// What a host reported for one window.
struct PaceWindow {
    std::vector<RankPace> ranks; // of this job; none: it makes no step marks here
    std::vector<GpuPace> gpus;   // empty: not read, or shared with other jobs
    std::vector<PortPace> ports; // empty: not read, or shared with other jobs
    std::vector<RasSign> ras{};  // this job's processes here that NCCL's RAS names
    bool operator==(const PaceWindow&) const = default;
};

// Hosts in the order of the job's list of nodes.
struct PacedHost {
    std::string host;
    std::vector<const PaceWindow*> windows;    // oldest first, at most most_pace_windows; not owned
    std::map<std::string, int> rails;          // by port; a port without one gets its index among the ports
    std::map<std::string, std::string> leaves; // switches, by port, where the fabric file knows them
};

inline constexpr std::size_t most_pace_windows = 4;  // kept and evaluated
inline constexpr std::size_t least_pace_windows = 3; // in which a suspect must stand out

// What slows a job down.
struct Straggler {
    std::string host;                  // empty: a rail or leaf, and which of its hosts is not known
    int gpu = -1;                      // NVML's index; -1: none, or the whole host
    std::string port;                  // "mlx5_3:1"; empty: none
    int rail = -1;                     // -1: none
    std::string leaf;                  // the switch, if all its hosts are affected; empty: none
    double score = 0;                  // the share of the job's time spent waiting for it, 0 … 1
    double confidence = 0;             // 0 … 1
    std::vector<std::string> evidence; // phrases with the numbers, the strongest first
    bool operator==(const Straggler&) const = default;
};

// "n003 gpu 5", "n003 mlx5_2:1 (rail 2)", "leaf sw3 (rail 2)".
std::string name_of(const Straggler& straggler);

enum class StragglerVerdict {
    none,   // the job waits for no host in particular
    found,  // it waits for `suspect`
    unknown // too little data: `missing` says what
};

std::string_view to_string(StragglerVerdict verdict);

struct StragglerJudgement {
    StragglerVerdict verdict = StragglerVerdict::unknown;
    Straggler suspect;                // if one is found
    std::vector<std::string> missing; // what would show more, a phrase each
    std::vector<std::string> gpus{};  // what the job's GPUs do, a phrase each
    bool operator==(const StragglerJudgement&) const = default;
};

// `least`: the share of the job's time that waiting must reach to be reported, 0 … 1. Of n hosts with g GPUs,
// p ports and w windows: O(w n (g + p) log(n g)).
StragglerJudgement judge_stragglers(const std::vector<PacedHost>& hosts, double least);

} // namespace restart
