#include "check/selftest.hpp"

#include "base/units.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <optional>

namespace check {
namespace {

using namespace std::chrono_literals;
using restart::Against;
using restart::Rule;
using restart::RuleSet;
using restart::Severity;
using restart::Shape;
using restart::Test;

// Looks before the fault, on a sound host.
constexpr int looks_before = 3;
// Looks in a long window; in a short one there is one each second.
constexpr int looks_in_window = 120;
constexpr double nobodys = 9999; // above all event numbers

class Trial {
public:
    Trial(const Rule& rule, const RuleSet& alone, Stage& stage) : rule_(rule), alone_(alone), stage_(stage) {
        const auto* kind = restart::find_signal_kind(rule.signal);
        shape_ = kind ? kind->shape : Shape::gauge;
        const auto windows = std::max<std::uint64_t>({1, rule.of_windows, rule.samples});
        const auto whole = window() * static_cast<std::int64_t>(windows);
        // A delta fires as soon as the counter has grown; other tests need their window to pass.
        interval_ = rule.test == Test::delta || shape_ == Shape::event
                        ? base::Duration{1s}
                        : std::max<base::Duration>(1s, whole / looks_in_window);
        looks_ = static_cast<int>(whole / interval_) + 2 + stage.delay(interval_);
    }

    base::Expected<void> run(Outcome& into) {
        into.silent = true;
        if (auto done = fault(into); !done || !into.trouble.empty()) return done;
        return near_misses(into);
    }

private:
    base::Duration window() const { return restart::RuleBook::window_of(rule_, {}); }

    // The longest that a fault may last without a finding; for a share of windows, a fault touches one window
    // more than it fills.
    base::Duration still_silent() const {
        if (rule_.samples > 0) return base::Duration{0}; // one bad sample may be enough
        if (rule_.of_windows == 0) return window() / 2;
        const auto windows = std::floor(rule_.share * static_cast<double>(rule_.of_windows)) - 1;
        return std::max<std::int64_t>(0, static_cast<std::int64_t>(windows)) * window();
    }

    std::string finding() const {
        if (shape_ != Shape::event || !numbered()) return std::string(rule_.finding());
        return fmt::format("{}.{}", rule_.signal, code());
    }
    // Events that have a number; others are recognized by their text.
    bool numbered() const { return rule_.value != 0 || rule_.to; }

    // The last of the rule's numbers; for a catch-all rule a number that has no meaning.
    double code() const { return std::min(rule_.to.value_or(rule_.value), nobodys); }

    // An event text that the rule matches: the first alternative.
    std::string words() const {
        std::string text(rule_.text.substr(0, rule_.text.find('|')));
        std::erase(text, '*');
        return text;
    }

    double limit() const {
        switch (rule_.against) {
        case Against::own: return rule_.value * stage_.of();
        case Against::peers: return rule_.value * stage_.sound();
        case Against::number: break;
        }
        return rule_.value;
    }

    // Gauges: values for which the test is just true and just false.
    double hit() const {
        switch (rule_.test) {
        case Test::above: return std::floor(limit()) + 1;
        case Test::below: return std::ceil(limit()) - 1;
        case Test::bit: return lowest_bit();
        default: return rule_.value;
        }
    }
    std::vector<double> misses() const {
        switch (rule_.test) {
        case Test::above: return {std::floor(limit())};
        case Test::below: return {std::ceil(limit())};
        case Test::bit: {
            std::vector<double> found{static_cast<double>(0x17 & ~static_cast<std::uint64_t>(rule_.value))};
            if (rule_.unless != 0)
                found.push_back(lowest_bit() + static_cast<double>(rule_.unless & (~rule_.unless + 1)));
            return found;
        }
        default: {
            // A yes-or-no value has one other value.
            const bool yes_or_no = rule_.value <= 1 && stage_.sound() <= 1 && !rule_.to;
            if (yes_or_no) return {1 - rule_.value};
            std::vector<double> found{rule_.to.value_or(rule_.value) + 1};
            if (rule_.value >= 1) found.push_back(rule_.value - 1);
            return found;
        }
        }
    }
    double lowest_bit() const {
        const auto mask = static_cast<std::uint64_t>(rule_.value);
        return static_cast<double>(mask & (~mask + 1));
    }

    base::Expected<void> begin() {
        value_ = stage_.sound();
        return stage_.begin(alone_, interval_);
    }

