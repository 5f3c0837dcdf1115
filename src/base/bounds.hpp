// The values that a configuration key accepts, besides its type: part of the key's row (keys.hpp).
#pragma once

#include "base/clock.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace base {

// At most one kind of bound is set; none: everything that the type allows.
struct Bounds {
    std::string_view least{}, most{}; // inclusive, as in the file but without quotes: "100ms", "254"
    std::string_view not_below{};     // another key of the table, of the same type
    std::string_view words{};         // the only allowed values: "a, b, c"
    enum class Form { any, filled, program, listen, loopback, url, window, group };
    // For text: non-empty, an absolute path or empty, what parse_listen accepts (host_port.hpp), the same but
    // loopback only or empty, or what parse_url, parse_window (window.hpp) or parse_group (host_group.hpp)
    // accept.
    Form form = Form::any;

    // "from 100ms to 1m", "at most 254", "not below min_interval", "only a, b"; empty without bounds.
    std::string print() const;

    // The error for a value: "1ms is not between 100ms and 1m"; nothing when it is within bounds. not_below
    // is checked by the caller that knows the other value.
    std::optional<std::string> reject(Duration value) const;
    std::optional<std::string> reject(std::uint64_t value) const;
    std::optional<std::string> reject(double value) const;
    std::optional<std::string> reject(const std::string& value) const;
};

} // namespace base
