#include "topo/synth/synth.hpp"

#include "base/units.hpp"
#include "topo/derive.hpp"
#include "topo/names.hpp"

#include <fmt/format.h>

#include <algorithm>
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

constexpr std::array<Word, 18> number_words{{{"pods", &SynthSpec::pods, 1, 1024},
                                             {"units", &SynthSpec::units, 1, 1024},
                                             {"hosts", &SynthSpec::hosts, 1, 200},
                                             {"rails", &SynthSpec::rails, 1, 64},
                                             {"halved", &SynthSpec::halved, 0, 1024},
                                             {"ports", &SynthSpec::ports, 1, 8},
                                             {"planes", &SynthSpec::planes, 1, 8},
                                             {"leaves", &SynthSpec::leaves, 1, 64},
                                             {"storage", &SynthSpec::storage, 0, 8},
                                             {"sharing", &SynthSpec::sharing, 0, 1},
                                             {"domains", &SynthSpec::domains, 0, 200},
                                             {"gpus", &SynthSpec::gpus, 0, 64},
                                             {"oversub", &SynthSpec::oversub, 1, 200},
                                             {"radix", &SynthSpec::radix, 2, 254},
                                             {"spines", &SynthSpec::spines, 1, 4096},
                                             {"cores", &SynthSpec::cores, 1, 4096},
                                             {"globals", &SynthSpec::globals, 0, 64},
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
    return bad(
        word, "unknown word; allowed are pods, units, hosts, rails, halved, ports, planes, leaves, "
              "storage, sharing, domains, gpus, oversub, radix, spines, cores, globals, prefix, rate, faults "
              "and seed, each as key=value");
}

int width(int number) {
    return static_cast<int>(fmt::formatted_size("{}", number));
}
int divide_up(int a, int b) {
    return (a + b - 1) / b;
}

// Builds switches and hosts in parallel, using the next free port of each switch.
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
    // Adds its rails by number, then its storage HCAs; nothing is cabled yet.
    void add_host(std::string name, std::string domain, int rails) {
        Host host;
        host.name = std::move(name);
        host.domain = std::move(domain);
        for (int i = 0; i < rails + spec_.storage; ++i) {
            Hca hca;
            hca.guid = 0x946d'ae00'0000'0000U + 0x10000U * (fabric_.hosts.size() + 1) +
                       0x10U * static_cast<unsigned>(i + 1);
            hca.device = fmt::format("mlx5_{}", i);
            hca.rail = i < rails ? i : none;
            hca.role = i < rails ? Role::compute : Role::storage;
            hca.ports.resize(i < rails ? at(spec_.ports) : 1);
            for (std::size_t p = 0; p < hca.ports.size(); ++p) {
                hca.ports[p].number = static_cast<std::uint8_t>(p + 1);
                hca.ports[p].guid = hca.guid + p + 1;
            }
            if (spec_.gpus > 0 && i < rails) {
                hca.pci = fmt::format("0000:{:02x}:00.0", 2 * i + 1);
                hca.numa = i * 2 / rails;
                hca.gpu = i * spec_.gpus / rails;
            }
            host.hcas.push_back(std::move(hca));
        }
        for (int g = 0; g < spec_.gpus; ++g)
            host.gpus.push_back({fmt::format("0000:{:02x}:00.0", 0x80 + g), g * 2 / spec_.gpus});
        fabric_.hosts.push_back(std::move(host));
    }
    // Cables an HCA of the host added last; storage runs at half the lanes' speed.
    void cable_host(int hca, int port, int leaf) {
        const int host = static_cast<int>(fabric_.hosts.size()) - 1;
        connect({host, hca, none, static_cast<std::uint8_t>(port + 1)}, plug(leaf));
        if (fabric_.hosts.back().hcas[at(hca)].role == Role::storage) fabric_.links.back().mbps /= 2;
    }
    void cable(int below, int above) {
        const End lower = plug(below);
        connect(lower, plug(above));
    }
    int most_ports() const { return most_ports_; }
    int used_ports(int s) const { return fabric_.switches[at(s)].ports; }

    Fabric finish() && {
        for (Switch& s : fabric_.switches)
            s.ports = std::max(s.ports, spec_.radix);
        derive(fabric_);
        return std::move(fabric_);
    }

private:
    End plug(int s) {
        const int port = ++fabric_.switches[at(s)].ports;
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

// The sizes derived from a spec, and the fabric built from them, plane by plane.
class Weaver {
public:
    explicit Weaver(const SynthSpec& spec)
        : spec_(spec), build_(spec), uplinks_(divide_up(hcas_on_leaf(spec), spec.oversub)),
          cored_(spec.globals == 0 && (spec.pods > 1 || spec.cores > 0)),
          spined_(cored_ || spec.pods > 1 || spec.units > 1 || spec.spines > 0),
          pod_uplinks_(spec.units * spec.leaves * (spec.ports / spec.planes) * uplinks_) {
        const int spine_down = cored_ || spec.globals > 0 ? divide_up(spec.radix, 2) : spec.radix;
        spines_ = !spined_ ? 0 : spec.spines > 0 ? spec.spines : divide_up(pod_uplinks_, spine_down);
        sides_ = spined_ ? std::max(1, std::min(spec.leaves, spines_ / uplinks_)) : 1;
    }

    Expected<Fabric> run() {
        if (spined_ && pod_uplinks_ > spines_ * 254)
            return bad(fmt::format("spines={}", spines_),
                       fmt::format("{} uplinks a pod do not fit on them", pod_uplinks_));
        if (hcas_on_leaf(spec_) + uplinks_ + (spec_.sharing != 0 ? spec_.hosts * spec_.storage : 0) > 254)
            return bad(fmt::format("hosts={}", spec_.hosts),
                       "a leaf would need more than 254 ports; raise oversub or lower hosts");
        for (int pod = 0; pod < spec_.pods; ++pod)
            add_pod(pod);
        for (int plane = 0; cored_ && plane < spec_.planes; ++plane)
            add_cores(plane);
        add_globals();
        add_storage_spine();
        if (build_.most_ports() > 254)
            return bad(
                "radix",
                fmt::format("a switch would need {} ports, more than 254; ask for more spines or cores",
                            build_.most_ports()));
        return std::move(build_).finish();
    }

    static int hcas_on_leaf(const SynthSpec& spec) { return spec.hosts * divide_up(spec.rails, spec.leaves); }

private:
    // "-p2" if there are several.
    static std::string suffix(int index, int of) { return of > 1 ? fmt::format("-p{}", index + 1) : ""; }

    void add_pod(int pod) {
        std::vector<std::vector<int>> spines; // by plane
        for (int plane = 0; plane < spec_.planes; ++plane) {
            spines.emplace_back();
            for (int s = 0; s < spines_; ++s)
                spines.back().push_back(build_.add_switch(fmt::format(
                    "spine-pod{}{}-{:0{}}", pod + 1, suffix(plane, spec_.planes), s + 1, width(spines_))));
        }
        spines_of_.push_back(spines);
        for (int u = 0; u < spec_.units; ++u)
            add_unit(pod, u, spines);
    }

    // "nvl1", …; "" if there are none.
    std::string domain_of(int unit, int host) const {
        if (spec_.domains == 0) return {};
        const int each = divide_up(spec_.hosts, spec_.domains);
        return fmt::format("nvl{}", unit * each + host / spec_.domains + 1);
    }

    void add_unit(int pod, int u, const std::vector<std::vector<int>>& spines) {
        const bool half = u >= spec_.units - spec_.halved;
        const int rails = half ? spec_.rails / 2 : spec_.rails;
        const int count = std::min(spec_.leaves, rails);
        std::vector<std::vector<int>> leaves(at(spec_.ports)); // by port
        for (int l = 0; l < count; ++l)
            for (int p = 0; p < spec_.ports; ++p)
                leaves[at(p)].push_back(build_.add_switch(
                    fmt::format("leaf-su{}{}-{}{}", pod * spec_.units + u + 1, suffix(p, spec_.ports),
                                spec_.leaves == spec_.rails ? "r" : "", l)));
        const int digits = std::max(3, width(spec_.pods * spec_.units * spec_.hosts));
        for (int h = 0; h < spec_.hosts; ++h) {
            build_.add_host(fmt::format("{}{:0{}}", spec_.prefix, ++hosts_, digits),
                            domain_of(pod * spec_.units + u, h), rails);
            for (int r = 0; r < rails; ++r)
                for (int p = 0; p < spec_.ports; ++p)
                    build_.cable_host(r, p, leaves[at(p)][at(r % count)]);
            for (int s = 0; s < spec_.storage; ++s)
                build_.cable_host(rails + s, 0,
                                  spec_.sharing != 0 ? leaves[0][at(s % count)] : storage_leaf());
        }
        for (int l = 0; spined_ && l < count; ++l)
            for (int p = 0; p < spec_.ports; ++p)
                for (int i = 0; i < uplinks_; ++i)
                    build_.cable(leaves[at(p)][at(l)],
                                 spines[at(p % spec_.planes)][at(((l % sides_) * uplinks_ + i) % spines_)]);
    }

    // Spine s of every pod is connected to the same cores, so that any two pods meet in each of them.
    void add_cores(int plane) {
        const int total = divide_up(pod_uplinks_, spines_) * spines_ * spec_.pods;
        const int cores = spec_.cores > 0 ? spec_.cores : divide_up(total, spec_.radix);
        std::vector<int> all;
        for (int c = 0; c < cores; ++c)
            all.push_back(build_.add_switch(
                fmt::format("core{}-{:0{}}", suffix(plane, spec_.planes), c + 1, width(cores))));
        const int share = std::max(1, cores / spines_);
        for (const auto& planes : spines_of_)
            for (int s = 0; s < spines_; ++s) {
                const int spine = planes[at(plane)][at(s)];
                const int down = build_.used_ports(spine);
                for (int l = 0; l < down; ++l)
                    build_.cable(spine, all[at((s * share + l % share) % cores)]);
            }
    }

    // Dragonfly+: each spine to those of its number in all other pods.
    void add_globals() {
        for (std::size_t a = 0; a < spines_of_.size(); ++a)
            for (std::size_t b = a + 1; b < spines_of_.size(); ++b)
                for (std::size_t plane = 0; plane < spines_of_[a].size(); ++plane)
                    for (std::size_t s = 0; s < spines_of_[a][plane].size(); ++s)
                        for (int l = 0; l < spec_.globals; ++l)
                            build_.cable(spines_of_[a][plane][s], spines_of_[b][plane][s]);
    }

    // A leaf of the storage network with a free port; a quarter of its ports is for uplinks.
    int storage_leaf() {
        const int most = std::max(1, spec_.radix * 3 / 4);
        if (storage_leaves_.empty() || build_.used_ports(storage_leaves_.back()) >= most)
            storage_leaves_.push_back(
                build_.add_switch(fmt::format("storage-leaf-{}", storage_leaves_.size() + 1)));
        return storage_leaves_.back();
    }
    void add_storage_spine() {
        if (storage_leaves_.size() < 2) return;
        const int spine = build_.add_switch("storage-spine");
        const int uplinks =
            std::max(1, std::min(spec_.radix / 4, 254 / static_cast<int>(storage_leaves_.size())));
        for (const int leaf : storage_leaves_)
            for (int l = 0; l < uplinks; ++l)
                build_.cable(leaf, spine);
    }

    const SynthSpec& spec_;
    Builder build_;
    int uplinks_; // of a leaf
    bool cored_, spined_;
    int pod_uplinks_; // in one plane
    int spines_ = 0;  // of a pod in one plane
    int sides_ = 1;   // groups of spines to which leaves are assigned in turn
    int hosts_ = 0;
    std::vector<std::vector<std::vector<int>>> spines_of_; // [pod][plane]
    std::vector<int> storage_leaves_;
};

Expected<void> check_size(const SynthSpec& spec) {
    const int hosts = spec.pods * spec.units * spec.hosts;
    if (hosts > 131072)
        return bad(fmt::format("hosts={}", spec.hosts),
                   fmt::format("{} hosts in all; at most 131072 are made", hosts));
    if (spec.ports % spec.planes != 0)
        return bad(fmt::format("ports={}", spec.ports),
                   fmt::format("must be a multiple of planes, {}", spec.planes));
    if (spec.domains > spec.hosts)
        return bad(fmt::format("domains={}", spec.domains),
                   fmt::format("more than the {} hosts of a unit, which holds whole domains", spec.hosts));
    if (spec.leaves > spec.rails)
        return bad(fmt::format("leaves={}", spec.leaves), fmt::format("more than the {} rails", spec.rails));
    if (spec.halved > spec.units)
        return bad(fmt::format("halved={}", spec.halved), fmt::format("more than the {} units", spec.units));
    if (spec.globals > 0 && spec.cores > 0)
        return bad(fmt::format("globals={}", spec.globals),
                   "links between pods' spines stand for cores: give one");
    if (spec.globals > 0 && spec.pods < 2)
        return bad(fmt::format("globals={}", spec.globals), "a single pod has none");
    if (spec.halved > 0 && spec.rails < 2)
        return bad(fmt::format("halved={}", spec.halved), "a single rail cannot be halved");
    if (spec.storage > 0 && spec.sharing == 0 &&
        divide_up(hosts * spec.storage, std::max(1, spec.radix * 3 / 4)) > 254)
        return bad(fmt::format("storage={}", spec.storage), "more storage leaves than a spine has ports");
    return {};
}

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

Expected<Fabric> synthesise(const SynthSpec& asked) {
    SynthSpec spec = asked;
    if (spec.ports == 1) spec.ports = spec.planes;
    if (spec.leaves == 0) spec.leaves = spec.rails;
    if (auto fits = check_size(spec); !fits) return std::move(fits).error();
    auto fabric = Weaver(spec).run();
    if (!fabric || spec.faults.empty()) return fabric;
    if (auto planted = plant(*fabric, spec.faults, static_cast<std::uint32_t>(spec.seed)); !planted)
        return std::move(planted).error().within("synth: faults");
    return fabric;
}

} // namespace topo
