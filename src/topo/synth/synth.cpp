#include "topo/synth/synth.hpp"

#include "base/units.hpp"
#include "topo/derive.hpp"

#include <fmt/format.h>

#include <array>

namespace topo {
namespace {

using base::Code;
using base::Error;
using base::Expected;

struct Word {
    std::string_view key;
    int SynthSpec::*number;
    int low, high;
};

constexpr std::array<Word, 9> number_words{{{"pods", &SynthSpec::pods, 1, 1024},
                                            {"units", &SynthSpec::units, 1, 1024},
                                            {"hosts", &SynthSpec::hosts, 1, 200},
                                            {"rails", &SynthSpec::rails, 1, 64},
                                            {"oversub", &SynthSpec::oversub, 1, 200},
                                            {"radix", &SynthSpec::radix, 2, 254},
                                            {"spines", &SynthSpec::spines, 1, 4096},
                                            {"cores", &SynthSpec::cores, 1, 4096},
                                            {"seed", &SynthSpec::seed, 0, 1 << 30}}};

Error bad(std::string_view word, std::string_view what) {
    return {Code::usage, fmt::format("synth: {}: {}", word, what)};
}

// A number of faults, or their names.
Expected<std::vector<Fault>> parse_faults(std::string_view word, std::string_view value) {
    std::vector<Fault> faults;
    if (const auto number = base::parse_count(value)) {
        if (*number > 1000) return bad(word, "at most 1000 faults are planted");
        for (std::size_t i = 0; i < *number; ++i)
            faults.push_back(static_cast<Fault>(i % fault_count));
        return faults;
    }
    while (true) {
        const auto comma = value.find(',');
        const auto fault = parse_fault(value.substr(0, comma));
        if (!fault) return bad(word, fault.error().text);
        faults.push_back(*fault);
        if (comma == std::string_view::npos) return faults;
        value.remove_prefix(comma + 1);
    }
}

Expected<void> set_word(SynthSpec& spec, std::string_view word) {
    const auto equals = word.find('=');
    const auto key = word.substr(0, equals);
    const auto value = equals == std::string_view::npos ? std::string_view() : word.substr(equals + 1);
    for (const Word& known : number_words) {
        if (known.key != key) continue;
        const auto number = base::parse_count(value);
        if (!number || *number < static_cast<unsigned>(known.low) ||
            *number > static_cast<unsigned>(known.high))
            return bad(word, fmt::format("must be a number from {} to {}", known.low, known.high));
        spec.*known.number = static_cast<int>(*number);
        return {};
    }
    if (key == "prefix") {
        constexpr std::string_view allowed =
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.";
        if (value.empty() || value.size() > 48 || value.find_first_not_of(allowed) != std::string_view::npos)
            return bad(word, "must be 1 to 48 letters, digits, dots and dashes");
        spec.prefix = value;
        return {};
    }
    if (key == "rate") {
        const auto rate = parse_rate(value);
        if (!rate) return bad(word, "must be a link rate such as 4xHDR or 4xNDR");
        spec.rate = *rate;
        return {};
    }
    if (key == "faults") {
        auto faults = parse_faults(word, value);
        if (!faults) return std::move(faults).error();
        spec.faults = std::move(*faults);
        return {};
    }
    return bad(word, "unknown word; allowed are pods, units, hosts, rails, oversub, radix, spines, cores, "
                     "prefix, rate, faults and "
                     "seed, each as key=value");
}

int width(int number) {
    return static_cast<int>(fmt::formatted_size("{}", number));
}
int divide_up(int a, int b) {
    return (a + b - 1) / b;
}

// Builds switches and hosts side by side with the next free port of each switch.
class Builder {
public:
    explicit Builder(const SynthSpec& spec) : spec_(spec) {}

    int add_switch(std::string name) {
        const auto index = fabric_.switches.size();
        Switch s;
        s.guid = 0x9803'0000'0000'0000U + 0x1000U * (index + 1);
        s.name = std::move(name);
        fabric_.switches.push_back(std::move(s));
        return static_cast<int>(index);
    }
    void add_host(std::string name) {
        Host host;
        host.name = std::move(name);
        const auto base = 0x946d'ae00'0000'0000U + 0x10000U * (fabric_.hosts.size() + 1);
        for (int rail = 0; rail < spec_.rails; ++rail) {
            Hca hca;
            hca.guid = base + 0x10U * static_cast<unsigned>(rail + 1);
            hca.device = fmt::format("mlx5_{}", rail);
            hca.rail = rail;
            hca.ports.emplace_back().guid = hca.guid + 1;
            host.hcas.push_back(std::move(hca));
        }
        fabric_.hosts.push_back(std::move(host));
    }
    void cable_host(int rail, int leaf) {
        connect({static_cast<int>(fabric_.hosts.size()) - 1, rail, none, 1}, plug(leaf));
    }
    void cable(int below, int above) {
        const End lower = plug(below);
        connect(lower, plug(above));
    }
    int most_ports() const { return most_ports_; }
    int used_ports(int s) const { return fabric_.switches[static_cast<std::size_t>(s)].ports; }

