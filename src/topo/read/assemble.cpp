#include "topo/read/assemble.hpp"

#include "base/split.hpp"
#include "base/utf8.hpp"
#include "topo/derive.hpp"
#include "topo/guid.hpp"
#include "topo/rate.hpp"
#include "topo/read/host_names.hpp"
#include "topo/read/roles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace topo {
namespace {

using base::Code;
using base::Error;
using base::Expected;
using base::next_word;

bool digit(char c) {
    return c >= '0' && c <= '9';
}
bool letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// "mlx5_3", "HCA-1", "ibp24s0", "hfi1_0": a letter first, a digit last.
bool names_device(std::string_view word) {
    return word.size() >= 2 && letter(word.front()) && digit(word.back());
}

// A chip or a card: "MT4119", "ConnectX5", "MCX75310AAS-NEAT", "BlueField-3".
bool names_card(std::string_view word) {
    constexpr std::string_view models[] = {"ConnectX", "Connect-IB", "BlueField", "InfiniHost", "MCX", "MBF"};
    if (std::any_of(std::begin(models), std::end(models),
                    [&](auto model) { return word.starts_with(model); }))
        return true;
    return word.size() > 2 && word.starts_with("MT") && digit(word[2]);
}

// Additional words about a card that end in a digit, as devices do: "CX7", "HDR100".
bool names_model(std::string_view word) {
    const auto letters = word.substr(0, word.find_first_of("0123456789-"));
    return names_card(word) || letters == "CX" || lane_mbps(letters).has_value();
}

bool names_maker(std::string_view word) {
    return word == "Mellanox" || word == "NVIDIA";
}

std::string_view kind_name(RawNode::Kind kind) {
    return kind == RawNode::Kind::switch_ ? "switch" : kind == RawNode::Kind::hca ? "HCA" : "node";
}

class Assembler {
public:
    Assembler(const RawFabric& raw, const Rules* rules) : raw_(raw), rules_(rules) {}

    Expected<Assembly> run() {
        if (auto done = index_nodes(); !done) return std::move(done).error();
        for (const RawNode& node : raw_.nodes)
            if (const auto name = host_of(node); node.kind == RawNode::Kind::hca && !name.host.empty())
                names_.see(name.host, name.device);
        names_.settle();
        for (const RawNode& node : raw_.nodes)
            if (auto done = add_node(node); !done) return std::move(done).error();
        if (auto done = connect(); !done) return std::move(done).error();
        result_.fabric.source = raw_.source;
        part_namesakes(result_.fabric);
        if (rules_ != nullptr) {
            name_domains(result_.fabric, *rules_);
            result_.notes = drop_ignored(result_.fabric, *rules_);
        }
        assign_roles(result_.fabric, rules_);
        derive(result_.fabric);
        result_.missing.insert(result_.missing.begin(), raw_.missing.begin(), raw_.missing.end());
        return std::move(result_);
    }

private:
    // The result for a node: an end without its port; neither host nor switch for nodes left out.
    struct Entry {
        const RawNode* node = nullptr;
        End end;
        std::vector<const RawPort*> by_number;
    };

    Error error(std::uint32_t line, std::string_view what) const {
        return {Code::input, line == 0 ? fmt::format("{}: {}", raw_.source, what)
                                       : fmt::format("{}:{}: {}", raw_.source, line, what)};
    }

    static std::string describe(const RawNode& node) {
        return node.description.empty() ? fmt::format("{} {}", kind_name(node.kind), format_guid(node.guid))
                                        : fmt::format("{} \"{}\"", kind_name(node.kind), node.description);
    }

    static HcaName host_of(const RawNode& node) {
        const auto name = parse_hca_description(node.description);
        return names_no_host(name.host) ? HcaName{} : name;
    }

    Expected<void> index_nodes() {
        entries_.reserve(raw_.nodes.size());
        for (const RawNode& node : raw_.nodes) {
            const auto [entry, fresh] = entries_.try_emplace(node.guid);
            if (!fresh)
                return error(node.line,
                             fmt::format("GUID {} is told twice, of {} and of {}", format_guid(node.guid),
                                         describe(*entry->second.node), describe(node)));
            entry->second.node = &node;
            auto& by_number = entry->second.by_number;
            by_number.assign(static_cast<std::size_t>(node.ports) + 1, nullptr);
            for (const RawPort& port : node.seen) {
                if (port.number > node.ports)
                    return error(port.line, fmt::format("port {} of {}, which has {}", port.number,
                                                        describe(node), node.ports));
                if (by_number[port.number] != nullptr)
                    return error(port.line,
                                 fmt::format("port {} of {} is told twice", port.number, describe(node)));
                by_number[port.number] = &port;
            }
        }
        return {};
    }

    Expected<void> add_node(const RawNode& node) {
        Fabric& fabric = result_.fabric;
        End& end = entries_.at(node.guid).end;
        if (node.kind == RawNode::Kind::other) return {};
        if (node.kind == RawNode::Kind::switch_) {
            end.switch_ = static_cast<int>(fabric.switches.size());
            Switch& s = fabric.switches.emplace_back();
            s.guid = node.guid;
            s.name = node.description.empty() ? format_guid(node.guid) : short_switch_name(node.description);
            s.ports = node.ports;
            return {};
        }
        const auto name = host_of(node);
        const auto host_name = name.host.empty() ? format_guid(node.guid) : std::string(names_(name.host));
        const auto [found, fresh] = hosts_.try_emplace(host_name, fabric.hosts.size());
        if (fresh) fabric.hosts.emplace_back().name = host_name;
        Host& host = fabric.hosts[found->second];
        end.host = static_cast<int>(found->second);
        end.hca = static_cast<int>(host.hcas.size());
        Hca& hca = host.hcas.emplace_back();
        hca.guid = node.guid;
        hca.device = name.host.empty() ? node.description : std::string(name.device);
        if (!name.host.empty() && name.host != host_name) hca.host_as = name.host;
        for (const RawPort& port : node.seen) {
            if (port.number == 0) continue;
            HcaPort& p = hca.ports.emplace_back();
            p.number = port.number;
            p.guid = port.guid;
            p.lid = port.lid;
        }
        return {};
    }

