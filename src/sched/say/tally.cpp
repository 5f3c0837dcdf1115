#include "sched/say/tally.hpp"

#include "sched/say/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace sched {
namespace {

// " for link errors", " (3 for link errors and 1 for swap cable 4)", the most frequent first.
std::string because(const std::map<std::string, std::uint32_t>& why, std::uint32_t count) {
    if (why.empty()) return {};
    if (why.size() == 1 && why.begin()->second == count) return " for " + why.begin()->first;
    std::vector<std::pair<std::uint32_t, std::string>> by_count;
    for (const auto& [reason, hosts] : why)
        by_count.emplace_back(hosts, reason);
    std::stable_sort(by_count.begin(), by_count.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<std::string> texts;
    for (const auto& [hosts, reason] : by_count)
        texts.push_back(fmt::format("{} for {}", hosts, reason));
    return fmt::format(" ({})", listed(texts));
}

bool within_domains(const PlacementIndex& index, Span span) {
    return span == Span::domain && index.largest_domain > 0;
}

} // namespace

std::string remark_of(std::string_view reason) {
    constexpr std::size_t most = 60;
    while (reason.starts_with(' '))
        reason.remove_prefix(1);
    if (reason.starts_with("railyard[")) {
        const auto end = reason.find("]:");
        if (end != std::string_view::npos) reason.remove_prefix(end + 2);
        reason = reason.substr(0, reason.find(": ")); // the problem, without the evidence
    }
    while (reason.starts_with(' '))
        reason.remove_prefix(1);
    while (reason.ends_with(' '))
        reason.remove_suffix(1);
    if (reason == "none") return {};
    return as_phrase(reason, most);
}

std::string_view part_noun(Tier tier) {
    constexpr std::array<std::string_view, 4> nouns{"unit", "pod", "connected part", "fabric"};
    return nouns[tier];
}

std::string_view part_noun(const PlacementIndex& index, Span span) {
    return within_domains(index, span) ? "NVLink domain" : part_noun(widest_tier(span));
}

std::vector<Part> parts_of(const topo::Fabric& fabric, const PlacementIndex& index, Span span) {
    std::vector<Part> parts;
    if (within_domains(index, span)) {
        for (const auto& domain : index.domains)
            if (domain.joined) parts.push_back({domain.name, domain.first, domain.size});
        return parts;
    }
    const auto tier = widest_tier(span);
    if (tier == one_unit)
        for (const auto& unit : index.units)
            parts.push_back({unit.name, unit.first, unit.size});
    else if (tier == one_pod)
        for (const auto& pod : index.pods)
            parts.push_back({pod.name, index.units[pod.first].first, pod.hosts});
    else if (tier == one_island && index.islands.size() > 1)
        for (const auto& island : index.islands) {
            const auto first = index.units[index.pods[island.first].first].first;
            parts.push_back({"that of " + fabric.hosts[index.order[first]].name, first, island.hosts});
        }
    else
        parts.push_back({"the fabric", 0, static_cast<std::uint32_t>(index.order.size())});
    return parts;
}

Tally::Tally(const Loads& loads, const std::vector<std::uint8_t>& excluded_hosts, const Part& part,
             const Remarks& remarks) {
    const auto note = [&](std::map<std::string, std::uint32_t>& why, std::uint32_t host) {
        if (host < remarks.why.size() && !remarks.why[host].empty()) ++why[remarks.why[host]];
    };
    for (auto i = part.first; i < part.first + part.size; ++i) {
        const auto h = loads.index().order[i];
        if (loads.is_required(h)) ++required;
        if (!excluded_hosts.empty() && excluded_hosts[h] != 0) {
            ++excluded;
            continue;
        }
        switch (loads.snapshot().states[h]) {
        case HostState::free: ++(loads.free(h) ? free : unhealthy); break;
        case HostState::mixed: ++(!loads.request().shared ? busy : loads.free(h) ? free : unhealthy); break;
        case HostState::busy: ++busy; break;
        case HostState::drained:
            ++drained;
            note(drained_why, h);
            break;
        case HostState::down:
            ++down;
            note(down_why, h);
            break;
        }
    }
}

std::string Tally::text(const Remarks& remarks) const {
    auto out = fmt::format("{} free", free);
    const auto add = [&](std::uint32_t count, std::string_view what, std::string_view why = {}) {
        if (count > 0) out += fmt::format(", {} {}{}", count, what, why);
    };
    add(busy, "busy");
    add(drained, "drained", because(drained_why, drained));
    add(down, "down", because(down_why, down));
    add(unhealthy, "unhealthy");
    add(excluded, remarks.excluded);
    return out;
}

} // namespace sched
