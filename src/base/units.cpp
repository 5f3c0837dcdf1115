#include "base/units.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

namespace base {
namespace {

struct Unit {
    std::string_view suffix;
    std::int64_t ms;
};
// Largest first, so that format_duration finds the shortest exact form.
constexpr std::array<Unit, 5> duration_units{
    {{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}}};

} // namespace

Expected<double> parse_number(std::string_view text) {
    double value = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failed != std::errc{} || end != text.data() + text.size() || !std::isfinite(value))
        return Error{Code::input, fmt::format("\"{}\" is not a number", text)};
    return value;
}

Expected<std::uint64_t> parse_count(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failed != std::errc{} || end != text.data() + text.size())
        return Error{Code::input, fmt::format("\"{}\" is not a whole number", text)};
    return value;
}

Expected<Duration> parse_duration(std::string_view text) {
    const auto split = text.find_first_not_of("0123456789.");
    const auto bad = [&] {
        return Error{
            Code::input,
            fmt::format("\"{}\" is not a duration: write a number with ms, s, m, h or d, such as 5s", text)};
    };
    if (split == 0 || split == std::string_view::npos) return bad();
    const auto number = parse_number(text.substr(0, split));
    if (!number) return bad();
    for (const auto& unit : duration_units) {
        if (text.substr(split) != unit.suffix) continue;
        const double ms = *number * static_cast<double>(unit.ms);
        if (ms > 3.2e15) return Error{Code::input, fmt::format("\"{}\" is longer than 100000 years", text)};
        return Duration(static_cast<Duration::rep>(std::llround(ms)));
    }
    return bad();
}

std::string format_duration(Duration d) {
    if (d.count() == 0) return "0s";
    for (const auto& unit : duration_units)
        if (d.count() % unit.ms == 0) return fmt::format("{}{}", d.count() / unit.ms, unit.suffix);
    return fmt::format("{}ms", d.count());
}

std::string human_duration(Duration d) {
    const auto ms = d.count();
    if (ms < 0) return "-" + human_duration(-d);
    const auto seconds = (ms + 500) / 1000;
    if (ms < 60'000) return fmt::format("{:.1f} s", static_cast<double>(ms) / 1000.0);
    if (seconds < 3'600) return fmt::format("{} min {} s", seconds / 60, seconds % 60);
    if (seconds < 86'400) return fmt::format("{} h {} min", seconds / 3'600, seconds / 60 % 60);
    return fmt::format("{} d {} h", seconds / 86'400, seconds / 3'600 % 24);
}

} // namespace base
