#include "topo/host/hwloc_facts.hpp"

#include "base/file.hpp"
#include "base/hostlist.hpp"
#include "topo/guid.hpp"

#include <fmt/format.h>

#include <hwloc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <type_traits>

namespace topo {
namespace {

using base::Code;
using base::Error;
using base::Expected;

struct Destroy {
    void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, Destroy>;

using PciDevice = decltype(hwloc_obj_attr_u::pcidev);

// PCI classes (PCI Code and ID Assignment 1.11): 03xx display controllers, 1200 processing accelerators.
bool is_gpu(const PciDevice& pci) {
    constexpr unsigned nvidia = 0x10de, amd = 0x1002;
    const auto group = pci.class_id >> 8;
    return (pci.vendor_id == nvidia && group == 0x03) ||
           (pci.vendor_id == amd && (group == 0x03 || group == 0x12));
}

std::string shown(const std::string& file) {
    return file == "-" ? "standard input" : file;
}

std::string pci_address(const PciDevice& pci) {
    return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", static_cast<unsigned>(pci.domain),
                       static_cast<unsigned>(pci.bus), static_cast<unsigned>(pci.dev),
                       static_cast<unsigned>(pci.func));
}

hwloc_obj_t pci_parent(hwloc_obj_t device) {
    while (device != nullptr && device->type != HWLOC_OBJ_PCI_DEVICE)
        device = device->parent;
    return device;
}

// The NUMA node local to a device, if it is one.
int numa_of(hwloc_topology_t topology, hwloc_obj_t device) {
    const auto* place = hwloc_get_non_io_ancestor_obj(topology, device);
    if (place == nullptr || place->nodeset == nullptr || hwloc_bitmap_weight(place->nodeset) != 1)
        return none;
    return hwloc_bitmap_first(place->nodeset);
}

// The path from the root to the object. (hwloc_get_common_ancestor_obj() does not accept I/O objects.)
std::vector<hwloc_obj_t> path_to(hwloc_obj_t object) {
    std::vector<hwloc_obj_t> path;
    for (; object != nullptr; object = object->parent)
        path.push_back(object);
    std::reverse(path.begin(), path.end());
    return path;
}

int common(const std::vector<hwloc_obj_t>& a, const std::vector<hwloc_obj_t>& b) {
    const auto differ = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
    return static_cast<int>(differ.first - a.begin());
}

// "946d:ae00:0001:0010" in sysfs's format.
Guid node_guid(hwloc_obj_t device) {
    const char* said = hwloc_obj_get_info_by_name(device, "NodeGUID");
    if (said == nullptr) return 0;
    std::string digits(said);
    std::erase(digits, ':');
    return parse_guid(digits).value_or(0);
}

Expected<Topology> load(const HwlocSource& source) {
    hwloc_topology_t raw = nullptr;
    if (hwloc_topology_init(&raw) != 0) return Error{Code::internal, "hwloc cannot be initialised"};
    Topology topology(raw);
    for (const char* part : {"cuda", "nvml", "opencl", "rsmi", "levelzero", "gl"})
        static_cast<void>(hwloc_topology_set_components(raw, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, part));
    hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_ALL);
    const auto refused = [&](std::string_view what) {
        return Error{Code::input, fmt::format("{}: hwloc cannot read it: {}", shown(source.xml), what)};
    };
    if (!source.xml.empty()) {
        const auto text = base::read_file(source.xml, std::size_t{1} << 28);
        if (!text) return text.error();
        // hwloc expects the size to include the terminating NUL.
        if (hwloc_topology_set_xmlbuffer(raw, text->c_str(), static_cast<int>(text->size() + 1)) != 0)
            return refused("it is no topology in XML; lstopo host.xml writes one");
        if (hwloc_topology_load(raw) != 0) return refused("the topology in it is damaged");
        return topology;
    }
    if (!source.fsroot.empty()) {
        std::error_code ignored;
        if (!std::filesystem::is_directory(std::filesystem::path(source.fsroot) / "sys", ignored))
            return Error{Code::io,
                         fmt::format("{}: holds no directory sys: the root of a copy of a host's /sys "
                                     "and /proc is wanted",
                                     source.fsroot)};
        setenv("HWLOC_FSROOT", source.fsroot.c_str(), 1);
    }
    if (hwloc_topology_load(raw) != 0)
        return Error{Code::io, source.fsroot.empty()
                                   ? std::string("hwloc cannot read this machine's topology from /sys")
                                   : fmt::format("{}: hwloc finds no machine in it", source.fsroot)};
    return topology;
}

Expected<std::string> host_name(const HwlocSource& source, hwloc_topology_t topology) {
    if (!source.host.empty()) return source.host;
    std::string name;
    if (source.xml.empty() && source.fsroot.empty()) {
        std::array<char, 256> buffer{};
        if (gethostname(buffer.data(), buffer.size() - 1) == 0) name = buffer.data();
    } else if (const char* said = hwloc_obj_get_info_by_name(hwloc_get_root_obj(topology), "HostName");
               said != nullptr && !source.xml.empty()) {
        name = said;
    } else if (const auto text =
                   base::read_file(std::filesystem::path(source.fsroot) / "proc/sys/kernel/hostname", 4096);
               !source.fsroot.empty() && text) {
        name = text->substr(0, text->find('\n'));
    }
    name = name.substr(0, name.find('.'));
    if (name.empty())
        return Error{Code::input, fmt::format("{}: tells no host name; give one with --host",
                                              source.xml.empty() ? source.fsroot : shown(source.xml))};
    return name;
}

} // namespace

Expected<HostFacts> read_hwloc_facts(const HwlocSource& source) {
    const auto topology = load(source);
    if (!topology) return topology.error();
    auto name = host_name(source, topology->get());
    if (!name) return std::move(name).error();
    HostFacts facts;
    facts.host = *std::move(name);

    struct Place {
        std::string pci;
        std::vector<hwloc_obj_t> path;
        int numa;
    };
    std::vector<Place> gpus;
    for (hwloc_obj_t at = nullptr; (at = hwloc_get_next_pcidev(topology->get(), at)) != nullptr;)
        if (is_gpu(at->attr->pcidev))
            gpus.push_back({pci_address(at->attr->pcidev), path_to(at), numa_of(topology->get(), at)});
    std::sort(gpus.begin(), gpus.end(), [](const Place& a, const Place& b) { return a.pci < b.pci; });
    for (const Place& gpu : gpus)
        facts.gpus.push_back({gpu.pci, gpu.numa});

    for (hwloc_obj_t at = nullptr; (at = hwloc_get_next_osdev(topology->get(), at)) != nullptr;) {
        if (at->attr->osdev.type != HWLOC_OBJ_OSDEV_OPENFABRICS || at->name == nullptr) continue;
        HcaFacts& hca = facts.hcas.emplace_back();
        hca.device = at->name;
        hca.guid = node_guid(at);
        hca.numa = numa_of(topology->get(), at);
        if (const auto* pci = pci_parent(at); pci != nullptr) hca.pci = pci_address(pci->attr->pcidev);
        const auto path = path_to(at);
        for (const Place& gpu : gpus)
            hca.shared.push_back(common(path, gpu.path));
    }
    std::sort(facts.hcas.begin(), facts.hcas.end(),
              [](const HcaFacts& a, const HcaFacts& b) { return base::natural_less(a.device, b.device); });
    const auto nearest = pair_gpus(facts);
    for (std::size_t h = 0; h < facts.hcas.size(); ++h)
        facts.hcas[h].gpu = nearest[h];
    return facts;
}

} // namespace topo
