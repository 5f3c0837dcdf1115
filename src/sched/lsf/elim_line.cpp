#include "sched/lsf/elim_line.hpp"

#include "base/split.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

namespace sched::lsf {
namespace {

std::optional<double> number(std::string_view text) {
    double value = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failed != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return {};
    return value;
}

bool holds(std::string_view words, std::string_view wanted) {
    while (!words.empty()) {
        const auto end = std::min(words.find_first_of(" \t"), words.size());
        if (words.substr(0, end) == wanted) return true;
        words.remove_prefix(std::min(end + 1, words.size()));
    }
    return false;
}

} // namespace

std::optional<int> health_of(std::string_view page, base::Time now, base::Duration oldest) {
    constexpr std::string_view findings = "railyard_findings{", looked = "railyard_look_timestamp_seconds ";
    int health = sound;
    std::optional<double> at;
    while (!page.empty()) {
        if (page.find('\n') == std::string_view::npos) return {}; // it is truncated
        const auto line = base::next_line(page);
        const auto space = line.rfind(' ');
        if (line.starts_with(looked)) at = number(line.substr(looked.size()));
        if (!line.starts_with(findings) || space == std::string_view::npos) continue;
        if (number(line.substr(space + 1)).value_or(0) <= 0) continue;
        const auto labels = line.substr(0, space);
        if (labels.find("severity=\"fatal\"") != std::string_view::npos ||
            labels.find("severity=\"evict\"") != std::string_view::npos)
            health = std::min(health, broken);
        else if (labels.find("severity=\"warn\"") != std::string_view::npos)
            health = std::min(health, warned);
    }
    // If the clock was set back, an old page is not newer.
    if (!at || std::abs(base::to_seconds(now) - *at) > base::to_seconds(oldest)) return {};
    return health;
}

std::string elim_line(int health, const char* wanted) {
    std::vector<std::pair<std::string_view, int>> indices;
    for (const auto& index : {std::pair<std::string_view, int>{"health", health}, {"planned", 0}})
        if (wanted == nullptr || holds(wanted, index.first)) indices.push_back(index);
    if (indices.empty()) return {};
    auto line = fmt::format("{}", indices.size());
    for (const auto& [name, value] : indices)
        line += fmt::format(" {} {}", name, value);
    return line + "\n";
}

} // namespace sched::lsf
