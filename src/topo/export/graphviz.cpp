// Graphviz: the compute tree, with pods and units as clusters, at the finest detail that is not too large to
// draw.
#include "topo/export/formats.hpp"

#include "topo/guid.hpp"
#include "topo/names.hpp"
#include "topo/rate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace topo::exports {
namespace {

enum class Detail {
    hosts,    // each host and each switch
    switches, // a unit instead of its hosts, and each switch
    units,    // a unit with its leaves, a pod's spines as one node, each tier above as one
    pods      // a pod with all its parts, each tier above as one
};

std::string dot_string(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + '"';
}

// A label of two lines.
std::string lines(std::string_view first, std::string_view second) {
    auto label = dot_string(first);
    label.insert(label.size() - 1, "\\n" + dot_string(second).substr(1, dot_string(second).size() - 2));
    return label;
}

// The switches of the compute tree of the chosen hosts, and their groups.
struct Scope {
    explicit Scope(const Chosen& chosen)
        : part_of_unit(chosen.fabric.units.size(), none), pod_drawn(chosen.fabric.pods.size(), 0),
          unit_of_leaf(chosen.fabric.switches.size(), none) {
        for (std::size_t p = 0; p < chosen.selection.parts.size(); ++p) {
            const auto u = chosen.selection.parts[p].unit;
            part_of_unit[u] = static_cast<int>(p);
            pod_drawn[at(chosen.fabric.units[u].pod)] = 1;
            for (const auto* leaves : {&chosen.fabric.units[u].leaves, &chosen.fabric.units[u].more_leaves})
                for (const int leaf : *leaves)
                    if (leaf != none && unit_of_leaf[at(leaf)] == none)
                        unit_of_leaf[at(leaf)] = static_cast<int>(u);
        }
    }
    bool draws(const Fabric& fabric, int s) const {
        const Switch& known = fabric.switches[at(s)];
        if (known.tier == 0) return unit_of_leaf[at(s)] != none;
        if (known.tier == 1) return known.pod != none && pod_drawn[at(known.pod)] != 0;
        return known.tier > 1;
    }

    std::vector<int> part_of_unit;
    std::vector<char> pod_drawn;
    std::vector<int> unit_of_leaf;
};

class Drawing {
public:
    Drawing(const Chosen& chosen, const Scope& scope, Detail detail)
        : chosen_(chosen), fabric_(chosen.fabric), scope_(scope), detail_(detail) {
        std::vector<char> drawn(fabric_.hosts.size(), 0);
        for (const auto& part : chosen.selection.parts) {
            for (const auto h : part.hosts)
                drawn[h] = 1;
            add_part(part);
        }
        std::map<std::pair<int, int>, std::vector<int>> spines; // by (tier, pod)
        for (int s = 0; at(s) < fabric_.switches.size(); ++s)
            if (scope_.draws(fabric_, s)) add_switch(s, spines);
        for (const auto& [place, switches] : spines) {
            const int any = switches.front();
            add(node_of_switch(any), place.first == 1 ? place.second : none, none,
                lines(counted(switches.size(), "switch", "switches"), switch_names(fabric_, switches)),
                "box3d");
        }
        for (const Link& link : fabric_.links) {
            const auto outside = [&](const End& end) {
                return end.host != none ? drawn[at(end.host)] == 0 : !scope_.draws(fabric_, end.switch_);
            };
            if (!outside(link.a) && !outside(link.b)) add_link(link);
        }
    }

