// How a host proceeded with its jobs' work over a window of some seconds: what the straggler detection
// compares between the hosts of one job (core/straggle/judge.hpp).
//
// Everything is a duration, a share or a rate on the host's own clock: windows of two hosts neither begin nor
// end together, and clocks need not agree. Numbers have three significant digits, so that a summary of 8 GPUs
// and 8 ports takes about 2 KB.
#pragma once

#include "base/expected.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace restart {

// A process of a job, by its own step marks (railckpt_mark).
struct RankPace {
    std::uint32_t rank = 0;
    double steps = 0;  // a second
    double waited = 0; // the share of the time that it waited for others, 0 … 1
    bool operator==(const RankPace&) const = default;
};

// A process on the host that NCCL's RAS names (probe/nccl_ras.hpp): one that does not answer it, or one that
// has launched less than most ranks of a communicator. The second may just compute longer.
struct RasSign {
    std::int32_t gpu = -1;    // NVML's index; -1: not reported, or it has several
    bool silent = false;      // it does not answer, or was given up
    std::uint64_t behind = 0; // operations that most ranks have launched and the last one has not; 0: none
    bool operator==(const RasSign&) const = default;
};
inline constexpr std::size_t most_ras_signs = 16; // of one job on one host

// A GPU: means over the window. What it or its driver does not report is absent.
struct GpuPace {
    std::uint32_t gpu = 0;           // NVML's index
    std::optional<double> sm_mhz;    // clock of the multiprocessors
    std::optional<double> mem_mhz;   // of the memory
    std::optional<double> power_w;   // drawn
    std::optional<double> busy;      // the share of the time in which a kernel ran, 0 … 1; NCCL's waiting
                                     // kernels count
    std::optional<double> pcie_gbs;  // bandwidth of its present PCIe link, GB/s in one direction
    std::optional<double> limit_w{}; // of its power
    // Shares of the time, 0 … 1: in which its power limit held the clock of the multiprocessors down, and
    // that clock then, MHz; and in which heat or a brake did.
    std::optional<double> capped{}, capped_mhz{}, slowed{};
    // By GPM, 0 … 1: multiprocessors that had something to do, and the share of the time in which their
    // tensor cores had.
    std::optional<double> sm_active{}, tensor_active{};
    bool operator==(const GpuPace&) const = default;
};

// What a GPU does. The clock shows the kind of work, not the health: at the power limit it varies by 40 %
// with the kind of work, and a kernel of NCCL that waits for another host has the highest clock and 100 %
// utilization. Power distinguishes the two, GPM's counters better.
enum class GpuWork {
    idle,     // no kernel
    waiting,  // a kernel with next to nothing to do, such as one that waits for other hosts
    working,  //
    throttled // works, while heat or a brake holds its clocks down
};
std::string_view to_string(GpuWork work);

// None: it is not known whether a kernel runs. Numbers for H100 are measured: waiting takes 0.18 of the power
// limit, a kernel that just spins 0.21, copies 0.52, products 1; waiting keeps 0.7 % of the multiprocessors
// busy. Other kinds are assumed to be similar.
std::optional<GpuWork> work_of(const GpuPace& gpu);

// An InfiniBand port.
struct PortPace {
    std::string port;     // "mlx5_0:1"
    double mb_s = 0;      // received and sent together, 10^6 bytes a second
    double peak_mb_s = 0; // the same in the upper tenth of its seconds: while the job communicates
    // Ticks a second in which it had something to send and the other end accepted nothing (PortXmitWait): to
    // be compared with the same number of other ports. None: not read.
    std::optional<double> waits;
    double resent = 0; // retransmissions a second: timeouts and gaps in sequences
    double gbps = 0;   // rate of its link
    bool operator==(const PortPace&) const = default;
};

inline constexpr std::size_t most_paced_ranks = 64; // of one job on one host
inline constexpr std::size_t most_paced_gpus = 16, most_paced_ports = 32;

struct HostPace {
    std::uint64_t window = 0; // number of this summary: a different one is a new summary
    double seconds = 0;       // its length
    std::vector<GpuPace> gpus;
    std::vector<PortPace> ports;
    bool operator==(const HostPace&) const = default;
};

// Errors (Code::input): a number that none of these can be.
base::Expected<void> check(const RankPace& rank);
base::Expected<void> check(const HostPace& pace);
base::Expected<void> check(const std::vector<GpuPace>& gpus, std::string_view member);

// To three significant digits.
double rounded(double number);

} // namespace restart
