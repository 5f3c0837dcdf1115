#include "restart/watch/rules/rule_state.hpp"

#include "base/units.hpp"
#include "restart/watch/rules/evidence.hpp"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <numeric>

namespace restart {
namespace {

bool is_true(const Rule& rule, double value, double limit) {
    switch (rule.test) {
    case Test::equal: return value >= rule.value && value <= rule.to.value_or(rule.value);
    case Test::below: return value < limit;
    case Test::bit: {
        const auto bits = count_of(value);
        return (bits & count_of(rule.value)) != 0 && (bits & rule.unless) == 0;
    }
    case Test::above:
    case Test::delta:
    case Test::rate: break;
    }
    return value > limit;
}

} // namespace

void RuleState::take(const Look& look, const Rule& rule, const Signal& signal) {
    double scale = 1;
    if (rule.against == Against::own) scale = signal.of;
    if (rule.against == Against::peers) scale = look.median.value_or(0);
    compared_.reset();
    // Unknown: neither present nor gone.
    if (rule.against != Against::number && scale <= 0) return;
    double value = signal.value, grown = 0;
    if (rule.counts_growth()) {
        if (!growth_) growth_.emplace(*rule.window);
        grown = static_cast<double>(growth_->take(look.now, count_of(value)));
        value = rule.test == Test::rate ? grown / base::to_seconds(*rule.window) : grown;
    }
    if (rule.samples > 0) {
        const auto known = mean(look.now, rule, value);
        if (!known) return;
        value = *known;
    }
    const auto limit = rule.value * scale;
    compared_ = {value, limit};
    there_ = is_true(rule, value, there_ && rule.until ? *rule.until * scale : limit);
    if (there_) {
        auto said = signal;
        if (rule.samples > 0) said.value = value;
        evidence_ = restart::evidence(rule, said, limit, grown);
    }
    hold(look, rule);
}

void RuleState::leave(const Look& look, const Rule& rule) {
    there_ = false;
    compared_.reset();
    if (growth_) growth_->interrupt();
    samples_.clear();
    hold(look, rule);
}

std::optional<double> RuleState::mean(base::Time now, const Rule& rule, double value) {
    if (!sampled_ || now - *sampled_ >= *rule.window) {
        sampled_ = now;
        samples_.push_back(value);
        if (samples_.size() > rule.samples) samples_.erase(samples_.begin());
    }
    if (samples_.size() < rule.samples) return std::nullopt;
    return std::accumulate(samples_.begin(), samples_.end(), 0.0) / static_cast<double>(samples_.size());
}

bool RuleState::in_windows(base::Time now, const Rule& rule) {
    const auto number = now.time_since_epoch() / *rule.window;
    const auto passed = std::clamp<std::int64_t>(number - window_, 0, 64);
    windows_ = passed == 64 ? 0 : windows_ << passed;
    window_ = std::max<std::int64_t>(number, window_);
    if (there_) windows_ |= 1;
    const auto last =
        rule.of_windows >= 64 ? windows_ : windows_ & ((std::uint64_t{1} << rule.of_windows) - 1);
    return std::popcount(last) > rule.share * static_cast<double>(rule.of_windows);
}

void RuleState::hold(const Look& look, const Rule& rule) {
    const bool fired = hold_.firing();
    const bool present = rule.of_windows > 0 ? in_windows(look.now, rule) : there_;
    const bool at_once = rule.of_windows > 0 || rule.samples > 0 || rule.counts_growth();
    const auto window = at_once ? base::Duration{0} : *rule.window;
    hold_.look(look.now, present, window, *rule.clear, look.longest_step);
    if (rule.repeats > 0 && !fired && hold_.firing()) {
        onsets_.push_back(look.now);
        if (onsets_.size() > rule.repeats) onsets_.erase(onsets_.begin());
    }
    kept_ = rule.only_repeated && times(rule, look.now) >= rule.repeats;
    shown_ = !rule.only_repeated || kept_ || latched_;
    latched_ = rule.latch && firing();
}

std::size_t RuleState::times(const Rule& rule, base::Time now) const {
    return static_cast<std::size_t>(
        std::count_if(onsets_.begin(), onsets_.end(), [&](base::Time at) { return now - at < rule.within; }));
}

Severity RuleState::severity(const Rule& rule, base::Time now) const {
    return rule.repeats > 0 && times(rule, now) >= rule.repeats ? rule.repeated : *rule.severity;
}

std::string RuleState::evidence(const Rule& rule, base::Time now) const {
    auto text = evidence_;
    if (rule.of_windows > 0)
        text += fmt::format(" in {} of the last {} windows of {}",
                            std::popcount(rule.of_windows >= 64
                                              ? windows_
                                              : windows_ & ((std::uint64_t{1} << rule.of_windows) - 1)),
                            rule.of_windows, base::human_duration(*rule.window));
    else if (rule.samples > 0)
        text += fmt::format(" on average of {} samples, one each {}", rule.samples,
                            base::human_duration(*rule.window));
    else if (!rule.counts_growth() && *rule.window > base::Duration{0})
        text += fmt::format(" for {} (window {})", base::human_duration(hold_.last_present() - hold_.since()),
                            base::human_duration(*rule.window));
    if (const auto often = times(rule, now); often > 1)
        text += fmt::format("; {} times within {}", often, base::human_duration(rule.within));
    return text;
}

} // namespace restart