    std::string print() const {
        std::string out = "// Made by railtopo export; changes made here are lost.\n"
                          "graph fabric {\n"
                          "  graph [rankdir=TB, newrank=true, ranksep=1.2, fontname=\"sans-serif\"];\n"
                          "  node [fontname=\"sans-serif\", fontsize=11];\n"
                          "  edge [fontname=\"sans-serif\", fontsize=9, color=\"#555555\"];\n";
        int pod = none, unit = none;
        const auto close = [&](bool also_pod) {
            if (unit != none) out += "    }\n";
            unit = none;
            if (also_pod && pod != none) out += "  }\n";
            if (also_pod) pod = none;
        };
        for (const auto& [place, nodes] : clusters_) {
            if (place.first != pod) {
                close(true);
                pod = place.first;
                if (pod != none) open(out, "pod", at(pod), fabric_.pods[at(pod)].name, "#f4f4f4", 2);
            }
            if (place.second != unit) {
                close(false);
                unit = place.second;
                if (unit != none) open(out, "unit", at(unit), fabric_.units[at(unit)].name, "#e3ecf7", 4);
            }
            for (const auto& node : nodes)
                out += node;
        }
        close(true);
        for (const auto& [ends, edge] : edges_)
            put_edge(out, ends, edge);
        return out + "}\n";
    }

private:
    struct Edge {
        std::size_t links = 0, down = 0;
        std::map<std::string, std::size_t> rates;
        std::string tip; // for a single link
    };
    using Ends = std::pair<std::string, std::string>; // upper first

    static void open(std::string& out, std::string_view kind, std::size_t index, const std::string& name,
                     std::string_view fill, int indent) {
        fmt::format_to(std::back_inserter(out),
                       "{0:{1}}subgraph cluster_{2}{3} {{\n"
                       "{0:{1}}  label={4}; style=filled; color=\"#999999\"; fillcolor=\"{5}\";\n",
                       "", indent, kind, index, dot_string(name), fill);
    }

    static void put_edge(std::string& out, const Ends& ends, const Edge& edge) {
        std::string label;
        for (const auto& [rate, count] : edge.rates)
            label += fmt::format("{}{} x {}", label.empty() ? "" : ", ", count, rate);
        if (edge.down > 0) label += fmt::format(", {} down", edge.down);
        fmt::format_to(std::back_inserter(out), "  {} -- {} [", dot_string(ends.first),
                       dot_string(ends.second));
        if (edge.links > 1)
            fmt::format_to(std::back_inserter(out), "label={}, penwidth={}", dot_string(label),
                           edge.links >= 32  ? 4
                           : edge.links >= 4 ? 2
                                             : 1);
        else
            fmt::format_to(std::back_inserter(out), "tooltip={}", dot_string(edge.tip));
        out += edge.down > 0 ? ", style=dashed];\n" : "];\n";
    }

    void add(const std::string& id, int pod, int unit, const std::string& label, std::string_view shape) {
        clusters_[{pod, unit}].push_back(
            fmt::format("      {} [label={}, shape={}];\n", dot_string(id), label, shape));
    }

    void add_part(const Selection::Part& part) {
        const Unit& unit = fabric_.units[part.unit];
        const int u = static_cast<int>(part.unit);
        if (detail_ == Detail::hosts) {
            for (const auto h : part.hosts)
                add(node_of_host(static_cast<int>(h)), unit.pod, u, dot_string(fabric_.hosts[h].name),
                    "ellipse");
        } else if (detail_ != Detail::pods) {
            const auto label =
                lines(fmt::format("{}: {}", unit.name, counted(part.hosts.size(), "host", "hosts")),
                      host_names(fabric_, part.hosts));
            add(node_of_host(static_cast<int>(part.hosts.front())), unit.pod,
                detail_ == Detail::switches ? u : none, label, "folder");
        } else if (&part == &chosen_.selection.parts.front() ||
                   fabric_.units[(&part - 1)->unit].pod != unit.pod) {
            const Pod& pod = fabric_.pods[at(unit.pod)];
            std::vector<std::uint32_t> hosts;
            for (const auto& other : chosen_.selection.parts)
                if (fabric_.units[other.unit].pod == unit.pod)
                    hosts.insert(hosts.end(), other.hosts.begin(), other.hosts.end());
            add(node_of_host(static_cast<int>(part.hosts.front())), none, none,
                lines(fmt::format("{}: {}, {}", pod.name, counted(pod.units.size(), "unit", "units"),
                                  counted(hosts.size(), "host", "hosts")),
                      host_names(fabric_, hosts)),
                "folder");
        }
    }

