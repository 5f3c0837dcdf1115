#include "restart/watch/rules/rule_book.hpp"

#include "restart/watch/rules/evidence.hpp"
#include "restart/watch/rules/pattern.hpp"

#include <algorithm>
#include <utility>

namespace restart {
namespace {

using namespace std::chrono_literals;

// The limits of a report (wire/report_fields.hpp).
constexpr std::size_t most_findings = 256, most_evidence = 500;
constexpr std::size_t fewest_peers = 3;

// Sets the fields that come from railyard.conf.
Rule filled(Rule rule, const Limits& limits) {
    rule.window = RuleBook::window_of(rule, limits);
    if (!rule.clear) rule.clear = limits.clear;
    if (!rule.severity) {
        const auto reason = rule.finding().substr(rule.finding().rfind('.') + 1);
        const bool evicts = limits.throttle_evicts.contains(reason);
        rule.severity = evicts ? Severity::evict : Severity::warn;
        // A reason configured to evict does so whatever its cause.
        if (evicts) rule.unless = 0;
    }
    return rule;
}

// Whether the state of one rule is valid for the other.
bool sees_the_same(const Rule& a, const Rule& b) {
    return a.signal == b.signal && a.test == b.test && a.of_windows == b.of_windows &&
           a.samples == b.samples &&
           (a.window == b.window || !(a.counts_growth() || a.of_windows > 0 || a.samples > 0));
}

} // namespace

base::Duration RuleBook::window_of(const Rule& rule, const Limits& limits) {
    if (rule.window) return *rule.window;
    return rule.counts_growth() ? std::max<base::Duration>(2 * limits.throttle_window, 1s)
                                : limits.throttle_window;
}

void RuleBook::set(const RuleSet& rules, const Limits& limits) {
    const auto old = std::exchange(rules_, {});
    const auto old_texts = std::exchange(keep_texts_, rules.texts());
    // An event that matches a disabled row is ignored; it is not passed on to the next row.
    for (const auto& rule : rules.rows())
        if (rule.on || find_signal_kind(rule.signal)->shape == Shape::event)
            rules_.push_back(filled(rule, limits));
    longest_step_ = std::max<base::Duration>(3 * limits.interval, 1s);
    rows_.clear();
    peers_.clear();
    for (std::size_t row = 0; row < rules_.size(); ++row) {
        rows_[rules_[row].signal].push_back(row);
        if (rules_[row].against == Against::peers) peers_[rules_[row].signal];
    }
    std::map<std::size_t, std::size_t> moved;
    for (std::size_t row = 0; row < old.size(); ++row)
        for (std::size_t now = 0; now < rules_.size(); ++now)
            if (old[row].name == rules_[now].name && sees_the_same(old[row], rules_[now])) moved[row] = now;
    for (auto& [component, states] : components_) {
        States kept;
        for (auto& [row, entry] : states)
            if (const auto to = moved.find(row); to != moved.end())
                kept.emplace(to->second, std::move(entry));
        states = std::move(kept);
    }
    events_.judge_again([this](const Signal& event) { return rule_of(event); });
}

std::optional<double> RuleBook::median_of(std::string_view signal) const {
    auto values = peers_.at(signal);
    if (values.size() < fewest_peers) return std::nullopt;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

void RuleBook::look(base::Time now, std::span<const Signal> signals) {
    ++look_;
    for (auto& [name, values] : peers_)
        values.clear();
    if (!peers_.empty())
        for (const auto& signal : signals)
            if (const auto peers = peers_.find(signal.name); peers != peers_.end())
                peers->second.push_back(signal.value);
    auto at = components_.end();
    for (const auto& signal : signals) {
        const auto rows = rows_.find(signal.name);
        if (rows == rows_.end()) continue;
        if (at == components_.end() || at->first != signal.component)
            at = components_.try_emplace(signal.component).first;
        for (const auto row : rows->second) {
            const auto& rule = rules_[row];
            RuleState::Look look{now, longest_step_, std::nullopt};
            if (rule.against == Against::peers) look.median = median_of(rule.signal);
            auto& entry = at->second[row];
            entry.state.take(look, rule, signal);
            entry.looked = look_;
        }
    }
}

void RuleBook::rest_is_gone(base::Time now, std::string_view prefix) {
    const RuleState::Look look{now, longest_step_, std::nullopt};
    for (auto& [component, states] : components_)
        for (auto& [row, entry] : states)
            if (entry.looked != look_ && rules_[row].signal.starts_with(prefix))
                entry.state.leave(look, rules_[row]);
}

void RuleBook::forget(std::string_view prefix) {
    for (auto component = components_.begin(); component != components_.end();) {
        States& states = component->second;
        const auto over = std::remove_if(states.begin(), states.end(), [&](const auto& state) {
            const auto& [row, entry] = state;
            return entry.looked != look_ && !entry.state.firing() && rules_[row].signal.starts_with(prefix);
        });
        states.erase(over, states.end());
        component = states.empty() ? components_.erase(component) : std::next(component);
    }
}

const Rule* RuleBook::rule_of(const Signal& event) const {
    const auto rows = rows_.find(event.name);
    if (rows == rows_.end()) return nullptr;
    for (const auto row : rows->second) {
        const auto& rule = rules_[row];
        if (event.value >= rule.value && event.value <= rule.to.value_or(rule.value) &&
            (rule.text.empty() || fits(rule.text, event.text)))
            return rule.on ? &rule : nullptr;
    }
    return nullptr;
}

void RuleBook::event(base::Time now, const Signal& event) {
    events_.take(now, event, [this](const Signal& signal) { return rule_of(signal); });
}

bool RuleBook::pending(std::string_view signal) const {
    const auto rows = rows_.find(signal);
    if (rows == rows_.end()) return false;
    for (const auto& [component, states] : components_)
        for (const auto row : rows->second)
            if (const auto entry = states.find(row); entry != states.end() && entry->second.state.pending())
                return true;
    return false;
}

std::vector<Finding> RuleBook::findings(base::Time now) {
    std::map<std::pair<std::string, std::string>, Finding> worst;
    const auto add = [&](Finding finding) {
        if (finding.evidence.size() > most_evidence) finding.evidence.resize(most_evidence);
        const auto [at, added] = worst.try_emplace({finding.rule, finding.component}, finding);
        if (!added && finding.severity > at->second.severity) at->second = std::move(finding);
    };
    for (const auto& [component, states] : components_)
        for (const auto& [row, entry] : states) {
            const auto& rule = rules_[row];
            const auto& state = entry.state;
            if (state.firing())
                add({std::string(rule.finding()), component, state.severity(rule, now), state.since(),
                     state.evidence(rule, now), std::string(to_string(rule.fault))});
        }
    for (auto& finding : events_.holding(now))
        add(std::move(finding));
    std::vector<Finding> findings;
    for (auto& [key, finding] : worst)
        findings.push_back(std::move(finding));
    if (findings.size() > most_findings) {
        std::stable_sort(findings.begin(), findings.end(),
                         [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
        findings.resize(most_findings);
    }
    return findings;
}

std::vector<std::string> RuleBook::counters(const RuleSet& rules) {
    std::vector<std::string> names;
    for (const auto& rule : rules.rows()) {
        if (!rule.on || !rule.signal.starts_with(counter_prefix)) continue;
        const auto name = rule.signal.substr(counter_prefix.size());
        if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
    }
    return names;
}

} // namespace restart
