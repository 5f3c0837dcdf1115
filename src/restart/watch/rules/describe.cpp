#include "restart/watch/rules/describe.hpp"

#include "base/units.hpp"
#include "restart/watch/rules/evidence.hpp"
#include "restart/watch/rules/signal.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace restart {
namespace {

std::string limit_of(const Rule& rule) {
    const auto times = rule.value == 1 ? std::string() : number(rule.value) + " times ";
    switch (rule.against) {
    case Against::own: return times + "what it is measured against";
    case Against::peers: return times + "the median of its peers";
    case Against::number: break;
    }
    return number(rule.value);
}

std::string window_of(const Rule& rule) {
    if (rule.window) return base::format_duration(*rule.window);
    return rule.counts_growth() ? "twice [throttle] window" : "[throttle] window";
}

std::string condition_of(const Rule& rule) {
    const auto until =
        rule.until ? fmt::format(", until it is back at {}", number(*rule.until)) : std::string();
    switch (rule.test) {
    case Test::above: return fmt::format("{} above {}{}", rule.signal, limit_of(rule), until);
    case Test::below: return fmt::format("{} below {}{}", rule.signal, limit_of(rule), until);
    case Test::bit:
        return fmt::format("{} with a bit of 0x{:x}{}", rule.signal, static_cast<std::uint64_t>(rule.value),
                           rule.unless == 0 ? "" : fmt::format(" and none of 0x{:x}", rule.unless));
    case Test::delta:
        return fmt::format("{} grew by more than {} within {}", rule.signal, limit_of(rule), window_of(rule));
    case Test::rate:
        return fmt::format("{} grew by more than {} a second over {}", rule.signal, limit_of(rule),
                           window_of(rule));
    case Test::equal: break;
    }
    auto text = fmt::format("{} {}", rule.signal, number(rule.value));
    if (rule.to) text += fmt::format(" to {}", number(*rule.to));
    auto patterns = rule.text;
    for (std::string_view says = " that says"; !patterns.empty(); says = " or") {
        const auto bar = std::min(patterns.find('|'), patterns.size());
        text += fmt::format("{} \"{}\"", says, patterns.substr(0, bar));
        patterns.remove_prefix(std::min(bar + 1, patterns.size()));
    }
    return text;
}

// "5 times", "5 bursts", "under programs of 2 users".
std::string times_of(const Rule& rule) {
    if (rule.by_user) return fmt::format("under programs of {} users", rule.repeats);
    return fmt::format("{} {}", rule.repeats, rule.burst > base::Duration{0} ? "bursts" : "times");
}

} // namespace

std::string describe(const Rule& rule) {
    const auto* kind = find_signal_kind(rule.signal);
    auto text = condition_of(rule);
    if (rule.of_windows > 0)
        text += fmt::format(", in more than {} of the last {} windows of {}",
                            number(rule.share * static_cast<double>(rule.of_windows)), rule.of_windows,
                            window_of(rule));
    else if (rule.samples > 0)
        text += fmt::format(", on average of {} samples, one each {}", rule.samples, window_of(rule));
    else if (!rule.counts_growth() && rule.window != base::Duration{0} &&
             (kind == nullptr || kind->shape != Shape::event))
        text += ", for " + window_of(rule);
    return text;
}

std::string describe_severity(const Rule& rule) {
    if (rule.only_repeated)
        return fmt::format("{} when it comes {} times within {}, else nothing", to_string(rule.repeated),
                           rule.repeats, base::format_duration(rule.within));
    std::string text(rule.severity ? to_string(*rule.severity) : "evict or warn, by [throttle] reasons");
    if (rule.repeats > 0)
        text += fmt::format("; {} when it comes {}{} within {}{}", to_string(rule.repeated),
                            rule.burst > base::Duration{0} ? "in " : "", times_of(rule),
                            base::format_duration(rule.within), rule.same_part ? " to the same part" : "");
    if (rule.secondary) text += "; nothing beside another event";
    return text;
}

} // namespace restart
