#include "restart/watch/rules/pattern.hpp"

#include <algorithm>

namespace restart {
namespace {

// Each part between two '*' is matched at its first occurrence, which loses no match: linear in the text,
// whatever a site's pattern.
bool fits_one(std::string_view pattern, std::string_view text) {
    auto star = pattern.find('*');
    if (star == std::string_view::npos) return pattern == text;
    if (!text.starts_with(pattern.substr(0, star))) return false;
    text.remove_prefix(star);
    for (;;) {
        pattern.remove_prefix(star + 1);
        star = pattern.find('*');
        if (star == std::string_view::npos) return text.ends_with(pattern);
        const auto part = pattern.substr(0, star);
        const auto found = text.find(part);
        if (found == std::string_view::npos) return false;
        text.remove_prefix(found + part.size());
    }
}

} // namespace

bool fits(std::string_view patterns, std::string_view text) {
    for (;;) {
        const auto bar = std::min(patterns.find('|'), patterns.size());
        if (fits_one(patterns.substr(0, bar), text)) return true;
        if (bar == patterns.size()) return false;
        patterns.remove_prefix(bar + 1);
    }
}

} // namespace restart
