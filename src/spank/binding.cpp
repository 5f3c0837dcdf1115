#include "spank/binding.hpp"

#include "topo/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <tuple>

namespace spank {
namespace {

using topo::at;
using topo::none;

// The part of `all` for rank `local` of `ranks`.
std::vector<int> share(const std::vector<int>& all, std::size_t local, std::size_t ranks) {
    const auto count = all.size();
    if (ranks >= count) return {all[local % count]};
    const auto begin = all.begin();
    return {begin + static_cast<std::ptrdiff_t>(local * count / ranks),
            begin + static_cast<std::ptrdiff_t>((local + 1) * count / ranks)};
}

// The NUMA node of all devices, or none if they differ.
template <class Devices, class NumaOf> int common_numa(const Devices& devices, NumaOf numa_of) {
    int common = none;
    for (const int device : devices) {
        const int numa = numa_of(device);
        if (numa == none || (common != none && common != numa)) return none;
        common = numa;
    }
    return common;
}

// The HCAs nearest to the GPU according to the host's facts.
std::vector<int> near_gpu(const topo::Host& host, const std::vector<int>& hcas, int gpu) {
    std::vector<int> own;
    for (const int h : hcas)
        if (host.hcas[at(h)].gpu == gpu) own.push_back(h);
    if (!own.empty()) return own;
    const int numa = host.gpus[at(gpu)].numa;
    const auto distance = [&](int h) {
        const topo::Hca& hca = host.hcas[at(h)];
        return std::tuple(numa == none || hca.numa != numa, hca.gpu == none,
                          std::abs(hca.gpu == none ? hca.rail - gpu : hca.gpu - gpu), h);
    };
    const auto nearest =
        std::min_element(hcas.begin(), hcas.end(), [&](int a, int b) { return distance(a) < distance(b); });
    if (nearest == hcas.end()) return {};
    return {*nearest};
}

std::vector<int> near_gpus(const topo::Host& host, const std::vector<int>& hcas,
                           const std::vector<int>& gpus) {
    std::vector<int> found;
    for (const int gpu : gpus)
        for (const int h : near_gpu(host, hcas, gpu))
            found.push_back(h);
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

void bind_cpus(Binding& binding, std::span<const topo::NumaNode> numa, const Seat& seat) {
    if (!seat.cpus_held.empty()) {
        binding.why_not = seat.cpus_held;
        return;
    }
    const auto node = std::find_if(numa.begin(), numa.end(),
                                   [&](const topo::NumaNode& each) { return each.id == binding.numa; });
    if (node == numa.end()) {
        binding.why_not = fmt::format("this machine has no NUMA node {}", binding.numa);
        return;
    }
    std::vector<int> near;
    std::set_intersection(node->cpus.begin(), node->cpus.end(), seat.cpus.begin(), seat.cpus.end(),
                          std::back_inserter(near));
    if (near.empty())
        binding.why_not = fmt::format("none of its CPUs is in NUMA node {}", binding.numa);
    else if (near.size() < seat.cpus_wanted)
        binding.why_not = fmt::format("only {} of its {} CPUs are in NUMA node {}", near.size(),
                                      seat.cpus_wanted, binding.numa);
    else
        binding.cpus = std::move(near);
}

// "0,3,5"; nothing if a word is not such a number.
std::optional<std::vector<int>> indices(std::string_view list) {
    std::vector<int> numbers;
    while (!list.empty()) {
        const auto word = list.substr(0, list.find(','));
        list.remove_prefix(std::min(list.size(), word.size() + 1));
        if (word.empty() || word.size() > 4 ||
            !std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; }))
            return {};
        numbers.push_back(std::atoi(std::string(word).c_str()));
    }
    return numbers;
}

std::size_t words(std::string_view list) {
    return list.empty() ? 0 : 1 + static_cast<std::size_t>(std::count(list.begin(), list.end(), ','));
}

bool all_below(const std::vector<int>& numbers, std::size_t most) {
    return std::all_of(numbers.begin(), numbers.end(), [&](int n) { return at(n) < most; });
}

} // namespace

