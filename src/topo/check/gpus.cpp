// GPUs and the HCAs of their rails: rail r should be the HCA nearest to GPU r, so that a GPU's traffic
// crosses neither a CPU socket nor another GPU's PCI switch.
#include "topo/check/parts.hpp"

#include "base/hostlist.hpp"

#include <fmt/format.h>

namespace topo::checks {
namespace {

// The GPUs that a rail serves: one each, or an equal share of the host's if there are more GPUs than rails.
struct Share {
    std::size_t first = 0, end = 0;
    bool holds(int gpu) const { return gpu != none && at(gpu) >= first && at(gpu) < end; }
};

Share share_of(std::size_t rail, std::size_t rails, std::size_t gpus) {
    if (gpus < rails) return {rail * gpus / rails, rail * gpus / rails + 1}; // several rails per GPU
    return {rail * gpus / rails, (rail + 1) * gpus / rails};
}

struct Far {
    int rail = none;
    std::string device, text; // the host's own report about it
    auto operator<=>(const Far&) const = default;
};

std::string name_gpus(const Share& share) {
    return share.end - share.first == 1 ? fmt::format("GPU {}", share.first)
                                        : fmt::format("GPUs {}-{}", share.first, share.end - 1);
}

// The rails of a host whose HCA is far from their GPUs, judged by the nearest GPU if it is reported, else by
// NUMA node.
std::vector<Far> far_rails(const Host& host) {
    std::size_t rails = 0;
    for (const Hca& hca : host.hcas)
        rails = std::max(rails, at(hca.rail + 1));
    std::vector<Far> far;
    for (const Hca& hca : host.hcas) {
        if (hca.rail == none) continue;
        const auto share = share_of(at(hca.rail), rails, host.gpus.size());
        if (hca.gpu != none) {
            if (!share.holds(hca.gpu))
                far.push_back({hca.rail, hca.device,
                               fmt::format("{} (rail {}) is nearest GPU {}, not {}", hca.device, hca.rail,
                                           hca.gpu, name_gpus(share))});
            continue;
        }
        if (hca.numa == none) continue;
        const auto begin = host.gpus.begin() + static_cast<std::ptrdiff_t>(share.first);
        const auto end = host.gpus.begin() + static_cast<std::ptrdiff_t>(share.end);
        if (std::all_of(begin, end, [&](const Gpu& gpu) { return gpu.numa != none && gpu.numa != hca.numa; }))
            far.push_back({hca.rail, hca.device,
                           fmt::format("{} (rail {}) is on NUMA node {}, {} on {}", hca.device, hca.rail,
                                       hca.numa, name_gpus(share), begin->numa)});
    }
    return far;
}

} // namespace

void gpus(const Fabric& fabric, Findings& findings) {
    std::map<std::vector<Far>, std::vector<std::uint32_t>> hosts; // by what is far
    for (std::uint32_t h = 0; h < fabric.hosts.size(); ++h) {
        if (fabric.hosts[h].gpus.empty() || fabric.hosts[h].unit == none) continue;
        if (auto far = far_rails(fabric.hosts[h]); !far.empty()) hosts[std::move(far)].push_back(h);
    }
    for (const auto& [far, members] : hosts) {
        const auto names = host_names(fabric, members);
        Finding finding{"gpu.far", Severity::warning, {names}, names + ": ", {}};
        for (const Far& one : far) {
            finding.ends.push_back(one.device);
            finding.evidence += (&one == &far.front() ? "" : ", ") + one.text;
        }
        finding.fix =
            members.size() * 2 > fabric.hosts.size()
                ? "number the rails by their nearest GPUs"
                : "look at the slots of HCAs and GPUs, which differ from other hosts', or number the "
                  "rails by their nearest GPUs";
        findings.push_back(std::move(finding));
    }
}

} // namespace topo::checks
