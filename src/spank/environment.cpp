#include "spank/environment.hpp"

#include "base/ucx_words.hpp"
#include "topo/export/nccl.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace spank {
namespace {

constexpr const char* exports = "RAIL_EXPORTS";

// Whether UCX may use InfiniBand; an empty list allows nothing.
bool ucx_on_infiniband(const Lookup& get) {
    const auto transports = get("UCX_TLS");
    return !transports || (!transports->empty() && base::ucx_tls_has_infiniband(*transports));
}

} // namespace

std::vector<std::string> claimed(const std::string& by, const Lookup& get) {
    std::vector<std::string> names;
    const auto claims = get(by);
    if (!claims) return names;
    for (std::string_view rest = *claims; !rest.empty();) {
        const auto word = rest.substr(0, rest.find(' '));
        rest.remove_prefix(std::min(rest.size(), word.size() + 1));
        const auto equals = word.find('=');
        if (equals == word.npos || equals == 0) continue;
        std::string name(word.substr(0, equals));
        if (get(name) == std::string(word.substr(equals + 1))) names.push_back(std::move(name));
    }
    names.push_back(by);
    return names;
}

base::Expected<std::vector<Variable>> environment(const topo::Fabric& fabric, const topo::Host& host,
                                                  const Binding& binding, const VisibleGpus& visible,
                                                  BindMode mode, const std::string& topo_file,
                                                  const Lookup& get) {
    std::vector<Variable> variables;
    const auto set = [&](const char* name, std::string value) {
        if (!get(name)) variables.push_back({name, std::move(value)});
    };
    if (!binding.step_hcas.empty()) {
        const auto own = topo::exports::net_ports(fabric, host, binding.hcas);
        if (!own) return own.error();
        const auto step = topo::exports::net_ports(fabric, host, binding.step_hcas);
        if (!step) return step.error();
        if (ucx_on_infiniband(get)) set("UCX_NET_DEVICES", fmt::format("{}", fmt::join(own->ports, ",")));
        // "=": match whole names. All of the step's HCAs, since NCCL's ranks use each other's.
        set("NCCL_IB_HCA", fmt::format("={}", fmt::join(step->ports, ",")));
        set("NCCL_CROSS_NIC", fmt::format("{}", step->cross_nic));
    }
    if (!topo_file.empty()) set("NCCL_TOPO_FILE", topo_file);

    std::string words;
    for (const Variable& variable : variables) {
        if (variable.value.find(' ') != std::string::npos) continue;
        if (!words.empty()) words += ' ';
        words += fmt::format("{}={}", variable.name, variable.value);
    }
    // Not claimed: a step within this step would assume that these are all GPUs.
    if (mode.what == BindMode::What::gpu && !binding.gpus.empty() && visible.gpus &&
        binding.gpus.size() < visible.gpus->size() && (visible.variable.empty() || visible.by_slurm)) {
        // Using the names by which the program knows them.
        const auto whole = visible.variable.empty() ? std::nullopt : get(visible.variable);
        std::string_view rest = whole ? std::string_view(*whole) : std::string_view();
        std::vector<std::string> names;
        for (const int gpu : *visible.gpus) {
            const auto word = rest.substr(0, rest.find(','));
            rest.remove_prefix(std::min(rest.size(), word.size() + 1));
            if (std::find(binding.gpus.begin(), binding.gpus.end(), gpu) != binding.gpus.end())
                names.push_back(whole ? std::string(word) : fmt::format("{}", gpu));
        }
        variables.push_back({visible.variable.empty() ? "CUDA_VISIBLE_DEVICES" : visible.variable,
                             fmt::format("{}", fmt::join(names, ","))});
        // GPUs are numbered by PCI address here, as in NVML and Slurm; by default CUDA orders them by speed.
        if (variables.back().name == "CUDA_VISIBLE_DEVICES") set("CUDA_DEVICE_ORDER", "PCI_BUS_ID");
    }
    if (!words.empty()) variables.push_back({exports, words});
    return variables;
}

base::Expected<std::string> describe(const topo::Fabric& fabric, const topo::Host& host,
                                     const Binding& binding, std::uint32_t rank,
                                     const std::vector<int>& cpus) {
    const auto net = topo::exports::net_ports(fabric, host, binding.hcas);
    if (!net) return net.error();
    const auto text_or_dash = [](std::string text) { return text.empty() ? std::string("-") : text; };
    return fmt::format("rail-bind: rank {} host {} gpu {} hca {} numa {} cpus {}{}", rank, host.name,
                       text_or_dash(number_list(binding.gpus)),
                       text_or_dash(fmt::format("{}", fmt::join(net->ports, ","))),
                       binding.numa == topo::none ? std::string("-") : fmt::format("{}", binding.numa),
                       text_or_dash(number_list(cpus)),
                       binding.why_not.empty() ? std::string() : fmt::format(" ({})", binding.why_not));
}

std::vector<std::string> names_in_nccl_conf(std::string_view text) {
    std::vector<std::string> names;
    while (!text.empty()) {
        const auto line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        if (line.starts_with('#')) continue;
        auto name = line.substr(0, line.find('='));
        if (name.size() == line.size()) continue;
        while (!name.empty() && (name.front() == ' ' || name.front() == '\t'))
            name.remove_prefix(1);
        while (!name.empty() && (name.back() == ' ' || name.back() == '\t'))
            name.remove_suffix(1);
        if (!name.empty()) names.emplace_back(name);
    }
    return names;
}

} // namespace spank
