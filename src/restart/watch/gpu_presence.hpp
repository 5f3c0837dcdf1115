// Finds missing GPUs of a host: those that it is known to have and that NVML does not show. A GPU that cannot
// be seen is not assumed healthy. Pure.
#pragma once

#include "restart/watch/rules/signal.hpp"
#include "restart/watch/sample.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace restart {

// "0000:14:00.0" and "0000:14:00" name one GPU.
std::string without_function(const std::string& pci);

class GpuPresence {
public:
    // Adds the signal gpu.missing for GPUs that NVML does not show, and for those that it did not show at the
    // last look; read_gpu handles those that it shows. `listing` is the last one given.
    void read(const Sample& sample, const Listing& listing, std::vector<Signal>& into);

private:
    using Gpus = std::map<std::string, std::string_view>; // PCI address without function -> who has it
    Gpus known(const Sample& sample, const Listing& listing) const;
    void take_shown(const std::vector<GpuSample>& gpus, Gpus& left);

    std::set<std::string> shown_; // PCI addresses without function, by NVML since the start
    std::set<std::string> said_;  // components that were missing at any time
};

} // namespace restart
