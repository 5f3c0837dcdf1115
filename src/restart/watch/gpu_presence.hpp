// Which GPUs of a host are missing: those that it is known to have and that NVML does not show. What cannot
// be seen is no proof of health. Pure.
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
    // Adds the signal gpu.missing of GPUs that NVML does not show, and of those that it did not at the last
    // look; read_gpu has those that it shows. `listing` is the last one given.
    void read(const Sample& sample, const Listing& listing, std::vector<Signal>& into);

private:
    using Gpus = std::map<std::string, std::string_view>; // PCI address without function -> who has it
    Gpus known(const Sample& sample, const Listing& listing) const;
    void take_shown(const std::vector<GpuSample>& gpus, Gpus& left);

    std::set<std::string> shown_; // PCI addresses without function, by NVML since the start
    std::set<std::string> said_;  // components of which something was missing
};

} // namespace restart