    void add_switch(int s, std::map<std::pair<int, int>, std::vector<int>>& spines) {
        const Switch& known = fabric_.switches[at(s)];
        if (detail_ == Detail::hosts || detail_ == Detail::switches) {
            add(node_of_switch(s), known.tier <= 1 ? known.pod : none, scope_.unit_of_leaf[at(s)],
                dot_string(known.name), "box");
        } else if (known.tier > 1 || (known.tier == 1 && detail_ == Detail::units)) {
            spines[{known.tier, known.tier == 1 ? known.pod : none}].push_back(s);
        }
    }

    void add_link(const Link& link) {
        auto upper = node_of(link.a), lower = node_of(link.b);
        if (upper == lower) return;
        const auto height = [&](const End& end) {
            return end.host != none ? -1 : fabric_.switches[at(end.switch_)].tier;
        };
        if (height(link.a) < height(link.b)) std::swap(upper, lower);
        Edge& edge = edges_[{std::move(upper), std::move(lower)}];
        ++edge.links;
        if (link.state == LinkState::down) ++edge.down;
        const auto rate = format_rate({link.width, link.mbps});
        ++edge.rates[rate];
        if (edge.links == 1)
            edge.tip = fmt::format("{} - {}, {}", end_name(fabric_, link.a), end_name(fabric_, link.b), rate);
    }

    std::string node_of(const End& end) const {
        return end.host != none ? node_of_host(end.host) : node_of_switch(end.switch_);
    }
    std::string node_of_host(int h) const {
        const Host& host = fabric_.hosts[at(h)];
        if (detail_ == Detail::hosts) return "host " + host.name;
        return node_of_unit(host.unit);
    }
    std::string node_of_unit(int unit) const {
        if (detail_ == Detail::pods) return fabric_.pods[at(fabric_.units[at(unit)].pod)].name;
        return fabric_.units[at(unit)].name;
    }
    std::string node_of_switch(int s) const {
        const Switch& known = fabric_.switches[at(s)];
        if (detail_ == Detail::hosts || detail_ == Detail::switches) return format_guid(known.guid);
        if (known.tier == 0) return node_of_unit(scope_.unit_of_leaf[at(s)]);
        if (known.tier > 1) return fmt::format("tier {}", known.tier);
        const auto& pod = fabric_.pods[at(known.pod)].name;
        return detail_ == Detail::pods ? pod : "spines of " + pod;
    }

    const Chosen& chosen_;
    const Fabric& fabric_;
    const Scope& scope_;
    Detail detail_;
    std::map<std::pair<int, int>, std::vector<std::string>> clusters_; // (pod, unit) → nodes
    std::map<Ends, Edge> edges_;
};

Detail detail_for(const Chosen& chosen, const Scope& scope) {
    constexpr std::size_t standard = 400;
    const auto most = chosen.options.most > 0 ? at(chosen.options.most) : standard;
    std::size_t switches = 0, pods = 0;
    for (int s = 0; at(s) < chosen.fabric.switches.size(); ++s)
        if (scope.draws(chosen.fabric, s)) ++switches;
    for (const char drawn : scope.pod_drawn)
        if (drawn != 0) ++pods;
    const auto units = chosen.selection.parts.size();
    const auto above = at(std::max(0, chosen.fabric.tiers - 2));
    if (chosen.selection.hosts + switches <= most) return Detail::hosts;
    if (units + switches <= most) return Detail::switches;
    if (units + pods + above <= most) return Detail::units;
    return Detail::pods;
}

} // namespace

base::Expected<std::string> dot(Chosen& chosen) {
    const Scope scope(chosen);
    return Drawing(chosen, scope, detail_for(chosen, scope)).print();
}

} // namespace topo::exports
