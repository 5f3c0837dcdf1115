#include "restart/ctl/show_signals.hpp"

#include "base/units.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace restart {
namespace {

// Whether `name` is `wanted`, or continues after it with one of these characters.
bool fits(std::string_view wanted, std::string_view name, std::string_view ends) {
    return wanted.empty() || name == wanted ||
           (name.starts_with(wanted) && ends.find(name[wanted.size()]) != std::string_view::npos);
}

std::string ago(base::Time then, base::Time now) {
    return base::human_duration(std::max(now - then, base::Duration::zero()));
}

std::string told(const SignalsAnswer& answer) {
    return answer.came ? fmt::format("told {} ago\n", ago(*answer.came, answer.time)) : std::string();
}

} // namespace

base::Expected<HostSignals> only(const HostSignals& signals, const SignalFilter& filter) {
    HostSignals fitting = signals;
    fitting.rules.clear();
    fitting.rows.clear();
    std::erase_if(fitting.gpus, [&](const GpuPace& gpu) {
        return !filter.rule.empty() || !fits(filter.component, fmt::format("gpu{}", gpu.gpu), ":");
    });
    std::map<std::uint32_t, std::uint32_t> places;
    for (const auto& row : signals.rows) {
        const auto& rule = signals.rules.at(row.rule);
        if (!fits(filter.component, row.component, ":")) continue;
        if (!fits(filter.rule, rule.name, ".#") && !fits(filter.rule, rule.signal, ".")) continue;
        const auto [place, added] =
            places.try_emplace(row.rule, static_cast<std::uint32_t>(fitting.rules.size()));
        if (added) fitting.rules.push_back(rule);
        fitting.rows.push_back(row);
        fitting.rows.back().rule = place->second;
    }
    if (fitting.rows.empty() && !(filter.component.empty() && filter.rule.empty()))
        return base::Error{
            base::Code::not_found,
            fmt::format("{} has no{}{}: railctl signals {} shows all", signals.host,
                        filter.rule.empty() ? " signals" : fmt::format(" rule or signal {}", filter.rule),
                        filter.component.empty() ? "" : fmt::format(" of {}", filter.component),
                        signals.host)};
    return fitting;
}

bool holds_any(const HostSignals& signals) {
    return std::any_of(signals.rows.begin(), signals.rows.end(),
                       [](const SignalRow& row) { return row.severity.has_value(); });
}

std::string show(const SignalsAnswer& answer, const base::Look& look) {
    return answer.signals ? told(answer) + show(*answer.signals, false, look) : std::string();
}

std::string show_notable(const SignalsAnswer& answer, const base::Look& look) {
    if (!answer.signals) return {};
    auto notable = *answer.signals;
    const auto count = [&](RuleStanding standing) {
        return std::erase_if(notable.rows, [&](const SignalRow& row) { return row.standing == standing; });
    };
    const auto ok = count(RuleStanding::ok), unseen = count(RuleStanding::unseen);
    return told(answer) + show(notable, true, look) +
           fmt::format(
               "\n{} rules of components are as they should be, {} have nothing to judge: --all lists "
               "them, and each with its condition and source\n",
               ok, unseen);
}

std::string why_not(const SignalsAnswer& answer) {
    const auto heard = answer.last_report ? ago(*answer.last_report, answer.time) : std::string();
    switch (answer.state) {
    case SignalsState::here: return {};
    case SignalsState::silent:
        return heard.empty()
                   ? fmt::format("{}: its agent was never heard: does nodewatchd run there?", answer.host)
                   : fmt::format("{}: its agent has been silent for {}", answer.host, heard);
    case SignalsState::older:
        return fmt::format("{}: its agent is of an older release, which does not tell its signals: update "
                           "nodewatchd there (nodewatchd --once shows what it sees)",
                           answer.host);
    case SignalsState::busy:
        return fmt::format("{}: as many other hosts as may be are asked at present: ask again", answer.host);
    case SignalsState::asked: break;
    }
    return fmt::format("{}: its agent is asked with its next report, the last of which came {} ago: ask "
                       "again",
                       answer.host, heard);
}

} // namespace restart
