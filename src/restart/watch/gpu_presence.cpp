#include "restart/watch/gpu_presence.hpp"

#include <fmt/format.h>

namespace restart {

std::string without_function(const std::string& pci) {
    return pci.substr(0, pci.find('.'));
}

GpuPresence::Gpus GpuPresence::known(const Sample& sample, const Listing& listing) const {
    Gpus known;
    for (const auto& pci : shown_)
        known[pci] = "NVML has shown it before";
    for (const auto& pci : sample.gpus_on_bus)
        known[without_function(pci)] = "it is on the PCI bus";
    // The same number at other addresses: a board was exchanged after the file was written.
    if (!sample.gpus || sample.gpus->size() < listing.gpus.size())
        for (const auto& pci : listing.gpus)
            known[without_function(pci)] = "the fabric file lists it";
    for (const auto& pci : sample.gpus_ignored)
        known.erase(without_function(pci));
    return known;
}

void GpuPresence::take_shown(const std::vector<GpuSample>& gpus, Gpus& left) {
    std::size_t nameless = 0; // each may be any of the remaining ones
    for (const auto& gpu : gpus) {
        if (gpu.pci.empty()) {
            ++nameless;
            continue;
        }
        left.erase(without_function(gpu.pci));
        shown_.insert(without_function(gpu.pci));
    }
    for (; nameless > 0 && !left.empty(); --nameless)
        left.erase(left.begin());
}

void GpuPresence::read(const Sample& sample, const Listing& listing, std::vector<Signal>& into) {
    if (!sample.gpus && sample.no_nvml.empty()) return; // not sampled
    auto left = known(sample, listing);
    std::map<std::string, std::string> missing; // component -> why
    if (sample.gpus) {
        take_shown(*sample.gpus, left);
        for (const auto& [pci, who] : left)
            missing["gpu/" + pci] = fmt::format("{}, and NVML does not show it", who);
    } else if (!left.empty()) {
        missing["gpu"] = fmt::format("{}; the host has {} GPU{}", sample.no_nvml, left.size(),
                                     left.size() == 1 ? "" : "s");
    }
    std::set<std::string> shown; // already have the signal
    if (sample.gpus)
        for (const auto& gpu : *sample.gpus)
            shown.insert(fmt::format("gpu{}", gpu.index));
    for (const auto& component : said_)
        if (!missing.contains(component) && !shown.contains(component))
            into.push_back({"gpu.missing", component, 0, 0, {}});
    for (const auto& [component, why] : missing) {
        into.push_back({"gpu.missing", component, 1, 0, why});
        said_.insert(component);
    }
    // NVML numbers them differently when it is restarted with fewer.
    said_.insert(shown.begin(), shown.end());
}

} // namespace restart
