// InfiniBand ports as shown by the kernel: ROOT/class/infiniband/DEVICE/ports/N (Documentation/ABI/stable/
// sysfs-class-infiniband). Reading a port counter costs a firmware command, so between full samples only the
// counters used by rules are read; their files are kept open. A port's rate and physical state are read in
// every 5th sample, and immediately while its state is, or just was, not ACTIVE: a change of either retrains
// the link. The width and speed of the HCA's PCIe link are also read in every 5th sample. Temperatures, which
// mlx5 exports as hwmon (drivers/net/ethernet/mellanox/mlx5/core/hwmon.c, Linux 6.6 and later: sensors
// labelled "asic" and "Module0", each with its critical temperature), are read from the firmware in every
// 30th; one that fails, for example on a port without a module, is tried again after an hour: the kernel logs
// each failure.
//
// A read can block as long as the firmware does: call from a thread that may block.
#pragma once

#include "base/unique_fd.hpp"
#include "probe/kernel_file.hpp"
#include "probe/sample.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace probe {

class SysfsIb {
public:
    // `root`: "/sys" or a tree with the same layout. `judged`: counter files read every time. Devices named
    // in `ignored` are left out. Nothing is read yet.
    SysfsIb(std::filesystem::path root, std::vector<std::string> judged,
            std::vector<std::string> ignored = {});

    // Replaces the list of counter files, from the next sample on.
    void judge(std::vector<std::string> counters);

    enum class Depth { judged, all };

    // Lists the devices again, then reads each InfiniBand port. Never fails: no class directory means no
    // ports; a device that goes away in between and a counter that cannot be read are left out.
    IbSample sample(Depth depth);

private:
    struct Counter {
        std::string name;
        base::UniqueFd fd;
    };
    struct Sensor {
        std::string files; // prefix of its file names: ".../temp3_"
        std::optional<double> PortSample::*celsius = nullptr;
        std::optional<double> PortSample::*critical = nullptr;
        unsigned rest = 0; // readings until it is tried again
    };
    struct Port {
        std::string device, pci;
        bool virtual_function = false;
        std::uint32_t number = 0;
        Guid node = 0, guid = 0;
        std::filesystem::path path;
        base::UniqueFd state, phys_state, rate, pcie_width, pcie_speed;
        std::vector<Counter> judged;
        std::optional<std::vector<Sensor>> sensors; // none: not found yet
        PortSample last;                            // values that are not read each time
    };
    void look_around(IbSample& into);
    void open_ports(const std::string& device, const std::filesystem::path& path);
    bool read_port(Port& port, Depth depth, PortSample& into) const;
    void read_seldom(Port& port, bool trains) const;
    void find_sensors(Port& port) const;
    void read_sensors(Port& port) const;

    std::filesystem::path class_;
    KeptFolder folder_; // class_
    unsigned samples_ = 0;
    std::vector<std::string> judged_;
    std::vector<std::string> ignored_;
    // By device name; a device is kept while its entry in the class directory exists.
    std::map<std::string, std::vector<Port>, std::less<>> devices_;
    struct LeftOut {
        std::string why;
        std::vector<Guid> ignored; // by the configuration
    };
    std::map<std::string, LeftOut, std::less<>> left_out_; // by device
};

} // namespace probe
