// RuleBook::view: the state of the rules, combined with the signals of a look.
#include "restart/watch/rules/rule_book.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace restart {
namespace {

void stand(RuleView& view, const RuleState& state, base::Time now) {
    const auto& rule = *view.rule;
    if (state.firing()) {
        view.standing = state.present() ? RuleStanding::finding : RuleStanding::clearing;
        view.severity = state.severity(rule, now);
        view.since = state.since();
        view.text = state.evidence(rule, now);
        return;
    }
    if (state.pending()) {
        view.standing = RuleStanding::in_window;
        if (rule.of_windows == 0) view.since = state.since();
        return;
    }
    view.standing = state.ended() ? RuleStanding::cleared : RuleStanding::ok;
    view.since = state.ended();
}

RuleView seen(const Rule& rule, const Signal& signal, const RuleState* state, base::Time now) {
    RuleView view{.rule = &rule, .component = signal.component, .value = signal.value, .text = signal.text};
    if (state == nullptr) {
        view.text = "not judged yet";
        return view;
    }
    const auto& compared = state->compared();
    if (!compared && !state->firing()) {
        view.text = rule.samples > 0 ? "too few samples yet" : "what it is measured against is not known";
        return view;
    }
    if (compared && (rule.counts_growth() || rule.samples > 0)) view.compared = compared->value;
    if (compared && rule.against != Against::number) view.limit = compared->limit;
    stand(view, *state, now);
    return view;
}

} // namespace

std::vector<RuleView> RuleBook::view(base::Time now, std::span<const Signal> signals) {
    std::vector<RuleView> views;
    std::set<std::pair<std::string_view, std::size_t>> shown;
    std::set<std::size_t> known; // rows with a component
    for (const auto& signal : signals) {
        const auto rows = rows_.find(signal.name);
        if (rows == rows_.end()) continue;
        const auto states = components_.find(signal.component);
        for (const auto row : rows->second) {
            const RuleState* state = nullptr;
            if (states != components_.end())
                if (const auto entry = states->second.find(row); entry != states->second.end())
                    state = &entry->second.state;
            views.push_back(seen(rules_[row], signal, state, now));
            shown.emplace(signal.component, row);
            known.insert(row);
        }
    }
    // Not in this look: findings hold until their component is reported sound again.
    for (const auto& [component, states] : components_)
        for (const auto& [row, entry] : states) {
            known.insert(row);
            if (shown.contains({component, row})) continue;
            RuleView view{.rule = &rules_[row], .component = component, .text = "seen before, not now"};
            if (entry.state.firing()) stand(view, entry.state, now);
            views.push_back(std::move(view));
        }
    for (std::size_t row = 0; row < rules_.size(); ++row) {
        const auto* kind = find_signal_kind(rules_[row].signal);
        if (known.contains(row) || kind->shape == Shape::event) continue;
        RuleView view{.rule = &rules_[row]};
        if (kind->of_faults) view.standing = RuleStanding::ok;
        views.push_back(std::move(view));
    }
    for (const auto& held : events_.held(now))
        views.push_back({.rule = held.rule,
                         .component = held.event->component,
                         .standing = RuleStanding::finding,
                         .value = held.event->value,
                         .severity = held.severity,
                         .since = held.first,
                         .text = held.event->text});
    std::stable_sort(views.begin(), views.end(), [](const RuleView& a, const RuleView& b) {
        return std::pair(std::string_view(a.component), a.rule) <
               std::pair(std::string_view(b.component), b.rule);
    });
    return views;
}

} // namespace restart
