#include "sched/capacity.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sched {

namespace {

using base::Code;
using base::Error;
using base::Expected;

// Of units with so many hosts: the largest gang (Capacity::most).
std::uint32_t most_in(const std::vector<std::uint32_t>& units, std::uint32_t segment, std::uint32_t spares) {
    std::uint32_t hosts = 0, segments = 0;
    for (const auto unit : units) {
        hosts += unit;
        if (segment != 0) segments += unit / segment;
    }
    if (segment == 0) return hosts;
    if (hosts < spares) return 0;
    return std::min(segments, (hosts - spares) / segment) * segment + spares;
}

// The node counts of the range that leave whole segments beside the spares: is there one, and the nearest
// above or below when there is none.
Expected<void> judge_segments(const Hints& hints, std::uint32_t nodes, std::uint32_t most,
                              std::string_view option) {
    const auto spares = hints.spares.value_or(0);
    if (spares >= most)
        return Error{Code::usage,
                     fmt::format("--rail-spares={}: of {} no node is left to run on: ask for more "
                                 "with {}, the spares are among them",
                                 spares, most == 1 ? "1 node" : fmt::format("{} nodes", most), option)};
    if (!hints.segment) return {};
    const auto segment = *hints.segment;
    const auto ranks = most - spares;
    const auto fitting = ranks / segment * segment + spares; // the largest count that is not above `most`
    if (ranks >= segment && fitting >= nodes) return {};
    const auto less = ranks >= segment ? fmt::format("{} or ", fitting) : std::string();
    const auto but = spares > 0 ? fmt::format(" ({} less {} spares)", most, spares) : std::string();
    return Error{Code::usage, fmt::format("--rail-segment={}: does not divide {} nodes{}: ask for {}{} nodes",
                                          segment, ranks, but, less, fitting + segment)};
}

std::string_view part_of(Span span) {
    switch (span) {
    case Span::domain: return "the largest NVLink domain of this fabric";
    case Span::unit: return "the largest unit of this fabric";
    case Span::pod: return "the largest pod of this fabric";
    case Span::fabric:
    case Span::any: break;
    }
    return "the whole fabric";
}

// What the flags ask for: "--rail-span=unit --rail-segment=8".
std::string asked(const Hints& hints) {
    std::string out;
    if (hints.span) out = fmt::format("--rail-span={}", to_string(*hints.span));
    if (hints.segment) out += fmt::format("{}--rail-segment={}", out.empty() ? "" : " ", *hints.segment);
    return out;
}

} // namespace

Capacity Capacity::of(const topo::Fabric& fabric) {
    Capacity capacity;
    for (const auto& pod : fabric.pods) {
        auto& units = capacity.units.emplace_back();
        for (const auto unit : pod.units)
            units.push_back(static_cast<std::uint32_t>(fabric.units[unit].hosts.size()));
    }
    return capacity;
}

std::uint32_t Capacity::most(Span span, std::uint32_t segment, std::uint32_t spares) const {
    std::uint32_t most = 0;
    std::vector<std::uint32_t> all;
    for (const auto& pod : units) {
        all.insert(all.end(), pod.begin(), pod.end());
        if (span == Span::pod) most = std::max(most, most_in(pod, segment, spares));
        if (span == Span::unit)
            for (const auto unit : pod)
                most = std::max(most, most_in({unit}, segment, spares));
    }
    return span == Span::unit || span == Span::pod ? most : most_in(all, segment, spares);
}

Expected<void> judge_nodes(const Hints& hints, std::uint32_t nodes, std::uint32_t most,
                           const std::optional<Capacity>& capacity, std::string_view option) {
    if (hints.spares || hints.segment)
        if (auto sound = judge_segments(hints, nodes, std::max(nodes, most), option); !sound) return sound;
    if (!capacity) return {};
    if (capacity->spare_floor > 0) {
        const auto hosts = capacity->most(Span::fabric, 0, 0);
        const auto ranks = nodes - hints.spares.value_or(0);
        if (ranks + capacity->spare_floor > hosts)
            return Error{
                Code::unfit,
                fmt::format("{} nodes never fit, {} of the fabric's {} hosts are kept free for restarts: "
                            "ask for at most {} nodes",
                            nodes, capacity->spare_floor, hosts,
                            hosts - std::min(hosts, capacity->spare_floor) + hints.spares.value_or(0))};
    }
    if (!hints.span && !hints.segment) return {};
    // A wish that ends leaves the fabric; a segment needs a unit that holds it.
    const auto span = hints.span_wait ? Span::any : hints.span.value_or(Span::any);
    const auto segment = hints.segment.value_or(0), spares = hints.spares.value_or(0);
    const auto held = capacity->most(span, segment, spares);
    if (held >= nodes) return {};
    std::string way_out;
    for (const auto wider : {Span::pod, Span::fabric})
        if (way_out.empty() && wider > span && span != Span::any &&
            capacity->most(wider, segment, spares) >= nodes)
            way_out = fmt::format("--rail-span={} or ", to_string(wider));
    return Error{Code::unfit, fmt::format("{}: {} nodes never fit, {} has {}: ask for {}at most {} nodes",
                                          asked(hints), nodes, part_of(span), held, way_out, held)};
}

} // namespace sched
