#include "topo/numbered_name.hpp"

#include <fmt/format.h>

#include <charconv>

namespace topo {

std::string NumberedName::at(std::uint32_t other) const {
    return fmt::format("{}{:0{}}{}", stem, other, digits, tail);
}

std::optional<NumberedName> numbered(std::string_view name, int before_last) {
    constexpr std::string_view digits = "0123456789";
    const auto label = name.substr(0, name.find('.'));
    if (name.starts_with("0x")) return {};
    auto end = label.size();
    for (int passed = 0;; ++passed) {
        const auto last = label.substr(0, end).find_last_of(digits);
        if (last == std::string_view::npos) return {};
        const auto before = label.find_last_not_of(digits, last);
        const auto first = before == std::string_view::npos ? 0 : before + 1;
        end = first;
        if (passed < before_last) continue;
        NumberedName parsed{name.substr(0, first), name.substr(last + 1), last + 1 - first, 0};
        const auto stop = name.data() + last + 1;
        const auto [read, failed] = std::from_chars(name.data() + first, stop, parsed.number);
        if (failed != std::errc() || read != stop) return {};
        return parsed;
    }
}

std::string name_shape(std::string_view name) {
    std::string shape;
    for (const char c : name) {
        const bool digit = c >= '0' && c <= '9';
        if (!digit)
            shape += c;
        else if (shape.empty() || shape.back() != '#')
            shape += '#';
    }
    return shape;
}

} // namespace topo
