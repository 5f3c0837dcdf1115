#include "sched/explain_show.hpp"

#include "base/clock.hpp"
#include "base/fields.hpp"
#include "base/hostlist.hpp"
#include "base/json_time.hpp"
#include "base/table.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string_view>

namespace sched {
namespace {

using base::Expected;
using base::Fields;
using base::Look;
using base::Reader;
using base::Table;

constexpr std::size_t most_parts = 8;

std::string placed(Fields& fields, const Reader& from, const Look& look) {
    const auto other = fields.object(from, "other");
    std::vector<std::string> heading{"TERM", "HERE"};
    if (other) heading.emplace_back(fields.boolean(*other, "better") ? "BETTER" : "NEXT BEST");
    heading.emplace_back("");
    Table table(std::move(heading));
    const auto decided = from.has("decided") ? fields.text(from, "decided") : std::string();
    for (const auto& term : fields.items(from, "terms")) {
        std::vector<std::string> cells{fields.text(term, "words"), fields.text(term, "shown")};
        if (other) cells.push_back(fields.text(term, "other_shown"));
        cells.push_back((fields.text(term, "term") == decided ? "decided: " : "") +
                        fields.text(term, "text"));
        table.add(std::move(cells));
    }
    return "\n" + table.print(look);
}

// "in 40 min", "now": precise to the second below two minutes, else to the minute.
std::string from_now(base::Duration left) {
    const auto seconds = base::to_seconds(left);
    if (seconds < 1) return "now";
    if (seconds < 120) return fmt::format("in {:.0f} s", seconds);
    auto text = base::human_duration(base::duration_from_seconds(std::round(seconds / 60) * 60));
    for (const std::string_view nothing : {" 0 s", " 0 min", " 0 h"})
        if (text.ends_with(nothing)) text.resize(text.size() - nothing.size());
    return "in " + text;
}

std::string reasons(Fields& fields, const Reader& part) {
    std::string out;
    for (const auto& reason : fields.items(part, "why"))
        out += fmt::format("{}{} for {}", out.empty() ? "" : ", ", fields.integer(reason, "hosts"),
                           fields.text(reason, "reason"));
    return out;
}

std::string upper(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return out;
}

std::string parts_table(Fields& fields, const Reader& from, const Look& look) {
    constexpr std::array counts{"free", "busy", "drained", "down", "unhealthy", "excluded"};
    const auto parts = fields.items(from, "parts");
    std::vector<std::string_view> shown; // the first four always, the others if present
    for (const std::string_view count : counts)
        if (shown.size() < 4 || std::any_of(parts.begin(), parts.end(), [&](const Reader& part) {
                return fields.integer(part, count) > 0;
            }))
            shown.push_back(count);
    std::vector<std::string> heading{upper(fields.text(from, "part"))};
    for (const auto count : shown)
        heading.push_back(upper(count));
    heading.emplace_back("WHY");
    Table table(std::move(heading));
    for (std::size_t column = 1; column <= shown.size(); ++column)
        table.align(column, Table::Align::right);
    for (std::size_t i = 0; i < std::min(parts.size(), most_parts); ++i) {
        std::vector<std::string> cells{fields.text(parts[i], "name")};
        for (const auto count : shown)
            cells.push_back(std::to_string(fields.integer(parts[i], count)));
        cells.push_back(reasons(fields, parts[i]));
        table.add(std::move(cells));
    }
    if (table.empty()) return {};
    auto out = "\n" + table.print(look);
    if (parts.size() > most_parts) out += fmt::format("and {} more\n", parts.size() - most_parts);
    return out;
}

std::string pending(Fields& fields, const Reader& from, const Look& look) {
    const auto time = [&](std::string_view key) {
        return fields.keep(base::read_time(from, key), base::Time{});
    };
    const auto now = time("now");
    const auto when = [&](base::Time then) {
        return fmt::format("{} ({})", base::moment(then, now), from_now(then - now));
    };
    std::string out;
    if (from.has("wish_ends")) out += fmt::format("the wish ends at {}\n", when(time("wish_ends")));
    if (from.has("fits_at")) {
        const auto fits = time("fits_at");
        const auto nodes = base::fold_sorted(fields.texts(from, "nodes_then"));
        out += fits <= now ? fmt::format("fits now on {}\n", nodes)
                           : fmt::format("fits at {} on {}\n", when(fits), nodes);
    }
    return out + parts_table(fields, from, look);
}

} // namespace

Expected<std::string> show_details(const Reader& explanation, const Look& look) {
    std::optional<base::Error> failed;
    Fields fields(failed);
    auto out = fields.text(explanation, "kind") == "placed" ? placed(fields, explanation, look)
                                                            : pending(fields, explanation, look);
    if (failed) return *std::move(failed);
    return out;
}

Expected<std::string> show_explanation(const Reader& explanation) {
    const auto sentence = explanation.text("sentence");
    if (!sentence) return sentence.error();
    auto details = show_details(explanation);
    if (!details) return details;
    return *sentence + "\n" + *details;
}

} // namespace sched
