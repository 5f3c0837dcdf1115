#include "base/bounds.hpp"

#include "base/expected.hpp"
#include "base/host_group.hpp"
#include "base/host_port.hpp"
#include "base/units.hpp"
#include "base/window.hpp"

#include <fmt/format.h>

namespace base {
namespace {

// `parse` reads the bounds, `print` formats the value. Bounds that cannot be parsed are a bug in keys.cpp and
// abort. NaN is outside all bounds.
template <class T, class Parse, class Print>
std::optional<std::string> reject_outside(const Bounds& bounds, T value, Parse parse, Print print) {
    const auto& [least, most] = std::pair(bounds.least, bounds.most);
    if ((least.empty() || value >= *parse(least)) && (most.empty() || value <= *parse(most))) return {};
    if (most.empty()) return fmt::format("{} is below {}", print(value), least);
    if (least.empty()) return fmt::format("{} is above {}", print(value), most);
    return fmt::format("{} is not between {} and {}", print(value), least, most);
}

template <class T> std::string plain(T value) {
    return fmt::format("{}", value);
}

bool contains(std::string_view words, std::string_view wanted) {
    constexpr std::string_view gap = ", ";
    for (;;) {
        const auto end = words.find(gap);
        if (words.substr(0, end) == wanted) return true;
        if (end == std::string_view::npos) return false;
        words.remove_prefix(end + gap.size());
    }
}

} // namespace

std::string Bounds::print() const {
    switch (form) {
    case Form::any: break;
    case Form::filled: return "not empty";
    case Form::program: return "absolute";
    case Form::listen: return "host:port";
    case Form::loopback: return "host:port of loopback, or empty";
    case Form::url: return "http://host:port";
    case Form::window: return "windows";
    case Form::group: return "each name=hosts";
    }
    if (!words.empty()) return fmt::format("only {}", words);
    if (!not_below.empty()) return fmt::format("not below {}", not_below);
    if (least.empty() && most.empty()) return {};
    if (most.empty()) return fmt::format("at least {}", least);
    if (least.empty()) return fmt::format("at most {}", most);
    return fmt::format("from {} to {}", least, most);
}

std::optional<std::string> Bounds::reject(Duration value) const {
    return reject_outside(*this, value, parse_duration, format_duration);
}

std::optional<std::string> Bounds::reject(std::uint64_t value) const {
    return reject_outside(*this, value, parse_count, plain<std::uint64_t>);
}

std::optional<std::string> Bounds::reject(double value) const {
    return reject_outside(*this, value, parse_number, plain<double>);
}

std::optional<std::string> Bounds::reject(const std::string& value) const {
    if (!words.empty() && !contains(words, value)) return fmt::format("\"{}\" is none of {}", value, words);
    switch (form) {
    case Form::any: break;
    case Form::filled:
        if (value.empty()) return "must not be empty";
        break;
    case Form::program:
        if (!value.empty() && !value.starts_with('/'))
            return fmt::format("\"{}\" is no absolute path", value);
        break;
    case Form::listen:
        if (auto read = parse_listen(value); !read) return std::move(read).error().text;
        break;
    case Form::loopback:
        if (value.empty()) break;
        if (auto read = parse_listen(value); !read)
            return std::move(read).error().text;
        else if (!read->is_loopback())
            return fmt::format("\"{}\" is no address of loopback, such as 127.0.0.1:8918", value);
        break;
    case Form::url:
        if (auto read = parse_url(value); !read)
            return std::move(read).error().text;
        else if (read->port == 0)
            return fmt::format("\"{}\": port 0 cannot be connected to", value);
        break;
    case Form::window:
        if (auto read = parse_window(value); !read) return std::move(read).error().text;
        break;
    case Form::group:
        if (auto read = parse_group(value); !read) return std::move(read).error().text;
        break;
    }
    return {};
}

} // namespace base
