#include "probe/pci_tree.hpp"

#include "base/split.hpp"
#include "probe/kernel_file.hpp"

#include <algorithm>
#include <string_view>

namespace probe {

namespace fs = std::filesystem;

std::vector<std::string> gpus_on_bus(const fs::path& sysfs, bool unbound) {
    constexpr std::size_t longest = 16; // "0x030200" and a newline
    std::vector<std::string> gpus;
    std::error_code failed;
    for (fs::directory_iterator at(sysfs / "bus/pci/devices", failed), end; !failed && at != end;
         at.increment(failed)) {
        // NVIDIA's display controllers: VGA (0x0300) and 3D (0x0302); 0x0680 are NVSwitches.
        if (!start_of(at->path() / "vendor", longest).starts_with("0x10de") ||
            !start_of(at->path() / "class", longest).starts_with("0x03"))
            continue;
        std::error_code none;
        const auto driver = fs::read_symlink(at->path() / "driver", none).filename();
        if ((none ? unbound : driver == "nvidia") && !fs::exists(at->path() / "physfn", none))
            gpus.push_back(at->path().filename().string());
    }
    std::sort(gpus.begin(), gpus.end());
    return gpus;
}

PciTree::PciTree(const fs::path& sysfs) {
    std::error_code failed;
    for (fs::directory_iterator at(sysfs / "bus/pci/devices", failed), end; !failed && at != end;
         at.increment(failed)) {
        const auto device = at->path().filename().string();
        below_[device];
        std::error_code unreadable;
        // "../../../devices/pci0000:00/0000:00:01.0/0000:14:00.0"
        const auto link = fs::read_symlink(at->path(), unreadable).string();
        for (std::string_view left = link; !left.empty();) {
            const std::string part(base::next_part(left, '/'));
            if (part.find(':') != part.npos && !part.starts_with("pci") && part != device)
                below_[part].push_back(device);
        }
    }
}

std::vector<std::string> PciTree::with_below(const std::string& pci) const {
    std::vector<std::string> devices{pci};
    if (const auto found = below_.find(pci); found != below_.end())
        devices.insert(devices.end(), found->second.begin(), found->second.end());
    return devices;
}

} // namespace probe
