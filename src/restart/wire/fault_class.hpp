// A host's fault, as far as it matters for its repair: each rule of the agent names the class of its findings
// (watch/rules/table.hpp), and restartd has a ladder for each class
// (railyard.conf(5), table [repair]).
#pragma once

#include <string_view>

namespace restart {

// In this order: of several faults the last one decides how the host is repaired.
enum class FaultClass {
    other,      // none of those below, or not reported
    gpu_slow,   // a GPU slowed by power or heat
    link,       // a link that is down or bad
    pcie,       // a GPU's PCIe link
    hca_gone,   // an HCA that its host no longer has
    gpu_error,  // a GPU to be reset
    gpu_stuck,  // a GPU or its driver that needs a reboot
    gpu_gone,   // a GPU that has left the bus
    gpu_broken, // a GPU to be replaced, or without power
    host_lost   // the host itself; found by restartd, never by an agent
};

std::string_view to_string(FaultClass fault);

// The class with this name; other for an unknown name, as a newer agent may send it.
FaultClass fault_class(std::string_view name);

} // namespace restart
