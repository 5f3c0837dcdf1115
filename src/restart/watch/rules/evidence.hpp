// The text of a finding: a rule's text with numbers inserted.
//
//   {value} of the signal   {bits} as a mask   {of} what it is measured against   {text} the source's words
//   {limit}                 {grown} how much the counter grew, {window} within which time
//   {what} the last word of the signal's name   {unit}
#pragma once

#include "restart/watch/rules/rule.hpp"
#include "restart/watch/rules/signal.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace restart {

// "400", "2.5": whole numbers have no fraction.
std::string number(double value);

// A counter's or a mask's value; all bits set, as a dead device returns, if it is not one.
std::uint64_t count_of(double value);

std::string evidence(const Rule& rule, const Signal& signal, double limit, double grown);

// The first "{word}" that is not in this list; nothing when all are, and braces match.
std::optional<std::string> unknown_word(std::string_view says);

} // namespace restart
