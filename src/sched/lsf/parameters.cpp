#include "sched/lsf/parameters.hpp"

#include "base/units.hpp"
#include "base/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sched::lsf {
namespace {

constexpr std::string_view prefix = "LSB_SUB", reset = "SUB_RESET", blanks_and_ends = " \t\r";

// The parameter name at the start of a line; empty: there is none.
std::string_view name_of(std::string_view line) {
    const auto equals = line.find('=');
    if (!line.starts_with(prefix) || equals == std::string_view::npos) return {};
    const auto name = line.substr(0, equals);
    const auto fits = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; };
    return std::all_of(name.begin(), name.end(), fits) ? name : std::string_view();
}

std::string_view without_blanks(std::string_view text) {
    while (!text.empty() && blanks_and_ends.find(text.back()) != std::string_view::npos)
        text.remove_suffix(1);
    return text;
}

} // namespace

base::Expected<Parameters> Parameters::parse(std::string_view text, std::string_view file) {
    Parameters found;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const auto line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        const auto wrong = [&](std::string_view what) {
            return base::Error{base::Code::input, fmt::format("{}:{}: {}", file, number, what)};
        };
        const auto name = name_of(line);
        if (!name.empty()) {
            if (found.find(name) != nullptr)
                return wrong(fmt::format("{} stands there twice: a line of a command must not look like one "
                                         "of LSF's parameters",
                                         base::printable(name, 60)));
            found.entries_.push_back({std::string(name), std::string(line.substr(name.size() + 1))});
        } else if (!found.entries_.empty()) {
            found.entries_.back().value.append(1, '\n').append(line);
        } else if (!without_blanks(line).empty()) {
            return wrong(fmt::format("\"{}\" is no parameter of a submission", base::printable(line, 60)));
        }
    }
    for (auto& [name, value] : found.entries_)
        while (!value.empty() &&
               (value.back() == '\n' || blanks_and_ends.find(value.back()) != std::string_view::npos))
            value.pop_back();
    return found;
}

const Parameters::Entry* Parameters::find(std::string_view name) const {
    const auto entry =
        std::find_if(entries_.begin(), entries_.end(), [&](const Entry& each) { return each.name == name; });
    return entry == entries_.end() ? nullptr : &*entry;
}

bool Parameters::has(std::string_view name) const {
    return find(name) != nullptr;
}

std::optional<std::string> Parameters::text(std::string_view name) const {
    const auto* entry = find(name);
    if (entry == nullptr || entry->value == reset) return {};
    std::string_view value = entry->value;
    if (value.size() < 2 || !value.starts_with('"') || !value.ends_with('"')) return std::string(value);
    value = value.substr(1, value.size() - 2);
    if (name == "LSB_SUB_COMMAND_LINE") return std::string(value);
    std::string out;
    for (std::size_t i = 0; i < value.size(); ++i) {
        if (value[i] == '\\' && i + 1 < value.size() && (value[i + 1] == '"' || value[i + 1] == '\\')) ++i;
        out += value[i];
    }
    return out;
}

bool Parameters::yes(std::string_view name) const {
    const auto value = text(name);
    return value == "Y" || value == "y";
}

base::Expected<std::optional<std::uint64_t>> Parameters::number(std::string_view name) const {
    const auto value = text(name);
    if (!value) return std::optional<std::uint64_t>{};
    const auto count = base::parse_count(*value);
    if (!count)
        return base::Error{base::Code::input, fmt::format("LSF says {}={}, which is no whole number", name,
                                                          base::printable(*value, 60))};
    return std::optional<std::uint64_t>(*count);
}

void Parameters::set(std::string_view name, std::string value) {
    for (auto& entry : entries_)
        if (entry.name == name) {
            entry.value = std::move(value);
            return;
        }
    entries_.push_back({std::string(name), std::move(value)});
}

void Parameters::set_text(std::string_view name, std::string_view value) {
    set(name, fmt::format("\"{}\"", value));
}

void Parameters::set_yes(std::string_view name) {
    set(name, "Y");
}

void Parameters::put(const Parameters& later) {
    for (const auto& [name, value] : later.entries_)
        set(name, value);
}

std::string Parameters::print() const {
    std::string out;
    for (const auto& [name, value] : entries_)
        out += fmt::format("{}={}\n", name, value);
    return out;
}

} // namespace sched::lsf
