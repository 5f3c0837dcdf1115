// The judge: rules and their state. Signals and time go in, findings come out. Pure: no I/O, no clock.
//
// A test becomes a finding when it has been true for the rule's window, and the finding ends after a time of
// absence (window.hpp); counters are evaluated by their growth, never by lifetime values; an event counts for
// a while. A missing signal neither raises nor ends a finding, unless its component is reported as gone.
#pragma once

#include "base/clock.hpp"
#include "restart/watch/rules/events.hpp"
#include "restart/watch/rules/rule.hpp"
#include "restart/watch/rules/rule_set.hpp"
#include "restart/watch/rules/rule_state.hpp"
#include "restart/watch/rules/rule_view.hpp"
#include "restart/watch/rules/signal.hpp"

#include <boost/container/flat_map.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace restart {

// Settings of railyard.conf: the table [throttle], which rules refer to, and the interval of looks.
struct Limits {
    std::set<std::string, std::less<>> throttle_evicts{"hw_power_brake", "hw_thermal_slowdown"};
    base::Duration throttle_window{5'000};
    base::Duration clear{30'000}; // absence that ends any finding
    base::Duration interval{1'000};
};

class RuleBook {
public:
    explicit RuleBook(const RuleSet& rules = {}, const Limits& limits = {}) { set(rules, limits); }
    RuleBook(const RuleBook&) = delete; // events point to their rules
    RuleBook& operator=(const RuleBook&) = delete;

    // The rule's own window, or that of [throttle]: a condition must hold for the window; growth is evaluated
    // over twice the window, so that half of it is as long as the window.
    static base::Duration window_of(const Rule& rule, const Limits& limits);

    // Replaces the rules. State is kept, except for rules that evaluate something else than the earlier rule
    // of the same name.
    void set(const RuleSet& rules, const Limits& limits);

    // Takes one look; `now` must not go back. Signals must be grouped by component. Cost: linear in the
    // signals times the rules of each.
    void look(base::Time now, std::span<const Signal> signals);

    // All existing signals with this prefix were in this look: other components are gone.
    void rest_is_gone(base::Time now, std::string_view prefix);

    // For components that come and go, such as jobs: forgets the state of such signals that were not in this
    // look, unless a finding holds.
    void forget(std::string_view prefix);

    void event(base::Time now, const Signal& event);

    // A user's programs have run on the component since then, and ended (Events::ran).
    void ran(const std::string& component, std::uint32_t user, base::Time since) {
        events_.ran(component, user, since);
    }

    // Whether the test of a rule for this signal is true now, but not yet for its window.
    bool pending(std::string_view signal) const;

    // Current findings, by rule and component, each pair once with its worst severity; at most 256, the
    // worst.
    std::vector<Finding> findings(base::Time now);

    // Every rule with its values, including the signals of the last look; by component, then in rule order.
    // For events only those that hold.
    std::vector<RuleView> view(base::Time now, std::span<const Signal> signals);

    // The InfiniBand counters used by rules, each once.
    static std::vector<std::string> counters(const RuleSet& rules);

private:
    struct Entry {
        RuleState state;
        std::uint64_t looked = 0; // number of the look that had its signal
    };
    using States = boost::container::flat_map<std::size_t, Entry>; // by row
    const Rule* rule_of(const Signal& event) const;
    std::optional<double> median_of(std::string_view signal) const;

    std::vector<Rule> rules_;                // with open fields set
    std::shared_ptr<const void> keep_texts_; // the texts to which rules_ refer
    base::Duration longest_step_{};
    std::unordered_map<std::string_view, std::vector<std::size_t>> rows_; // by signal
    std::map<std::string, States, std::less<>> components_;
    std::map<std::string_view, std::vector<double>> peers_; // of this look, of signals compared with peers
    Events events_;
    std::uint64_t look_ = 0;
};

} // namespace restart
