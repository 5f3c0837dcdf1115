// Shared by checks that use CUDA: the list of GPUs, a process for each on the CPUs near it, the clocks during
// the test, and the verdicts.
#pragma once

#include "check/apart.hpp"
#include "check/check.hpp"
#include "check/cuda_gpu.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace check {

// A GPU that this process may use.
struct CudaDevice {
    int ordinal = 0; // CUDA's, in the order of PCI addresses
    std::string name{}, uuid{}, pci{};
    std::vector<std::string> kinds{}; // what expectations may refer to: its name, "PCIe 5 x16"
    std::string used_by{};            // other users, by NVML: "process 4711"; empty: none
    Part part{};
};

// Asks in a separate process. If the list is empty, `why` has the reason: no libcuda, no driver, no GPU, no
// answer in time.
std::vector<CudaDevice> cuda_devices(std::string_view check, const Request& request, Result& why);

// What the process of a GPU is given.
struct CudaWork {
    CudaGpu& gpu;
    Sink& sink;
    const Request& request;
    const CudaDevice& device;
    std::string check;
    std::size_t index = 0, count = 1; // of the device among all

    // Runs `alone` while no other GPU does; each process must call it the same number of times.
    void in_turn(const std::function<void()>& alone) const;

    // A result with a value, judged by the caller that waits for it.
    void measured(std::string_view test, double value, std::string_view unit, std::string says = {}) const;
    void said(std::string_view test, Verdict verdict, std::string says) const;
};

// A check that does the same on every GPU, all at once. `measure` runs in the GPU's process; a failure of the
// GPU that it leaves behind is reported for it.
using CudaMeasure = std::function<void(const CudaWork&)>;
struct CudaRun {
    std::vector<Result> results;
    // Additional facts that each process reported, in the order of devices.
    std::vector<std::map<std::string, std::string>> facts;
    std::vector<CudaDevice> devices;
};
CudaRun run_on_each(std::string_view check, const Request& request, base::Duration deadline, bool kernels,
                    const CudaMeasure& measure);

// Judges each result by its expectation, or else by the median of the host's GPUs, if there are three: below
// nine tenths of it is a warning. Pure.
void judge_all(std::vector<Result>& results, const std::vector<CudaDevice>& devices,
               const restart::Expectations& expected);

} // namespace check