    Fabric finish() && {
        for (Switch& s : fabric_.switches)
            s.ports = std::max(s.ports, spec_.radix);
        derive(fabric_);
        return std::move(fabric_);
    }

private:
    End plug(int s) {
        const int port = ++fabric_.switches[static_cast<std::size_t>(s)].ports;
        most_ports_ = std::max(most_ports_, port);
        return {none, none, s, static_cast<std::uint8_t>(port)};
    }
    void connect(End a, End b) {
        fabric_.links.push_back({a, b, spec_.rate.width, spec_.rate.mbps, LinkState::active});
    }

    const SynthSpec& spec_;
    Fabric fabric_;
    int most_ports_ = 0;
};

} // namespace

Expected<SynthSpec> parse_synth(std::string_view text) {
    SynthSpec spec;
    while (true) {
        const auto start = text.find_first_not_of(" \t\n");
        if (start == std::string_view::npos) return spec;
        text.remove_prefix(start);
        const auto end = std::min(text.find_first_of(" \t\n"), text.size());
        if (auto done = set_word(spec, text.substr(0, end)); !done) return std::move(done).error();
        text.remove_prefix(end);
    }
}

Expected<Fabric> synthesise(const SynthSpec& spec) {
    const int hosts = spec.pods * spec.units * spec.hosts;
    if (hosts > 131072)
        return bad(fmt::format("hosts={}", spec.hosts),
                   fmt::format("{} hosts in all; at most 131072 are made", hosts));
    const int uplinks = divide_up(spec.hosts, spec.oversub);
    const bool cored = spec.pods > 1 || spec.cores > 0;
    const bool spined = cored || spec.units > 1 || spec.spines > 0;
    const int spine_down = cored ? divide_up(spec.radix, 2) : spec.radix;
    const int pod_uplinks = spec.units * spec.rails * uplinks;
    const int spines = !spined ? 0 : spec.spines > 0 ? spec.spines : divide_up(pod_uplinks, spine_down);
    const int planes = spined ? std::max(1, std::min(spec.rails, spines / uplinks)) : 1;
    if (pod_uplinks > spines * 254 && spined)
        return bad(fmt::format("spines={}", spines),
                   fmt::format("{} uplinks a pod do not fit on them", pod_uplinks));
    if (spec.hosts + uplinks > 254)
        return bad(fmt::format("hosts={}", spec.hosts),
                   "a leaf would need more than 254 ports; raise oversub or lower hosts");

    Builder build(spec);
    const int digits = std::max(3, width(hosts));
    int number = 0;
    std::vector<std::vector<int>> all_spines;
    for (int pod = 0; pod < spec.pods; ++pod) {
        auto& pod_spines = all_spines.emplace_back();
        for (int s = 0; s < spines; ++s)
            pod_spines.push_back(
                build.add_switch(fmt::format("spine-pod{}-{:0{}}", pod + 1, s + 1, width(spines))));
        for (int u = 0; u < spec.units; ++u) {
            std::vector<int> leaves;
            for (int r = 0; r < spec.rails; ++r)
                leaves.push_back(build.add_switch(fmt::format("leaf-su{}-r{}", pod * spec.units + u + 1, r)));
            for (int h = 0; h < spec.hosts; ++h) {
                build.add_host(fmt::format("{}{:0{}}", spec.prefix, ++number, digits));
                for (int r = 0; r < spec.rails; ++r)
                    build.cable_host(r, leaves[static_cast<std::size_t>(r)]);
            }
            for (int r = 0; spined && r < spec.rails; ++r)
                for (int l = 0; l < uplinks; ++l)
                    build.cable(leaves[static_cast<std::size_t>(r)],
                                pod_spines[static_cast<std::size_t>(((r % planes) * uplinks + l) % spines)]);
        }
    }
    if (cored) {
        const int total = divide_up(pod_uplinks, spines) * spines * spec.pods;
        const int cores = spec.cores > 0 ? spec.cores : divide_up(total, spec.radix);
        const int first = build.add_switch(fmt::format("core-{:0{}}", 1, width(cores)));
        for (int c = 1; c < cores; ++c)
            build.add_switch(fmt::format("core-{:0{}}", c + 1, width(cores)));
        // Spine s of every pod goes to the same cores, so that any two pods meet in each of them.
        const int share = std::max(1, cores / spines);
        for (const auto& pod_spines : all_spines)
            for (int s = 0; s < spines; ++s) {
                const int spine = pod_spines[static_cast<std::size_t>(s)];
                const int down = build.used_ports(spine);
                for (int l = 0; l < down; ++l)
                    build.cable(spine, first + (s * share + l % share) % cores);
            }
    }
    if (build.most_ports() > 254)
        return bad("radix",
                   fmt::format("a switch would need {} ports, more than 254; ask for more spines or cores",
                               build.most_ports()));
    auto fabric = std::move(build).finish();
    if (!spec.faults.empty())
        if (auto planted = plant(fabric, spec.faults, static_cast<std::uint32_t>(spec.seed)); !planted)
            return std::move(planted).error().within("synth: faults");
    return fabric;
}

} // namespace topo
