#include "sched/ask/capacity.hpp"

#include "sched/ask/segments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace sched {

namespace {

using base::Code;
using base::Error;
using base::Expected;

// Checks whether the range contains a node count of whole segments plus the spares; if not, names the nearest
// below or above.
Expected<void> judge_segments(const Hints& hints, std::uint32_t nodes, std::uint32_t most,
                              std::string_view option) {
    const auto spares = hints.spares.value_or(0);
    if (spares >= most)
        return Error{Code::usage,
                     fmt::format("--rail-spares={}: of {} no node is left to run on: ask for more "
                                 "with {}, the spares are among them",
                                 spares, most == 1 ? "1 node" : fmt::format("{} nodes", most), option)};
    if (!hints.segment) return {};
    const auto segment = hints.outer_segments.empty() ? *hints.segment : hints.outer_segments.back();
    const auto ranks = most - spares;
    const auto fitting = ranks / segment * segment + spares; // the largest count up to `most`
    if (ranks >= segment && fitting >= nodes) return {};
    const auto less = ranks >= segment ? fmt::format("{} or ", fitting) : std::string();
    const auto but = spares > 0 ? fmt::format(" ({} less {} spares)", most, spares) : std::string();
    const auto asked = segments_text(hints);
    const auto which = hints.outer_segments.empty() ? std::string() : fmt::format("{} ", segment);
    return Error{Code::usage,
                 fmt::format("--rail-segment={}: {}does not divide {} nodes{}: ask for {}{} nodes", asked,
                             which, ranks, but, less, fitting + segment)};
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

// The flags that were given: "--rail-span=unit --rail-segment=8".
std::string asked(const Hints& hints) {
    std::string out;
    if (hints.span) out = fmt::format("--rail-span={}", to_string(*hints.span));
    if (hints.segment)
        out += fmt::format("{}--rail-segment={}", out.empty() ? "" : " ", segments_text(hints));
    return out;
}

} // namespace

Capacity Capacity::of(const topo::Fabric& fabric) {
    Capacity capacity;
    for (const auto& pod : fabric.pods) {
        auto& units = capacity.units.emplace_back();
        for (const auto unit : pod.units)
            units.push_back(static_cast<std::uint32_t>(fabric.units[unit].hosts.size()));
        if (fabric.domains.empty()) continue;
        auto& parts = capacity.domains.emplace_back();
        for (const auto unit : pod.units) {
            std::map<int, std::uint32_t> hosts; // by domain
            for (const auto h : fabric.units[unit].hosts)
                ++hosts[fabric.hosts[h].domain_index];
            auto& here = parts.emplace_back();
            for (const auto& [domain, count] : hosts) {
                here.push_back(count);
                if (domain != topo::none) capacity.largest_domain = std::max(capacity.largest_domain, count);
            }
        }
    }
    return capacity;
}

std::uint32_t Capacity::most(Span span, std::uint32_t segment, std::uint32_t spares) const {
    return most(span, segment == 0 ? std::vector<std::uint32_t>() : std::vector{segment}, spares);
}

std::uint32_t Capacity::most(Span span, const std::vector<std::uint32_t>& sizes, std::uint32_t spares) const {
    const auto steps = steps_of(largest_domain, largest(Span::unit), sizes);
    std::uint32_t most = 0;
    const auto see = [&](std::uint32_t hosts, std::uint32_t ranks) {
        if (!steps.any()) most = std::max(most, hosts);
        if (!steps.any() || hosts < spares) return;
        ranks = std::min(ranks, hosts - spares) / steps.whole * steps.whole;
        most = std::max(most, ranks + spares);
    };
    if (span == Span::domain) {
        see(std::max(largest_domain, units.empty() ? 0U : 1U), largest_domain / steps.domain * steps.domain);
        return most;
    }
    std::uint32_t all = 0, all_ranks = 0;
    for (std::size_t p = 0; p < units.size(); ++p) {
        std::uint32_t hosts = 0, ranks = 0;
        for (std::size_t u = 0; u < units[p].size(); ++u) {
            std::uint32_t here = domains.empty() ? units[p][u] : 0;
            if (!domains.empty())
                for (const auto part : domains[p][u])
                    here += part / steps.domain * steps.domain;
            here = here / steps.unit * steps.unit;
            if (span == Span::unit) see(units[p][u], here);
            hosts += units[p][u];
            ranks += here;
        }
        ranks = ranks / steps.pod * steps.pod;
        if (span == Span::pod) see(hosts, ranks);
        all += hosts;
        all_ranks += ranks;
    }
    if (span != Span::unit && span != Span::pod) see(all, all_ranks);
    return most;
}

std::uint32_t Capacity::largest(Span span) const {
    if (span == Span::domain) return largest_domain;
    std::uint32_t largest = 0, all = 0;
    for (const auto& pod : units) {
        std::uint32_t hosts = 0;
        for (const auto unit : pod) {
            hosts += unit;
            if (span == Span::unit) largest = std::max(largest, unit);
        }
        if (span == Span::pod) largest = std::max(largest, hosts);
        all += hosts;
    }
    return span == Span::unit || span == Span::pod ? largest : all;
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
    // A wish does not limit the job for ever; a segment needs a unit that holds it.
    const auto span = hints.span_wait ? Span::any : hints.span.value_or(Span::any);
    const auto spares = hints.spares.value_or(0);
    std::vector<std::uint32_t> sizes;
    if (hints.segment) sizes.push_back(*hints.segment);
    sizes.insert(sizes.end(), hints.outer_segments.begin(), hints.outer_segments.end());
    if (span == Span::domain && capacity->largest_domain == 0 && nodes > 1)
        return Error{Code::unfit,
                     "--rail-span=domain: this fabric has no NVLink domains (the member domain of "
                     "its hosts in fabric.json): leave it out, or say --rail-span=unit"};
    if (!hints.outer_segments.empty() && sizes.back() > capacity->largest(Span::pod))
        return Error{Code::unfit,
                     fmt::format("--rail-segment={}: no pod of this fabric has {} hosts: the largest has {}",
                                 segments_text(hints), sizes.back(), capacity->largest(Span::pod))};
    const auto held = capacity->most(span, sizes, spares);
    if (held >= nodes) return {};
    std::string way_out;
    for (const auto wider : {Span::unit, Span::pod, Span::fabric})
        if (way_out.empty() && (wider > span || span == Span::domain) && span != Span::any &&
            capacity->most(wider, sizes, spares) >= nodes)
            way_out = fmt::format("--rail-span={} or ", to_string(wider));
    return Error{Code::unfit, fmt::format("{}: {} nodes never fit, {} has {}: ask for {}at most {} nodes",
                                          asked(hints), nodes, part_of(span), held, way_out, held)};
}

} // namespace sched
