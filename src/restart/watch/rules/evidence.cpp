#include "restart/watch/rules/evidence.hpp"

#include "base/units.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

namespace restart {
namespace {

constexpr std::array<std::string_view, 9> words{"value", "bits",   "of",   "text", "limit",
                                                "grown", "window", "what", "unit"};

// The end of the word that starts at this brace; npos: none.
std::size_t end_of_word(std::string_view says, std::size_t open) {
    return says.find_first_of("{}", open + 1);
}

std::string_view usual(const Rule& rule) {
    switch (rule.test) {
    case Test::delta: return "{what} grew by {grown} within {window} (allowed: {limit})";
    case Test::rate: return "{what} grew by {grown} within {window} (allowed: {limit} a second)";
    case Test::bit: return "{what} {bits}";
    case Test::above:
    case Test::below: return "{what} is {value}{unit} (allowed: {limit})";
    case Test::equal: break;
    }
    return "{what} is {value}{unit}";
}

} // namespace

std::string number(double value) {
    constexpr double exact = 9e15; // integers are exact up to here
    if (std::abs(value) < exact && std::trunc(value) == value)
        return fmt::format("{}", static_cast<std::int64_t>(value));
    return fmt::format("{}", value);
}

std::uint64_t count_of(double value) {
    return value >= 0 && value < 0x1p64 ? static_cast<std::uint64_t>(value) : ~std::uint64_t{0};
}

std::string evidence(const Rule& rule, const Signal& signal, double limit, double grown) {
    const auto word = [&](std::string_view name) -> std::string {
        if (name == "value") return number(signal.value);
        if (name == "bits") return fmt::format("0x{:x}", count_of(signal.value));
        if (name == "of") return number(signal.of);
        if (name == "text") return signal.text;
        if (name == "limit") return number(limit);
        if (name == "grown") return number(grown);
        if (name == "window") return base::human_duration(rule.window.value_or(base::Duration{0}));
        if (name == "what") return std::string(rule.signal.substr(rule.signal.rfind('.') + 1));
        const auto* kind = find_signal_kind(rule.signal);
        return kind == nullptr || kind->unit.empty() ? std::string() : fmt::format(" {}", kind->unit);
    };
    auto says = rule.says.empty() ? usual(rule) : rule.says;
    std::string text;
    while (!says.empty()) {
        const auto open = std::min(says.find('{'), says.size());
        text += says.substr(0, open);
        if (open == says.size()) break;
        const auto close = end_of_word(says, open);
        if (close == std::string_view::npos) break;
        text += word(says.substr(open + 1, close - open - 1));
        says.remove_prefix(close + 1);
    }
    return text;
}

std::optional<std::string> unknown_word(std::string_view says) {
    for (std::size_t at = 0; (at = says.find_first_of("{}", at)) != std::string_view::npos;) {
        const auto close = says[at] == '{' ? end_of_word(says, at) : std::string_view::npos;
        if (close == std::string_view::npos || says[close] != '}') return std::string(says.substr(at));
        const auto name = says.substr(at + 1, close - at - 1);
        if (std::find(words.begin(), words.end(), name) == words.end())
            return std::string(says.substr(at, close + 1 - at));
        at = close + 1;
    }
    return std::nullopt;
}

} // namespace restart
