// The judge: rules and what they have seen. Signals and time go in, findings come out. Pure: no I/O, no
// clock.
//
// A test that is true becomes a finding when it has been so for the rule's window and ends after a time of
// absence (window.hpp); counters are judged by their growth, never by lifetime values; an event counts for a
// while. A signal that does not come neither raises nor ends anything, unless its component is said to be
// gone.
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

// What railyard.conf says: the table [throttle], which rows of rules refer to, and the interval of looks.
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

    // The rule's own window, or what [throttle] says: a condition must hold for its window; growth is looked
    // at over twice that time, so that half of it is as much as the window.
    static base::Duration window_of(const Rule& rule, const Limits& limits);

    // Other rules from now on. What has been seen stays, but for rules that look at something else than the
    // one of the same name did.
    void set(const RuleSet& rules, const Limits& limits);

    // One look; `now` must not go back. Signals of a component stand together. Cost: linear in the signals
    // times the rules of each.
    void look(base::Time now, std::span<const Signal> signals);

    // All there is of signals whose name begins so was in this look: the other components have gone.
    void rest_is_gone(base::Time now, std::string_view prefix);

    // Components come and go, as jobs do: what such signals have seen of those that were not in this look is
    // forgotten, unless a finding holds.
    void forget(std::string_view prefix);

    void event(base::Time now, const Signal& event);

    // A user's programs have run on the component since then, and ended (Events::ran).
    void ran(const std::string& component, std::uint32_t user, base::Time since) {
        events_.ran(component, user, since);
    }

    // Whether some rule of this signal is true now, without having been for its window.
    bool pending(std::string_view signal) const;

    // What holds now, by rule and component, each pair once with its worst severity; at most 256, then the
    // worst.
    std::vector<Finding> findings(base::Time now);

    // Every rule beside what it looks at, with the signals of the last look; by component, then in the rules'
    // order. Of events only those that hold.
    std::vector<RuleView> view(base::Time now, std::span<const Signal> signals);

    // The InfiniBand counters that some rule judges, each once.
    static std::vector<std::string> counters(const RuleSet& rules);

private:
    struct Entry {
        RuleState state;
        std::uint64_t looked = 0; // number of the look that had its signal
    };
    using States = boost::container::flat_map<std::size_t, Entry>; // by row
    const Rule* rule_of(const Signal& event) const;
    std::optional<double> median_of(std::string_view signal) const;

    std::vector<Rule> rules_;                // open fields filled in
    std::shared_ptr<const void> keep_texts_; // that rules_ point to
    base::Duration longest_step_{};
    std::unordered_map<std::string_view, std::vector<std::size_t>> rows_; // by signal
    std::map<std::string, States, std::less<>> components_;
    std::map<std::string_view, std::vector<double>> peers_; // values of this look, of signals judged by peers
    Events events_;
    std::uint64_t look_ = 0;
};

} // namespace restart
