#include "base/time_text.hpp"

#include <fmt/format.h>

#include <ctime>
#include <optional>
#include <string>

namespace base {
namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// Removes ".5" and the like, in milliseconds; nothing for a dot without digits.
std::optional<Duration> take_fraction(std::string_view& text) {
    if (!text.starts_with('.')) return Duration::zero();
    text.remove_prefix(1);
    if (text.empty() || !is_digit(text.front())) return {};
    Duration::rep parts = 0, worth = 100;
    for (; !text.empty() && is_digit(text.front()); text.remove_prefix(1), worth /= 10)
        parts += worth * (text.front() - '0');
    return Duration(parts);
}

// Whether the text has a digit wherever the form has one: strptime also accepts fewer digits, signs and
// blanks.
bool has_form(std::string_view text, std::string_view form) {
    if (text.size() < form.size()) return false;
    for (std::size_t i = 0; i < form.size(); ++i)
        if (form[i] == '0' ? !is_digit(text[i]) : text[i] != form[i]) return false;
    return true;
}

} // namespace

Expected<Time> parse_time(std::string_view text) {
    const Error wrong{Code::input, fmt::format("\"{}\" is no time such as 2026-03-01T14:20:05 (local) or "
                                               "2026-03-01T13:20:05.123Z (UTC)",
                                               text)};
    constexpr std::string_view minutes = "0000-00-00T00:00", seconds = ":00";
    if (!has_form(text, minutes)) return wrong;
    std::tm parts{};
    const std::string day(text.substr(0, minutes.size()));
    const char* end = ::strptime(day.c_str(), "%Y-%m-%dT%H:%M", &parts);
    if (end == nullptr || *end != '\0') return wrong;
    text.remove_prefix(minutes.size());
    auto fraction = Duration::zero();
    if (has_form(text, seconds)) {
        parts.tm_sec = 10 * (text[1] - '0') + (text[2] - '0');
        text.remove_prefix(seconds.size());
        const auto taken = take_fraction(text);
        if (!taken || parts.tm_sec > 59) return wrong;
        fraction = *taken;
    }
    const bool utc = text == "Z";
    if (!utc && !text.empty()) return wrong;
    const auto day_typed = parts.tm_mday;
    parts.tm_isdst = -1;
    const auto since = utc ? ::timegm(&parts) : std::mktime(&parts);
    if (parts.tm_mday != day_typed) return wrong; // the month has no such day
    return Time(std::chrono::seconds(since)) + fraction;
}

} // namespace base
