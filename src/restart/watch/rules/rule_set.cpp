#include "restart/watch/rules/rule_set.hpp"

#include "base/file.hpp"
#include "base/units.hpp"
#include "restart/watch/rules/evidence.hpp"
#include "restart/watch/rules/fields.hpp"
#include "restart/watch/rules/rule_reader.hpp"
#include "restart/watch/rules/table.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace restart {
namespace {

constexpr std::size_t largest_file = std::size_t{1} << 20;

std::string in_quotes(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + '"';
}

// Prints a value in the file's syntax.
struct Printer {
    const Rule& rule;

    std::string operator()(std::string_view Rule::*member) const { return in_quotes(rule.*member); }
    std::string operator()(double Rule::*member) const {
        if (member == &Rule::value && rule.test == Test::bit)
            return fmt::format("0x{:x}", static_cast<std::uint64_t>(rule.value));
        return number(rule.*member);
    }
    std::string operator()(std::optional<double> Rule::*member) const {
        return number((rule.*member).value());
    }
    std::string operator()(std::uint64_t Rule::*member) const {
        return member == &Rule::unless ? fmt::format("0x{:x}", rule.*member)
                                       : fmt::format("{}", rule.*member);
    }
    std::string operator()(bool Rule::*member) const { return rule.*member ? "true" : "false"; }
    std::string operator()(base::Duration Rule::*member) const {
        return in_quotes(base::format_duration(rule.*member));
    }
    std::string operator()(std::optional<base::Duration> Rule::*member) const {
        if (!(rule.*member)) return in_quotes(member == &Rule::clear ? by_clear : by_window);
        return in_quotes(base::format_duration(*(rule.*member)));
    }
    std::string operator()(std::optional<Severity> Rule::*member) const {
        return in_quotes(rule.*member ? to_string(*(rule.*member)) : by_reasons);
    }
    template <class Word> std::string operator()(Word Rule::*member) const {
        return in_quotes(words_of(Word{})[static_cast<std::size_t>(rule.*member)]);
    }
};

} // namespace

RuleSet::RuleSet() : texts_(std::make_shared<std::deque<std::string>>()) {
    const auto shipped = shipped_rules();
    rows_.assign(shipped.begin(), shipped.end());
}

base::Expected<RuleSet> RuleSet::from_text(std::string_view text, std::string_view file_name) {
    return RuleReader(file_name).read(text);
}

base::Expected<RuleSet> RuleSet::from_file(const std::filesystem::path& path) {
    std::error_code failed;
    const auto there = std::filesystem::status(path, failed);
    if (there.type() == std::filesystem::file_type::not_found) return RuleSet();
    const auto text = base::read_file(path, largest_file);
    if (!text) return text.error();
    return from_text(*text, path.string());
}

const Rule* RuleSet::find(std::string_view name) const {
    const auto found =
        std::find_if(rows_.begin(), rows_.end(), [&](const Rule& r) { return r.name == name; });
    return found == rows_.end() ? nullptr : &*found;
}

RuleSet RuleSet::only(std::string_view name) const {
    auto one = *this;
    std::erase_if(one.rows_, [&](const Rule& row) { return row.name != name; });
    return one;
}

std::string RuleSet::print() const {
    const auto shipped = shipped_rules();
    std::string out;
    for (const auto& rule : rows_) {
        const auto known =
            std::find_if(shipped.begin(), shipped.end(), [&](const Rule& r) { return r.name == rule.name; });
        const Rule usual, before = known == shipped.end() ? new_rule() : *known;
        out += out.empty() ? "[[rule]]\n" : "\n[[rule]]\n";
        for (const auto& field : rule_fields()) {
            // A value that is both the default of a new row and the built-in one is omitted.
            const bool same = std::visit(
                [&](auto member) { return rule.*member == usual.*member && rule.*member == before.*member; },
                field.slot);
            if (same && !field.always) continue;
            out += fmt::format("{} = {}\n", field.name, std::visit(Printer{rule}, field.slot));
        }
    }
    return out;
}

} // namespace restart
