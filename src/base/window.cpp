#include "base/window.hpp"

#include "base/hostlist.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace base {
namespace {

constexpr std::array<std::string_view, 7> day_names{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};

Error wrong(std::string_view text) {
    return {Code::input,
            fmt::format("\"{}\" is no window: write \"Sun 02:00-06:00\", \"daily 22:00-04:00\" or "
                        "\"2026-12-24 18:00 to 2026-12-27 06:00\", and hosts behind it where not "
                        "all are meant",
                        text)};
}

std::vector<std::string_view> words_of(std::string_view text, char gap) {
    std::vector<std::string_view> words;
    for (;;) {
        const auto end = std::min(text.find(gap), text.size());
        if (end > 0 || gap != ' ') words.push_back(text.substr(0, end));
        if (end == text.size()) return words;
        text.remove_prefix(end + 1);
    }
}

// Exactly `places` digits.
std::optional<int> number(std::string_view text, std::size_t places) {
    if (text.size() != places) return {};
    int value = 0;
    for (const char digit : text) {
        if (digit < '0' || digit > '9') return {};
        value = 10 * value + (digit - '0');
    }
    return value;
}

// "02:30", in minutes; 24:00 is the end of a day.
std::optional<int> minutes_of(std::string_view text) {
    if (text.size() != 5 || text[2] != ':') return {};
    const auto hour = number(text.substr(0, 2), 2), minute = number(text.substr(3), 2);
    if (!hour || !minute || *minute > 59 || *hour > 24 || (*hour == 24 && *minute != 0)) return {};
    return *hour * 60 + *minute;
}

bool is_date(std::string_view text) {
    if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
    const auto year = number(text.substr(0, 4), 4), month = number(text.substr(5, 2), 2),
               day = number(text.substr(8), 2);
    if (!year || !month || !day || *month < 1 || *month > 12 || *day < 1) return false;
    const bool leap = (*year % 4 == 0 && *year % 100 != 0) || *year % 400 == 0;
    constexpr std::array<int, 12> lengths{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return *day <= lengths[static_cast<std::size_t>(*month - 1)] + (*month == 2 && leap ? 1 : 0);
}

bool take_days(std::string_view text, std::array<bool, 7>& days) {
    if (text == "daily") {
        days.fill(true);
        return true;
    }
    for (const auto name : words_of(text, ',')) {
        const auto* day = std::find(day_names.begin(), day_names.end(), name);
        if (day == day_names.end()) return false;
        days[static_cast<std::size_t>(day - day_names.begin())] = true;
    }
    return true;
}

// Parses the time, and returns how many words it takes; 0: there is none.
std::size_t take_time(const std::vector<std::string_view>& words, Window& window) {
    if (words.size() >= 5 && is_date(words[0]) && words[2] == "to" && is_date(words[3]) &&
        minutes_of(words[1]) && minutes_of(words[4])) {
        window.begin = fmt::format("{} {}", words[0], words[1]);
        window.end = fmt::format("{} {}", words[3], words[4]);
        return 5;
    }
    if (words.size() < 2 || !take_days(words[0], window.days)) return 0;
    const auto times = words_of(words[1], '-');
    if (times.size() != 2) return 0;
    const auto from = minutes_of(times[0]), to = minutes_of(times[1]);
    if (!from || !to || *from == 24 * 60 || *from == *to) return 0;
    window.from = *from;
    window.to = *to;
    return 2;
}

} // namespace

bool Window::holds(const std::tm& local) const {
    if (!begin.empty()) {
        const auto now = fmt::format("{:04}-{:02}-{:02} {:02}:{:02}", local.tm_year + 1900, local.tm_mon + 1,
                                     local.tm_mday, local.tm_hour, local.tm_min);
        return begin <= now && now < end;
    }
    const auto today = static_cast<std::size_t>(local.tm_wday);
    const int minute = local.tm_hour * 60 + local.tm_min;
    if (from < to) return days[today] && from <= minute && minute < to;
    return (days[today] && from <= minute) || (days[(today + 6) % 7] && minute < to);
}

Expected<Window> parse_window(std::string_view text) {
    Window window;
    window.text = text;
    const auto words = words_of(text, ' ');
    const auto used = take_time(words, window);
    if (used == 0 || words.size() > used + 1) return wrong(text);
    if (!window.begin.empty() && window.begin >= window.end)
        return Error{Code::input, fmt::format("\"{}\": ends before it begins", text)};
    if (words.size() == used) return window;
    auto hosts = expand_hostlist(words[used]);
    if (!hosts) return std::move(hosts).error().within(fmt::format("\"{}\"", text));
    window.hosts = *std::move(hosts);
    return window;
}

} // namespace base