base::Expected<BindMode> parse_bind(std::string_view value) {
    BindMode mode;
    std::size_t whats = 0, prints = 0, others = 0;
    for (auto rest = value; !rest.empty() || others + whats + prints == 0;) {
        const auto word = rest.substr(0, rest.find(','));
        const bool last = word.size() == rest.size();
        rest.remove_prefix(last ? rest.size() : word.size() + 1);
        if (word == "print")
            ++prints;
        else if (word == "off" || word == "near" || word == "gpu") {
            ++whats;
            mode.what = word == "off"    ? BindMode::What::off
                        : word == "near" ? BindMode::What::near
                                         : BindMode::What::gpu;
        } else
            ++others;
        if (!last && rest.empty()) ++others; // ends with a comma
    }
    mode.print = prints > 0;
    if (others > 0 || whats > 1 || prints > 1 || (mode.print && mode.what == BindMode::What::off))
        return base::Error{base::Code::usage,
                           fmt::format("--rail-bind={}: must be off, near, gpu, print, near,print or "
                                       "gpu,print",
                                       value)};
    return mode;
}

VisibleGpus visible_gpus(std::size_t gpus, const Lookup& get) {
    VisibleGpus visible;
    if (const auto bound = get("SLURMD_TRES_BIND")) visible.own = bound->find("gpu") != bound->npos;
    std::string seen;
    for (const char* name :
         {"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"}) {
        auto value = get(name);
        if (!value) continue;
        visible.variable = name;
        seen = *std::move(value);
        break;
    }
    auto given = get("SLURM_STEP_GPUS");
    if (!given) given = get("SLURM_JOB_GPUS");
    const auto own = indices(given.value_or(""));
    const bool known = own && !own->empty() && all_below(*own, gpus);
    if (visible.variable.empty()) {
        visible.gpus.emplace();
        if (known)
            visible.gpus = own;
        else
            for (std::size_t g = 0; g < gpus; ++g)
                visible.gpus->push_back(static_cast<int>(g));
        visible.by_slurm = known;
        return visible;
    }
    const auto numbers = indices(seen);
    if (seen.empty() || seen == "-1" || seen == "NoDevFiles" || seen == "void" || seen == "none") {
        visible.gpus.emplace(); // no GPUs are visible
        return visible;
    }
    if (!known) {
        if (numbers && all_below(*numbers, gpus)) visible.gpus = numbers;
        return visible;
    }
    if (words(seen) == own->size()) { // all of the step's GPUs, whatever their names
        visible.by_slurm = true;
        visible.gpus = own;
        return visible;
    }
    if (!numbers || numbers->empty()) return visible;
    // A subset of the step's GPUs, in the host's numbering or from 0. If both fit and differ, it is unknown.
    const bool global = std::all_of(numbers->begin(), numbers->end(), [&](int n) {
        return std::find(own->begin(), own->end(), n) != own->end();
    });
    const bool counted = all_below(*numbers, own->size());
    std::vector<int> by_count;
    if (counted)
        for (const int n : *numbers)
            by_count.push_back((*own)[at(n)]);
    if (global && (!counted || by_count == *numbers)) visible.gpus = numbers;
    if (counted && !global) visible.gpus = by_count;
    return visible;
}

Binding binding_of(const topo::Host& host, const std::vector<int>& hcas, std::span<const topo::NumaNode> numa,
                   const Seat& seat) {
    Binding binding;
    binding.hcas = binding.step_hcas = hcas;
    if (host.gpus.empty() || !seat.gpus || seat.gpus->empty() || seat.tasks == 0 ||
        !all_below(*seat.gpus, host.gpus.size()))
        return binding;
    const auto& all = *seat.gpus;
    binding.gpus = seat.gpus_own ? all : share(all, seat.local, seat.tasks);
    const bool located = std::any_of(hcas.begin(), hcas.end(), [&](int h) {
        return host.hcas[at(h)].gpu != none || host.hcas[at(h)].numa != none;
    });
    if (located) {
        binding.hcas = near_gpus(host, hcas, binding.gpus);
        if (!seat.gpus_own) binding.step_hcas = near_gpus(host, hcas, all);
    }
    binding.numa = common_numa(binding.gpus, [&](int g) { return host.gpus[at(g)].numa; });
    if (binding.numa == none && located)
        binding.numa = common_numa(binding.hcas, [&](int h) { return host.hcas[at(h)].numa; });
    if (seat.tasks == 1 && all.size() > 1) return binding;
    if (binding.numa != none) bind_cpus(binding, numa, seat);
    return binding;
}

std::string number_list(const std::vector<int>& numbers) {
    std::string list;
    for (std::size_t i = 0; i < numbers.size();) {
        auto last = i;
        while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1)
            ++last;
        if (!list.empty()) list += ',';
        list += last == i ? fmt::format("{}", numbers[i]) : fmt::format("{}-{}", numbers[i], numbers[last]);
        i = last + 1;
    }
    return list;
}

} // namespace spank
