// NCCL and UCX on one host: the PCI tree for NCCL_TOPO_FILE, and which HCAs to use.
//
// NCCL's reader (src/graph/xml.cc, seen in 2.28) supports elements, attributes and comments, with one blank
// between attributes, no tabs and no <?xml?>. What a file omits is taken from sysfs, for the devices that
// NCCL finds itself: link speeds of GPUs and HCAs, CPU models, the nets on an HCA. So the file contains what
// sysfs may not show (in a virtual machine all devices are on one bus): NUMA nodes, and which GPU and HCAs
// are near each other, under a virtual bridge. Their addresses begin with ffff:ff, where no devices are; NCCL
// cannot look up their speed, so it is given.
#include "topo/export/nccl.hpp"

#include "topo/export/formats.hpp"
#include "topo/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace topo::exports {
namespace {

using base::Code;
using base::Error;
using base::Expected;

Error no_facts(const Host& host, std::string_view what) {
    return {Code::unfit,
            fmt::format("host {}: {} is not known; put the host's facts into the fabric file first "
                        "with railtopo gather",
                        host.name, what)};
}

bool hexadecimal(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

// "0000:18:00.0" in the format of sysfs, from that or NVML's "00000000:18:00.0"; nullopt for other text.
std::optional<std::string> bus_id(std::string_view text) {
    std::string id(text);
    for (char& c : id)
        if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
    if (id.size() == 16 && id.starts_with("0000")) id.erase(0, 4);
    constexpr std::string_view form = "hhhh:hh:hh.h";
    if (id.size() != form.size()) return {};
    for (std::size_t i = 0; i < form.size(); ++i)
        if (form[i] == 'h' ? !hexadecimal(id[i]) : id[i] != form[i]) return {};
    return id;
}

Expected<std::string> bus_id_of(const Host& host, const std::string& pci, const std::string& what) {
    if (pci.empty()) return no_facts(host, fmt::format("the PCI address of {}", what));
    if (auto id = bus_id(pci)) return std::move(*id);
    return Error{Code::unfit,
                 fmt::format("host {}: {} has the PCI address \"{}\"; one such as 0000:18:00.0 is wanted",
                             host.name, what, pci)};
}

// The PCI Express generation at which 16 lanes carry an HCA's link, in NCCL's format.
std::string_view speed_for(std::uint32_t mbps) {
    if (mbps > 400000) return "64.0 GT/s PCIe";
    if (mbps > 200000) return "32.0 GT/s PCIe";
    if (mbps > 100000) return "16.0 GT/s PCIe";
    return "8.0 GT/s PCIe";
}

struct Device {
    std::string id;
    std::string_view of_class; // as in PCI's class register
    int numa = none;
    int gpu = none; // its own index, or that of the nearest one
    std::uint32_t mbps = 0;
};

std::uint32_t rate_of(const Fabric& fabric, const Hca& hca) {
    std::uint32_t rate = 0;
    for (const HcaPort& port : hca.ports)
        if (port.link != none) rate = std::max(rate, fabric.links[at(port.link)].mbps);
    return rate;
}

Expected<std::vector<Device>> devices_of(const Fabric& fabric, const Host& host) {
    if (host.gpus.empty()) return no_facts(host, "which GPUs it has");
    std::vector<Device> devices;
    for (std::size_t g = 0; g < host.gpus.size(); ++g) {
        auto id = bus_id_of(host, host.gpus[g].pci, fmt::format("GPU {}", g));
        if (!id) return std::move(id).error();
        devices.push_back({std::move(*id), "0x030200", host.gpus[g].numa, static_cast<int>(g), 0});
    }
    for (const Hca& hca : host.hcas) {
        if (hca.role != Role::compute) continue;
        auto id = bus_id_of(host, hca.pci, hca.device);
        if (!id) return std::move(id).error();
        if (hca.gpu != none && at(hca.gpu) >= host.gpus.size())
            return Error{Code::unfit, fmt::format("host {}: {} is near GPU {}, of which the host has {} only",
                                                  host.name, hca.device, hca.gpu, host.gpus.size())};
        devices.push_back({std::move(*id), "0x020700", hca.numa, hca.gpu, rate_of(fabric, hca)});
    }
    std::sort(devices.begin(), devices.end(), [](const Device& a, const Device& b) { return a.id < b.id; });
    for (std::size_t i = 1; i < devices.size(); ++i)
        if (devices[i].id == devices[i - 1].id)
            return Error{Code::unfit, fmt::format("host {}: two devices have the PCI address {}", host.name,
                                                  devices[i].id)};
    return devices;
}

void put_device(std::string& out, int indent, const Device& device) {
    fmt::format_to(std::back_inserter(out), "{:{}}<pci busid=\"{}\" class=\"{}\"/>\n", "", indent, device.id,
                   device.of_class);
}

// Allows plain words for a shell and nccl.conf only.
Expected<void> check_device(const Host& host, const Hca& hca) {
    if (safe_name(hca.device)) return {};
    return Error{Code::unfit,
                 fmt::format("host {}: the HCA {:#018x} is called \"{}\", which is no device name; give "
                             "it a description such as \"{} mlx5_0\" (rdma-ndd does)",
                             host.name, hca.guid, hca.device, host.name)};
}

bool in_use(const Fabric& fabric, const HcaPort& port) {
    return port.link != none && fabric.links[at(port.link)].state != LinkState::down;
}

} // namespace

Expected<std::string> nccl_topo(const Fabric& fabric, const Host& host) {
    const auto devices = devices_of(fabric, host);
    if (!devices) return devices.error();

    // A bridge for each GPU that has an HCA near it, in the same NUMA node.
    struct Bridge {
        std::vector<const Device*> below;
        std::uint32_t mbps = 0;
    };
    std::map<int, Bridge> bridges; // by GPU
    const auto numa_of_gpu = [&](int gpu) { return host.gpus[at(gpu)].numa; };
    for (const Device& device : *devices)
        if (device.mbps > 0 || device.of_class == "0x020700")
            if (device.gpu != none && device.numa == numa_of_gpu(device.gpu)) {
                auto& bridge = bridges[device.gpu];
                bridge.mbps = std::max(bridge.mbps, device.mbps);
            }
    std::map<int, std::vector<const Device*>> by_numa;
    for (const Device& device : *devices) {
        const auto bridge = bridges.find(device.gpu);
        if (bridge != bridges.end() && device.numa == numa_of_gpu(device.gpu)) {
            if (bridge->second.below.empty()) by_numa[device.numa].push_back(&device);
            bridge->second.below.push_back(&device);
        } else {
            by_numa[device.numa].push_back(&device);
        }
    }

    std::string out = "<system version=\"1\">\n";
    auto put = std::back_inserter(out);
    int number = 0;
    for (const auto& [numa, first_of] : by_numa) {
        fmt::format_to(put, "  <cpu numaid=\"{}\">\n", numa);
        for (const Device* device : first_of) {
            const auto bridge = bridges.find(device->gpu);
            if (bridge == bridges.end() || bridge->second.below.front() != device) {
                put_device(out, 4, *device);
                continue;
            }
            ++number;
            fmt::format_to(put,
                           "    <pci busid=\"ffff:ff:{:02x}.0\" class=\"0x060400\" link_speed=\"{}\" "
                           "link_width=\"16\">\n",
                           number, speed_for(bridge->second.mbps));
            for (const Device* below : bridge->second.below)
                put_device(out, 6, *below);
            out += "    </pci>\n";
        }
        out += "  </cpu>\n";
    }
    out += "</system>\n";
    return out;
}

std::vector<int> working_hcas(const Fabric& fabric, const Host& host) {
    std::vector<int> working;
    for (std::size_t i = 0; i < host.hcas.size(); ++i) { // in rail order
        const Hca& hca = host.hcas[i];
        if (hca.role == Role::compute &&
            std::any_of(hca.ports.begin(), hca.ports.end(),
                        [&](const HcaPort& port) { return in_use(fabric, port); }))
            working.push_back(static_cast<int>(i));
    }
    return working;
}

Expected<NetPorts> net_ports(const Fabric& fabric, const Host& host, const std::vector<int>& hcas) {
    NetPorts net;
    std::set<int> leaves;
    for (const int index : hcas) {
        const Hca& hca = host.hcas[at(index)];
        for (const HcaPort& port : hca.ports) {
            if (!in_use(fabric, port)) continue;
            if (auto sound = check_device(host, hca); !sound) return std::move(sound).error();
            net.ports.push_back(fmt::format("{}:{}", hca.device, port.number));
            leaves.insert(port.leaf);
        }
    }
    // Each HCA on separate leaves: rails, which rings and trees should stay on. All on one leaf: no rails.
    net.cross_nic = leaves.size() >= hcas.size() && hcas.size() > 1 ? 0 : leaves.size() == 1 ? 1 : 2;
    return net;
}

Expected<std::string> nccl_env(const Fabric& fabric, const Host& host) {
    const auto hcas = working_hcas(fabric, host);
    if (hcas.empty())
        return Error{
            Code::unfit,
            fmt::format("host {}: has no compute HCA with a link; nothing can be said to NCCL", host.name)};
    const auto net = net_ports(fabric, host, hcas);
    if (!net) return net.error();
    const auto list = fmt::format("{}", fmt::join(net->ports, ","));
    return fmt::format("NCCL_IB_HCA=={0}\nNCCL_CROSS_NIC={1}\nUCX_NET_DEVICES={0}\n", list, net->cross_nic);
}

} // namespace topo::exports
