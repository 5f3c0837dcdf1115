// GPUs through NVML, loaded at run time: nodewatchd also runs on a host without a GPU, a driver or the
// library. Only names in nvml_abi.h are used; NVIDIA renamed throttle reasons to event reasons with driver
// 535.54.03, so both names are tried.
//
// NVML can hang in the driver: call from threads that may block. sample() and wait_xids() may run
// concurrently in two threads.
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
    // when there is no such library; Code::unavailable when it lacks a needed function or NVML does not
    // start, with NVML's error text and number ("NVML: Driver Not Loaded (9)").
    static base::Expected<NvmlGpus> open(const std::string& library);

    NvmlGpus(NvmlGpus&&) noexcept;
    NvmlGpus& operator=(NvmlGpus&&) noexcept;
    ~NvmlGpus();

    // Every GPU found at open, by index. A GPU that is lost, or for which NVML returns no handle, keeps its
    // place. What NVML does not answer is absent, never an old value. Queries for which NVML calls into the
    // driver are made in every 10th sample, staggered by GPU, and for all GPUs in the next sample after an
    // NVML event that reports a change: the PCIe link's width and replays, NVLink, fabric, the recovery
    // action and the compute processes. The times below the requested clocks are the most expensive. They are
    // read in every 40th sample, and in every sample of a GPU whose clocks are lowered by a power brake or
    // heat; an increase over more than ten samples is spread evenly over as many samples. GPM's counters are
    // read on a GPU that runs kernels, after ten samples and then in every 40th, or every 120th while its
    // power shows that it works; its power limit in every 400th. Measured on an H100 with driver 580: a 10th
    // sample costs 0.3 ms, a 40th 2 ms, GPM's counters 2 ms, the others some microseconds.
    enum class Ask { in_turn, all }; // all: everything, for callers that sample only a few times
    std::vector<GpuSample> sample(Ask ask = Ask::in_turn);

    // Whether the last sample had a GPU for which NVML answers no query. It can only recover after all
    // objects of this class are destroyed and NVML is opened again.
    bool has_silent() const;

    // The NVLink domain of each GPU found at open, by index: cluster and clique of the NVSwitch fabric that
    // it is registered with, as "UUID.CLIQUE", which on Kubernetes nodes is the label nvidia.com/gpu.clique.
    // Empty: none, as with NVSwitches in one host alone or before a successful registration, or unknown to
    // NVML.
    std::vector<std::string> nvlink_domains() const;

    // The processes computing on the GPU of this index now: "process 4711", "2 processes, such as 4711";
    // empty: none, or unknown to NVML.
    std::string used_by(std::uint32_t index) const;

    // The only user whose processes compute on that GPU (`pci` as in GpuSample). Absent: none, several, or
    // not known for all processes.
    std::optional<std::uint32_t> only_user(const std::string& pci) const;

    // Waits at most `longest` for XIDs, without their users. Empty after the timeout, and immediately if this
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
