#include "probe/pci_tree.hpp"

#include "base/split.hpp"

#include <string_view>

namespace probe {

namespace fs = std::filesystem;

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
