// GPUs through NVML, loaded at run time: a host without a GPU, a driver or the library runs nodewatchd all
// the same. Only names of nvml_abi.h are used; NVIDIA renamed throttle reasons to event reasons with driver
// 535.54.03, so both names are tried.
//
// NVML can hang in the driver: call from threads that may wait. sample() and wait_xids() may run at the same
// time in two threads.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "probe/sample.hpp"

#include <memory>
#include <string>
#include <vector>

namespace probe {

class NvmlGpus {
public:
    // Loads `library` (a name for the dynamic linker, or a path) and starts NVML. Errors: Code::not_found
    // when there is no such library; Code::unavailable when it lacks what is needed or NVML does not start,
    // with its number and words ("NVML: Driver Not Loaded (9)").
    static base::Expected<NvmlGpus> open(const std::string& library);

    NvmlGpus(NvmlGpus&&) noexcept;
    NvmlGpus& operator=(NvmlGpus&&) noexcept;
    ~NvmlGpus();

    // Every GPU there was at open, by index. A GPU that is lost, or of which NVML gives no handle, keeps its
    // place. What NVML does not answer is absent, never a value from before. What NVML asks the driver for at
    // each call is asked with each tenth sample, of each GPU with another one, and of all with the next after
    // an event of NVML that says that something of it has changed: the PCIe link's width and replays, NVLink,
    // fabric, the recovery action and who computes there. Times below the wanted clocks, which cost most, are
    // asked with each fortieth, and of a GPU with each while a brake or heat lowers its clocks; what they
    // grew by in more than ten samples is handed on evenly over as many. GPM's counters are read of a
    // GPU on which kernels run, after ten samples and then with each fortieth, or 120th while its power shows
    // that it works; its power limit with each 400th. Measured of an H100 with driver 580: a tenth sample
    // costs 0.3 ms, a fortieth 2 ms, GPM's counters 2 ms, the others some microseconds.
    enum class Ask { in_turn, all }; // all: everything, for who looks a few times
    std::vector<GpuSample> sample(Ask ask = Ask::in_turn);

    // Whether the last sample had a GPU about which NVML answers nothing. It may only do so again after all
    // objects of this class are gone and NVML is opened anew.
    bool has_silent() const;

    // The NVLink domain of each GPU there was at open, by index: cluster and clique of the NVSwitch fabric
    // that it is registered with, as "UUID.CLIQUE", which Kubernetes nodes have as label
    // nvidia.com/gpu.clique. Empty: none, as of GPUs whose NVSwitches join one host alone, of a registration
    // that has not succeeded, or NVML does not say.
    std::vector<std::string> nvlink_domains() const;

    // Who computes on the GPU of this index now: "process 4711", "2 processes, such as 4711"; empty: nobody,
    // or NVML does not say.
    std::string used_by(std::uint32_t index) const;

    // The one user whose processes compute on that GPU (its place as of GpuSample). Absent: none, several, or
    // not known of each.
    std::optional<std::uint32_t> only_user(const std::string& pci) const;

    // Waits at most `longest` for XIDs, without their users. Empty at the timeout, and at once when this
    // driver has no events: see has_xid_events.
    std::vector<XidEvent> wait_xids(base::Duration longest);
    bool has_xid_events() const;

private:
    struct Library;
    struct Asking;
    explicit NvmlGpus(std::unique_ptr<Library> library);
    std::unique_ptr<Library> library_;
};

} // namespace probe
