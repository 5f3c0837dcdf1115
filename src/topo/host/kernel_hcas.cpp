#include "topo/host/kernel_hcas.hpp"

#include "base/file.hpp"
#include "base/hostlist.hpp"
#include "topo/guid.hpp"

#include <algorithm>

namespace topo {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> entries(const fs::path& folder) {
    std::vector<std::string> names;
    std::error_code failed;
    for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed))
        names.push_back(at->path().filename().string());
    std::sort(names.begin(), names.end(), base::natural_less);
    return names;
}

Guid read_guid(const fs::path& path) {
    const auto text = base::read_file(path, 4096);
    return text ? parse_sysfs_guid(std::string_view(*text).substr(0, text->find('\n'))).value_or(0) : 0;
}

bool is(const KernelHca& there, const Hca& hca) {
    const auto has_port = [&](Guid guid) {
        return guid != 0 && std::find(there.ports.begin(), there.ports.end(), guid) != there.ports.end();
    };
    return is_devices(hca.guid) &&
           (there.guid == hca.guid || has_port(hca.guid) || // a source with ports only
            std::any_of(hca.ports.begin(), hca.ports.end(),
                        [&](const HcaPort& p) { return has_port(p.guid); }));
}

} // namespace

std::vector<KernelHca> read_kernel_hcas(const fs::path& sys) {
    std::vector<KernelHca> hcas;
    const auto folder = sys / "class" / "infiniband";
    for (const auto& device : entries(folder)) {
        auto& hca = hcas.emplace_back();
        hca.device = device;
        hca.guid = read_guid(folder / device / "node_guid");
        for (const auto& port : entries(folder / device / "ports"))
            if (const auto guid = read_guid(folder / device / "ports" / port / "gids" / "0"); guid != 0)
                hca.ports.push_back(guid);
    }
    return hcas;
}

std::string kernel_name(const Host& host, const Hca& hca, const std::vector<KernelHca>& kernel) {
    const auto same =
        std::find_if(kernel.begin(), kernel.end(), [&](const auto& there) { return is(there, hca); });
    if (same != kernel.end()) return same->device;
    const auto named = std::find_if(kernel.begin(), kernel.end(),
                                    [&](const auto& there) { return there.device == hca.device; });
    if (named == kernel.end()) return {};
    const bool anothers =
        std::any_of(host.hcas.begin(), host.hcas.end(), [&](const Hca& other) { return is(*named, other); });
    return anothers ? std::string() : named->device;
}

} // namespace topo
