// Which PCI devices are below which ports, by the links of /sys/bus/pci/devices, each of which leads through
// the ports above its device (Documentation/ABI/testing/sysfs-bus-pci).
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace probe {

// The addresses of NVIDIA's GPUs ("0000:14:00.0") on the PCI bus that its driver serves, or, with `unbound`,
// that no driver serves. Those that another driver has, as one given to a virtual machine (vfio-pci), and
// virtual functions are none. What cannot be read is left out.
std::vector<std::string> gpus_on_bus(const std::filesystem::path& sysfs, bool unbound);

class PciTree {
public:
    PciTree() = default;
    // What cannot be read is not in it. Takes a few microseconds a device.
    explicit PciTree(const std::filesystem::path& sysfs);

    // A device that has left the bus since is still known.
    bool knows(const std::string& pci) const { return below_.contains(pci); }
    // The device and all below it; it alone where it is not known.
    std::vector<std::string> with_below(const std::string& pci) const;

private:
    std::map<std::string, std::vector<std::string>> below_;
};

} // namespace probe