    // Whether the finding is present, on the component under test.
    base::Expected<bool> look() {
        const auto findings = stage_.look();
        if (!findings) return findings.error();
        return std::any_of(findings->begin(), findings->end(), [&](const restart::Finding& one) {
            severity_ = one.severity;
            return one.rule == finding() && one.component == stage_.component();
        });
    }

    base::Expected<bool> silent_for(int looks) {
        for (int i = 0; i < looks; ++i) {
            const auto there = look();
            if (!there) return there.error();
            if (*there) return false;
        }
        return true;
    }

    // Looks at a sound host; skipped for signals that must be present from the start.
    base::Expected<bool> sound_at_first() {
        if (auto begun = begin(); !begun) return begun.error();
        if (stage_.from_the_start()) return true;
        return silent_for(looks_before);
    }

    // Growth of a counter in one look: all at once, or spread over the window. If a probe sees changes late,
    // a window may hold one step more than its length covers.
    base::Expected<void> grow(double by) {
        value_ += by;
        return stage_.set(value_, {});
    }
    double growth_a_look(double share) const {
        const auto seconds = std::chrono::duration<double>(interval_).count();
        return rule_.test == Test::rate ? std::ceil(limit() * seconds * share) + (share > 1 ? 1 : -1) : 0;
    }

    base::Expected<void> fault(Outcome& into) {
        auto sound = sound_at_first();
        if (sound && *sound && shape_ != Shape::event && !rule_.counts_growth() && !stage_.from_the_start())
            sound = silent_for(looks_);
        if (!sound) return sound.error();
        if (!*sound) {
            into.silent = false;
            into.trouble = "it fires on a sound host";
            return {};
        }
        if (rule_.only_repeated) return repeated_fault(into);
        if (rule_.test == Test::delta)
            if (auto done = grow(std::floor(limit()) + 1); !done) return done;
        if (shape_ == Shape::event) {
            if (auto done = stage_.set(code(), words()); !done) return done;
        } else if (!rule_.counts_growth()) {
            if (auto done = stage_.set(hit(), {}); !done) return done;
        }
        for (int i = 0; i < looks_ && !into.fires; ++i) {
            if (rule_.test == Test::rate)
                if (auto done = grow(growth_a_look(1.2)); !done) return done;
            const auto there = look();
            if (!there) return there.error();
            into.fires = *there;
            into.after = i * interval_;
        }
        if (!into.fires) {
            into.trouble = fmt::format("no finding {} within {} of its fault", finding(),
                                       base::human_duration(looks_ * interval_));
        } else if (rule_.severity && severity_ != *rule_.severity) {
            into.trouble = fmt::format("its finding is {}", to_string(severity_));
        } else if (!rule_.counts_growth() && shape_ != Shape::event &&
                   into.after < (rule_.of_windows == 0 ? window() : still_silent())) {
            into.trouble = fmt::format("it fires {} after its fault, before its window has passed",
                                       base::human_duration(into.after));
        }
        return shape_ == Shape::event && rule_.repeats > 0 && into.fires ? repeat(into)
                                                                         : base::Expected<void>{};
    }

    // A fault that becomes a finding only when it is repeated.
    base::Expected<void> repeated_fault(Outcome& into) {
        for (std::uint64_t times = 1; times <= rule_.repeats; ++times) {
            if (auto done = stage_.set(hit(), {}); !done) return done;
            for (int i = 0; i < looks_; ++i) {
                const auto there = look();
                if (!there) return there.error();
                into.fires |= *there;
                if (!into.fires) into.after += interval_;
            }
            if (into.fires && times < rule_.repeats)
                into.trouble = fmt::format("it fires when it has come {} times", times);
            if (auto done = stage_.restore(); !done) return done;
            if (auto done = silent_looks(looks_before); !done) return done;
        }
        if (!into.fires) into.trouble = fmt::format("no finding {} after {} times", finding(), rule_.repeats);
        if (into.fires && severity_ != rule_.repeated)
            into.trouble = fmt::format("its finding is {}", to_string(severity_));
        return {};
    }

