#include "check/net/devices.hpp"

#include "base/hostlist.hpp"
#include "topo/fabric_json.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <string_view>
#include <unistd.h>

namespace check::net {

namespace fs = std::filesystem;

std::string own_name() {
    std::array<char, 256> name{};
    ::gethostname(name.data(), name.size() - 1);
    const std::string text(name.data());
    return text.substr(0, text.find('.'));
}

const topo::Host* host_of(const topo::Fabric& fabric, const std::string& name) {
    const auto index = fabric.find_host(name);
    return index ? &fabric.hosts[*index] : nullptr;
}

base::Expected<topo::Fabric> fabric_for(const base::Conf& conf, const std::string& given) {
    const fs::path path = given.empty() ? fs::path(conf.placement.fabric) : fs::path(given);
    if (given.empty() && !fs::exists(path)) return topo::Fabric();
    return topo::read_fabric(path);
}

base::Expected<std::vector<std::string>> devices_of(const std::string& given, const topo::Fabric& fabric,
                                                    const std::string& host) {
    std::vector<std::string> devices;
    for (std::string_view rest = given; !rest.empty();) {
        const auto word = rest.substr(0, rest.find(','));
        rest.remove_prefix(std::min(rest.size(), word.size() + 1));
        if (!word.empty()) devices.emplace_back(word);
    }
    if (!devices.empty()) return devices;
    if (const auto* known = host_of(fabric, host))
        for (const auto& hca : known->hcas)
            if (hca.rail != topo::none)
                devices.push_back(
                    fmt::format("{}:{}", hca.device, hca.ports.empty() ? 1 : int{hca.ports.front().number}));
    std::error_code failed;
    if (!devices.empty()) return devices;
    for (const auto& entry : fs::directory_iterator("/sys/class/infiniband", failed))
        devices.push_back(entry.path().filename().string() + ":1");
    std::sort(devices.begin(), devices.end(), base::natural_less);
    if (devices.empty())
        return base::Error{
            base::Code::unavailable,
            fmt::format("{} has no HCA: --devices=eth0,eth1 names network interfaces, one a rail", host)};
    return devices;
}

} // namespace check::net
