#include "restart/watch/fabric/link_judge.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <utility>

namespace restart {
namespace {

constexpr std::size_t longest_evidence = 500; // less than a report carries (wire/report_fields.hpp)

bool same(const LinkFinding& a, const LinkFinding& b) {
    return a.rule == b.rule && a.severity == b.severity && a.a == b.a && a.a_port == b.a_port && a.b == b.b &&
           a.b_port == b.b_port;
}

bool contains(const std::vector<LinkFinding>& list, const LinkFinding& finding) {
    return std::any_of(list.begin(), list.end(), [&](const auto& one) { return same(one, finding); });
}

} // namespace

LinkFinding place_of(const LinkMap& map, const LinkComponent& what) {
    LinkFinding place;
    if (what.file) {
        place.a = "fabric";
        place.a_port = "file";
        return place;
    }
    if (what.rail != topo::none) {
        place.a = fmt::format("unit {}", what.unit);
        place.a_port = fmt::format("rail {}", what.rail);
        place.rail = what.rail;
        place.unit = what.unit;
        return place;
    }
    const auto& link = map.links()[what.link];
    place.a = link.ends[0].device;
    place.a_port = link.ends[0].port_name;
    place.b = link.ends[1].device;
    place.b_port = link.ends[1].port_name;
    place.rail = link.rail;
    place.unit = link.unit;
    place.pod = link.pod;
    place.hosts = map.hosts_of(what.link);
    return place;
}

LinkJudge::LinkJudge(const topo::Fabric& file, const RuleSet& rules, const Limits& limits)
    : signals_(file), book_(rules, limits) {}

LinkFinding LinkJudge::whole(const Finding& finding) const {
    auto whole = place_of(signals_.map(), signals_.component(finding.component));
    whole.rule = finding.rule;
    whole.severity = finding.severity;
    whole.since = finding.since;
    whole.evidence = finding.evidence;
    if (const auto* cause = signals_.waits().cause(finding.rule, finding.component))
        whole.hosts = cause->hosts;
    return whole;
}

// A link that waits because of another finding is reported with that finding.
std::vector<Finding> LinkJudge::without_what_is_explained(std::vector<Finding> findings) const {
    std::vector<std::array<bool, 2>> explained(signals_.map().links().size());
    for (const auto& finding : findings)
        if (const auto* cause = signals_.waits().cause(finding.rule, finding.component))
            for (const auto& end : cause->ends)
                explained[end.link][end.side] = true;
    std::erase_if(findings, [&](const Finding& finding) {
        if (finding.rule != "link.waiting") return false;
        const auto side = finding.component.ends_with(":1") ? 1U : 0U;
        return explained[signals_.component(finding.component).link][side];
    });
    return findings;
}

std::vector<LinkFinding> LinkJudge::judge(base::Time now, std::span<const SeenEnd> seen,
                                          std::span<const PortReading> readings) {
    std::vector<Signal> begin, signals;
    signals_.read(now, seen, readings, begin, signals);
    book_.look(now, begin);
    book_.look(now, signals);

    // Both ends of a link may show the same finding.
    std::map<std::pair<std::string, std::string>, LinkFinding> joined;
    for (const auto& finding : without_what_is_explained(book_.findings(now))) {
        const auto link = finding.component.substr(0, finding.component.find(':'));
        const auto [entry, first] = joined.try_emplace({finding.rule, link});
        auto& one = entry->second;
        if (first) {
            one = whole(finding);
            continue;
        }
        one.severity = std::max(one.severity, finding.severity);
        one.since = std::min(one.since, finding.since);
        one.evidence += "; " + finding.evidence;
    }
    std::vector<LinkFinding> findings;
    for (auto& [key, finding] : joined) {
        if (finding.evidence.size() > longest_evidence) finding.evidence.resize(longest_evidence);
        findings.push_back(std::move(finding));
    }
    std::stable_sort(findings.begin(), findings.end(),
                     [](const LinkFinding& a, const LinkFinding& b) { return a.severity > b.severity; });
    return findings;
}

std::vector<std::string> news(const std::vector<LinkFinding>& before, const std::vector<LinkFinding>& after) {
    std::vector<std::string> sentences;
    for (const auto& finding : after)
        if (!contains(before, finding))
            sentences.push_back(
                fmt::format("{} on {} ({}): {}{}", finding.rule, name_of(finding),
                            to_string(finding.severity), finding.evidence,
                            finding.hosts.empty() ? std::string() : "; hosts behind it: " + finding.hosts));
    for (const auto& finding : before)
        if (!contains(after, finding))
            sentences.push_back(fmt::format("{} on {}: cleared", finding.rule, name_of(finding)));
    return sentences;
}

} // namespace restart
