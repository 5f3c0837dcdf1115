#include "restart/ctl/show_checks.hpp"

#include "base/table.hpp"
#include "restart/ctl/show_time.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace restart {
namespace {

std::string number(const std::optional<double>& value) {
    return value ? fmt::format("{:.4g}", *value) : "-";
}

std::string share(const std::optional<double>& value, const std::optional<double>& of) {
    return value && of && *of > 0 ? fmt::format("{:.0f} %", 100 * *value / *of) : "-";
}

} // namespace

std::string show(const Checks& checks, bool all, const base::Look& look) {
    if (checks.rows.empty()) return "no check has said anything of these hosts yet\n";
    base::Table table({"HOST", "COMPONENT", "CHECK", "VALUE", "UNIT", "EXPECTED", "SHARE", "FLEET", "WHEN",
                       "WHAT STANDS OUT"});
    for (const std::size_t column : {3U, 5U, 6U, 7U})
        table.align(column, base::Table::Align::right);
    std::size_t outstanding = 0;
    for (const auto& row : checks.rows) {
        if (!row.signs.empty()) ++outstanding;
        if (row.signs.empty() && !all) continue;
        auto signs = fmt::format("{}", fmt::join(row.signs, ", "));
        if (!row.says.empty()) signs += signs.empty() ? row.says : ": " + row.says;
        table.add({row.host, row.component, row.check, number(row.value), row.unit.empty() ? "-" : row.unit,
                   number(row.expected), share(row.value, row.expected), number(row.fleet),
                   when(row.at, checks.time), signs.empty() ? "-" : signs},
                  row.signs.empty() ? base::Tint::none : base::Tint::doubtful);
    }
    auto text = table.empty() ? std::string() : table.print(look);
    text += fmt::format("{} results of {} host{}: {}{}\n", checks.rows.size(), checks.hosts,
                        checks.hosts == 1 ? "" : "s",
                        outstanding == 0 ? "nothing stands out" : fmt::format("{} stand out", outstanding),
                        checks.left_out == 0 ? "" : fmt::format("; {} more are not shown", checks.left_out));
    return text;
}

} // namespace restart
