#include "sched/explain_json.hpp"

#include <algorithm>

namespace sched {
namespace {

namespace json = boost::json;

json::array names(const topo::Fabric& fabric, const std::vector<std::uint32_t>& hosts) {
    json::array out;
    for (const auto h : hosts)
        out.emplace_back(fabric.hosts[h].name);
    return out;
}

json::value time_or_null(const std::optional<base::Time>& time) {
    return time ? json::value(base::iso_time(*time)) : json::value(nullptr);
}

// Counts remain integers.
json::value number(const Scored& scored, Term term) {
    const auto of = value(scored, term);
    return term == Term::avoidance ? json::value(of) : json::value(static_cast<std::uint64_t>(of));
}

// Each reason once, the most frequent first.
json::array reasons(const Tally& tally) {
    auto why = tally.drained_why;
    for (const auto& [reason, hosts] : tally.down_why)
        why[reason] += hosts;
    std::vector<std::pair<std::uint32_t, std::string>> list;
    for (const auto& [reason, hosts] : why)
        list.emplace_back(hosts, reason);
    std::stable_sort(list.begin(), list.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    json::array out;
    for (const auto& [hosts, reason] : list)
        out.push_back({{"reason", reason}, {"hosts", hosts}});
    return out;
}

} // namespace

json::object to_json(const topo::Fabric& fabric, const PlacementIndex& index,
                     const Explanation& explanation) {
    const auto& other = explanation.other;
    json::array terms;
    for (const auto& line : explanation.terms)
        terms.push_back({{"term", to_string(line.term)},
                         {"words", heading(line.term)},
                         {"text", line.text},
                         {"value", number(explanation.chosen, line.term)},
                         {"shown", value_text(explanation.chosen, line.term)},
                         {"other", other ? number(*other, line.term) : json::value(nullptr)},
                         {"other_shown", other ? value_text(*other, line.term) : std::string()}});
    json::object out{{"kind", "placed"},
                     {"sentence", explanation.sentence},
                     {"nodes", names(fabric, explanation.chosen.hosts)},
                     {"other", nullptr},
                     {"decided", explanation.decided ? json::value(to_string(*explanation.decided))
                                                     : json::value(nullptr)},
                     {"terms", std::move(terms)}};
    if (!explanation.exact) out["exact"] = false;
    if (other)
        out["other"] = {{"nodes", names(fabric, other->hosts)},
                        {"without", explanation.without.empty()
                                        ? json::value(nullptr)
                                        : json::value(index.units[explanation.without.front()].name)},
                        {"better", explanation.other_is_better}};
    return out;
}

json::object to_json(const topo::Fabric& fabric, const Outlook& outlook, base::Time now) {
    json::array parts, unlimited;
    for (const auto& [part, tally] : outlook.parts)
        parts.push_back({{"name", part.name},
                         {"free", tally.free},
                         {"busy", tally.busy},
                         {"drained", tally.drained},
                         {"down", tally.down},
                         {"unhealthy", tally.unhealthy},
                         {"excluded", tally.excluded},
                         {"why", reasons(tally)}});
    for (const auto job : outlook.unlimited)
        unlimited.push_back(base::to_json(job));
    return {{"kind", "pending"},
            {"verdict", to_string(outlook.kind)},
            {"sentence", outlook.sentence},
            {"now", base::iso_time(now)},
            {"fits_at", time_or_null(outlook.at)},
            {"job", outlook.job ? base::to_json(outlook.job) : json::value(nullptr)},
            {"nodes_then", names(fabric, outlook.hosts)},
            {"wish_ends", time_or_null(outlook.wish_ends)},
            {"unlimited", std::move(unlimited)},
            {"part", outlook.part},
            {"parts", std::move(parts)}};
}

} // namespace sched
