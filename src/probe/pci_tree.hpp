// Which PCI devices are below which ports, from the links in /sys/bus/pci/devices: each path leads through
// the ports above the device (Documentation/ABI/testing/sysfs-bus-pci).
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace probe {

// The addresses of NVIDIA GPUs ("0000:14:00.0") on the PCI bus that are bound to NVIDIA's driver or, with
// `unbound`, to no driver. GPUs bound to another driver, such as one given to a virtual machine (vfio-pci),
// and virtual functions are not included. What cannot be read is left out.
std::vector<std::string> gpus_on_bus(const std::filesystem::path& sysfs, bool unbound);

class PciTree {
public:
    PciTree() = default;
    // What cannot be read is left out. Takes a few microseconds per device.
    explicit PciTree(const std::filesystem::path& sysfs);

    // A device that has left the bus since is still known.
    bool knows(const std::string& pci) const { return below_.contains(pci); }
    // The device and all devices below it; only itself if it is unknown.
    std::vector<std::string> with_below(const std::string& pci) const;

private:
    std::map<std::string, std::vector<std::string>> below_;
};

} // namespace probe
