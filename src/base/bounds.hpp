// What a value of the configuration may be, beside its type: a part of its key's row (keys.hpp).
#pragma once

#include "base/clock.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace base {

// At most one kind of them; none: all that the type allows.
struct Bounds {
    std::string_view least{}, most{}; // both allowed, as in the file but without quotes: "100ms", "254"
    std::string_view not_below{};     // another key of the table, of the same type
    std::string_view words{};         // the only texts: "a, b, c"
    enum class Form { any, filled, program, listen, loopback, url, window, group };
    // Of a text: not empty, an absolute path or nothing, what parse_listen reads (host_port.hpp), the same of
    // this machine alone or nothing, or what parse_url, parse_window (window.hpp) or parse_group
    // (host_group.hpp) read.
    Form form = Form::any;

    // "from 100ms to 1m", "at most 254", "not below min_interval", "only a, b"; empty without bounds.
    std::string print() const;

    // What is wrong with a value: "1ms is not between 100ms and 1m"; nothing when it is within. What
    // not_below says is for who knows the other value.
    std::optional<std::string> reject(Duration value) const;
    std::optional<std::string> reject(std::uint64_t value) const;
    std::optional<std::string> reject(double value) const;
    std::optional<std::string> reject(const std::string& value) const;
};

} // namespace base
