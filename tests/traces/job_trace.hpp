// Made-up synchronous training jobs as the agents of their hosts report them, each with one known culprit or
// none: 8 GPUs and 8 rails a host, stages of a pipeline, a ring over each rail within each stage.
//
// The physics: a step takes as long as the slowest process computes and the slowest rail of any stage carries
// its bytes; whoever is quicker waits. A ring is as fast as its slowest link, so a slow port slows its rail
// on all hosts of its ring.
//
// A GPU's readings are means of what an H100 (SXM, 700 W) was seen to show: while it works, the power limit
// and a clock of 1300 to 1470 MHz that differs from chip to chip, or in jobs that do not reach the limit 366
// to 620 W and 1980 MHz; while its kernels wait, 124 W and 1980 MHz, a kernel on it all the time. Its
// utilization so tells nothing, and whoever waits has the higher clock. Where stages are uneven the first
// does another kind of work, at another clock. A GPU that is throttled is below the limit, and by half of
// them the driver says why. Invented: how many jobs reach the limit, and the spread of power below it.
//
// Noise as of sound clusters: clocks and compute times that differ by a percent
// from chip to chip and from window to window, ports' counters by three, waiting for credits by a factor of
// two, a host that stumbles for one window; and decoys that hold nobody up: a GPU of low clock that has less
// to do, a port that sends some packets again, a host that also writes to storage,
// and one that NCCL's RAS finds behind the others each time, because it launches late and is in time for all
// that.
#pragma once

#include "restart/core/straggle/judge.hpp"

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace trace {

enum class Culprit {
    none,
    gpu_clock, // a GPU that is throttled to 0.6 to 0.85 of its clock
    gpu_limit, // likewise, at the power limit: it draws what its equals do
    gpu_load,  // a GPU with more to do, as much as if it were so slow; nothing is wrong with it
    pcie,      // a GPU behind a quarter of its PCIe lanes: its copies take longer
    half_rail, // a port at half its rate
    resending, // a port that loses and resends: 0.4 to 0.7 of its rate
    slow_port, // likewise, and nothing at the port says so
    host_cpu,  // a host whose input or CPU is late: its GPUs wait for it
    slow_leaf, // the rail of a leaf: all its hosts' traffic to others
    gone,      // a process that stands still for good, and the job with it
};
inline constexpr Culprit culprits[] = {
    Culprit::none,      Culprit::gpu_clock, Culprit::gpu_limit, Culprit::gpu_load, Culprit::pcie,
    Culprit::half_rail, Culprit::resending, Culprit::slow_port, Culprit::host_cpu, Culprit::slow_leaf};
std::string_view to_string(Culprit culprit);

struct JobShape {
    int hosts = 32;
    int stages = 1;       // of the pipeline; consecutive hosts
    int hosts_a_leaf = 8; // of each rail
    bool marks = true;    // its processes make step marks
    bool gpm = false;     // its GPUs have GPM's counters
    bool ras = false;     // NCCL's RAS answers: it names late processes, and now and then others
    bool uneven = false;  // the first stage has a quarter less to do
    double severity = 1;  // of what is wrong: a third, and a GPU at 0.7 of its clock is one at 0.9
    int windows = 4;
};

class JobTrace {
public:
    JobTrace(const JobShape& shape, Culprit culprit, std::uint32_t seed);

    std::vector<restart::PacedHost> hosts() const; // points into this

    // The truth. -1 and empty: none.
    int host = -1, gpu = -1, rail = -1;
    std::string leaf;
    double cost = 0; // the share of the job's time that waits for the culprit

    // Whether this is the one. A port may be named by its host alone, and a host by one of its GPUs where all
    // of them suffer; not the other way round.
    bool is(const restart::Straggler& suspect) const;

private:
    std::string leaf_of(int host, int rail) const;
    static void stand_still(restart::PaceWindow& window, int without);
    void ask_ras(Culprit culprit, std::uint32_t seed);
    JobShape shape_;
    std::deque<std::vector<restart::PaceWindow>> windows_; // by host
};

std::string host_name(int host);

} // namespace trace
