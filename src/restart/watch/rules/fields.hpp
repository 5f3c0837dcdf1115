// The fields of a rule in health.conf(5): the file is read and printed, and the manual page's list is
// generated, from this table.
#pragma once

#include "restart/watch/rules/rule.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

namespace restart {

// The member that holds a field's value.
using RuleSlot = std::variant<std::string_view Rule::*, double Rule::*, std::optional<double> Rule::*,
                              std::uint64_t Rule::*, bool Rule::*, std::optional<base::Duration> Rule::*,
                              base::Duration Rule::*, Test Rule::*, Against Rule::*,
                              std::optional<Severity> Rule::*, Severity Rule::*, FaultClass Rule::*>;

struct RuleField {
    std::string_view name;
    RuleSlot slot;
    std::string_view type;    // "a duration such as \"5s\""
    std::string_view meaning; // a sentence
    bool always = false;      // printed even at its default
};

std::span<const RuleField> rule_fields();
const RuleField* find_rule_field(std::string_view name);

// The values of an enumeration in the file, in order.
std::span<const std::string_view> words_of(Test);
std::span<const std::string_view> words_of(Against);
std::span<const std::string_view> words_of(Severity);
std::span<const std::string_view> words_of(FaultClass);

// The placeholder for a field that [throttle] of railyard.conf sets.
inline constexpr std::string_view by_window = "throttle.window", by_clear = "throttle.clear",
                                  by_reasons = "throttle.reasons";

} // namespace restart