    // Each link is listed at both ends; it is added by the end with the lower GUID, or by the only one that
    // lists it.
    Expected<void> connect() {
        for (const RawNode& node : raw_.nodes) {
            const End end = entries_.at(node.guid).end;
            if (end.host == none && end.switch_ == none) continue;
            for (const RawPort& port : node.seen) {
                if (!port.linked || port.number == 0) continue;
                const auto found = entries_.find(port.peer);
                if (found == entries_.end()) {
                    const auto name = port.peer_description.empty()
                                          ? std::string()
                                          : fmt::format(" \"{}\"", port.peer_description);
                    result_.missing.push_back(
                        fmt::format("node {}{}, behind port {} of {}, was not seen itself",
                                    format_guid(port.peer), name, port.number, describe(node)));
                    continue;
                }
                const Entry& peer = found->second;
                if (peer.end.host == none && peer.end.switch_ == none) continue;
                if (auto done = connect(node, end, port, peer); !done) return done;
            }
        }
        return {};
    }

    Expected<void> connect(const RawNode& node, End end, const RawPort& port, const Entry& peer) {
        const auto here = fmt::format("port {} of {}", port.number, describe(node));
        if (port.peer_port == 0 || port.peer_port > peer.node->ports)
            return error(port.line, fmt::format("{} is said to lead to port {} of {}, which has {}", here,
                                                port.peer_port, describe(*peer.node), peer.node->ports));
        if (&node == peer.node && port.number == port.peer_port)
            return error(port.line, fmt::format("{} is said to lead to itself", here));
        const RawPort* back = peer.by_number[port.peer_port];
        if (back != nullptr && back->linked) {
            if (back->peer != node.guid || back->peer_port != port.number)
                return error(
                    port.line,
                    fmt::format(
                        "{} is said to lead to port {} of {}, but that is said{} to lead to port {} of {}; "
                        "cables may have been moved meanwhile: discover again",
                        here, port.peer_port, describe(*peer.node),
                        back->line == 0 ? "" : fmt::format(" in line {}", back->line), back->peer_port,
                        format_guid(back->peer)));
            if (std::pair(peer.node->guid, back->number) < std::pair(node.guid, port.number))
                return {}; // the other end adds it
        } else if (!one_sided_.emplace(peer.node, port.peer_port).second) {
            return error(port.line,
                         fmt::format("port {} of {} is in two links", port.peer_port, describe(*peer.node)));
        }
        Link link;
        link.a = end;
        link.a.port = port.number;
        link.b = peer.end;
        link.b.port = port.peer_port;
        const RawPort& rated = port.rate.mbps != 0 || back == nullptr ? port : *back;
        link.width = rated.rate.width;
        link.mbps = rated.rate.mbps;
        link.state = port.state == LinkState::unknown && back != nullptr ? back->state : port.state;
        if (back == nullptr && link.b.host != none) add_port(link.b);
        result_.fabric.links.push_back(link);
        return {};
    }

    // Adds an HCA port that only the other end lists.
    void add_port(const End& end) {
        auto& ports = result_.fabric.hosts[static_cast<std::size_t>(end.host)]
                          .hcas[static_cast<std::size_t>(end.hca)]
                          .ports;
        ports.emplace_back().number = end.port;
    }

    const RawFabric& raw_;
    const Rules* rules_;
    Assembly result_;
    std::unordered_map<Guid, Entry> entries_;
    HostNames names_;
    std::unordered_map<std::string, std::size_t> hosts_;
    std::set<std::pair<const RawNode*, int>> one_sided_; // ends that only the other end lists
};

} // namespace

std::string trimmed_printable(std::string_view description) {
    std::string text(description);
    std::replace(text.begin(), text.end(), '\t', ' ');
    text = base::printable(text);
    text.erase(text.find_last_not_of(' ') + 1);
    text.erase(0, std::min(text.find_first_not_of(' '), text.size()));
    return text;
}

bool is_aggregation(std::string_view description) {
    return description.find("Aggregation Node") != std::string_view::npos;
}

std::string short_switch_name(std::string_view description) {
    const auto colon = description.find(':');
    if (!description.starts_with("MF0;") || colon == std::string_view::npos) return std::string(description);
    const auto name = description.substr(4, colon - 4);
    const auto slash = std::min(description.find('/', colon), description.size());
    const auto part = description.substr(slash);
    return fmt::format("{}{}", name, part == "/U1" ? "" : part);
}

HcaName parse_hca_description(std::string_view description) {
    auto rest = description;
    const auto host = next_word(rest);
    if (host.empty() || names_card(host) || names_maker(host)) return {};
    auto word = next_word(rest);
    bool complete = word.empty(); // a card's name or nothing after the host's: no device is given
    for (; !word.empty(); word = next_word(rest)) {
        const bool model = names_model(word);
        if (!model && names_device(word)) return {host, word};
        complete = complete || model;
    }
    return complete ? HcaName{host, {}} : HcaName{};
}

Expected<Assembly> assemble(const RawFabric& raw, const Rules* rules) {
    return Assembler(raw, rules).run();
}

} // namespace topo