    // A repeated event becomes more severe at the number that the rule names.
    base::Expected<void> repeat(Outcome& into) {
        // Events within a few seconds are one event reported twice.
        const auto apart = 10 + static_cast<int>(rule_.burst / interval_);
        for (std::uint64_t times = 2; times <= rule_.repeats; ++times) {
            const auto quiet = silent_looks(apart);
            if (!quiet) return quiet;
            if (auto done = stage_.set(code(), words()); !done) return done;
            const auto there = look();
            if (!there) return there.error();
            const auto wanted = times == rule_.repeats ? rule_.repeated : rule_.severity;
            if (!*there || (wanted && severity_ != *wanted))
                into.trouble = fmt::format("after {} times its finding is {}", times, to_string(severity_));
        }
        return {};
    }
    base::Expected<void> silent_looks(int looks) {
        for (int i = 0; i < looks; ++i)
            if (const auto there = look(); !there) return there.error();
        return {};
    }

    base::Expected<void> near_misses(Outcome& into) {
        const auto stays_silent = [&](int looks, std::string_view what) -> base::Expected<void> {
            const auto silent = silent_for(looks);
            if (!silent) return silent.error();
            if (!*silent) {
                into.silent = false;
                into.trouble = fmt::format("it fires {}", what);
            }
            return {};
        };
        if (rule_.counts_growth()) {
            ++into.misses;
            if (auto sound = sound_at_first(); !sound) return sound.error();
            if (rule_.test == Test::delta) {
                if (auto done = grow(std::floor(limit())); !done) return done;
                return stays_silent(looks_before + stage_.delay(interval_), "at growth by its threshold");
            }
            for (int i = 0; i < looks_; ++i) {
                if (auto done = grow(std::max(0.0, growth_a_look(0.8))); !done) return done;
                if (auto done = stays_silent(1, "below its rate"); !done) return done;
            }
            return {};
        }
        if (shape_ == Shape::event) {
            for (const auto wrong : {rule_.value - 1, rule_.to.value_or(rule_.value) + 1}) {
                if (!numbered() || wrong < 0 || wrong > nobodys) continue;
                ++into.misses;
                if (auto sound = sound_at_first(); !sound) return sound.error();
                if (auto done = stage_.set(wrong, words()); !done) return done;
                if (auto done = stays_silent(looks_before, "at another number"); !done) return done;
            }
            if (rule_.text.empty()) return {};
            ++into.misses;
            if (auto sound = sound_at_first(); !sound) return sound.error();
            if (auto done = stage_.set(code(), "other words"); !done) return done;
            return stays_silent(looks_before, "at other words");
        }
        for (const auto miss : misses()) {
            ++into.misses;
            if (auto sound = sound_at_first(); !sound) return sound.error();
            if (auto done = stage_.set(miss, {}); !done) return done;
            if (auto done = stays_silent(looks_, fmt::format("at {:g}, its near miss", miss)); !done)
                return done;
        }
        if (still_silent() < interval_ || stage_.from_the_start()) return {};
        if (auto sound = sound_at_first(); !sound) return sound.error();
        if (auto done = stage_.set(hit(), {}); !done) return done;
        const auto looks = static_cast<int>(still_silent() / interval_);
        if (auto done = stays_silent(looks, "before its window has passed"); !done) return done;
        if (auto done = stage_.restore(); !done) return done;
        return stays_silent(looks_, "after a fault that was shorter than its window");
    }

    const Rule& rule_;
    const RuleSet& alone_;
    Stage& stage_;
    Shape shape_ = Shape::gauge;
    base::Duration interval_{};
    int looks_ = 0;
    double value_ = 0; // of a counter
    Severity severity_{};
};

} // namespace

base::Expected<std::vector<Outcome>> selftest(const RuleSet& rules, std::string_view only, const Beds& beds,
                                              const std::function<bool(const Outcome&)>& told) {
    std::vector<Outcome> outcomes;
    for (const auto& rule : rules.rows()) {
        if (!rule.on || !rule.name.starts_with(only)) continue;
        Outcome outcome;
        outcome.rule = rule.name;
        outcome.signal = rule.signal;
        outcome.severity = rule.severity ? to_string(*rule.severity) : "[throttle] reasons";
        outcome.source = rule.source;
        const auto alone = rules.only(rule.name);
        const auto stage = stage_of(rule, beds);
        outcome.through = stage->through();
        if (auto done = Trial(rule, alone, *stage).run(outcome); !done)
            return std::move(done).error().within(outcome.rule);
        outcomes.push_back(std::move(outcome));
        if (!told(outcomes.back())) break;
    }
    return outcomes;
}

} // namespace check
