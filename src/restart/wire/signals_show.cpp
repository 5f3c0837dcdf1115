// Signals as text: for railctl, and for nodewatchd on the host itself.
#include "restart/wire/signals.hpp"

#include "base/table.hpp"

#include <cmath>
#include <fmt/format.h>

namespace restart {
namespace {

// "14:20:05" on the day of `now`, "2026-03-01 14:20:05" on others; in local time.
std::string when(base::Time time, base::Time now) {
    return base::moment(time, now) + base::clock_time(time).substr(5); // which includes the seconds
}

// Integers without a fraction: counters have many digits.
std::string number(double value) {
    return value == std::floor(value) && std::abs(value) < 1e15 ? fmt::format("{:.0f}", value)
                                                                : fmt::format("{:.4g}", value);
}

std::string value_text(const SignalRow& row, const SignalRule& rule) {
    if (!row.value) return "-";
    if (rule.unit == "bits" && *row.value >= 0 && *row.value < 0x1p64)
        return fmt::format("0x{:x}", static_cast<std::uint64_t>(*row.value));
    return number(*row.value) + (rule.unit.empty() ? "" : " " + rule.unit);
}

std::string compared_text(const SignalRow& row) {
    if (row.compared && row.limit)
        return fmt::format("{}, limit {}", number(*row.compared), number(*row.limit));
    if (row.compared) return number(*row.compared);
    if (row.limit) return "limit " + number(*row.limit);
    return "-";
}

std::string standing_text(const SignalRow& row, base::Time now) {
    const auto since = row.since ? " since " + when(*row.since, now) : std::string();
    switch (row.standing) {
    case RuleStanding::ok: return "ok";
    case RuleStanding::in_window: return "in window" + since;
    case RuleStanding::finding: return "finding" + since;
    case RuleStanding::clearing: return "clearing" + since;
    case RuleStanding::cleared: return "cleared" + since;
    case RuleStanding::unseen: break;
    }
    return "cannot be seen";
}

// Its signal has its own column.
std::string condition_of(const SignalRule& rule) {
    return rule.says.starts_with(rule.signal + " ") ? rule.says.substr(rule.signal.size() + 1) : rule.says;
}

std::string gpus_text(const std::vector<GpuPace>& gpus) {
    base::Table table(
        {"GPU", "STATE", "POWER", "LIMIT", "SM CLOCK", "KERNELS", "SM ACTIVE", "TENSOR ACTIVE"});
    const auto cell = [](const std::optional<double>& number, std::string_view unit, double scale = 1) {
        return number ? fmt::format("{:.0f} {}", *number * scale, unit) : std::string("-");
    };
    for (const auto& gpu : gpus) {
        const auto work = work_of(gpu);
        table.add({fmt::format("gpu{}", gpu.gpu), work ? std::string(to_string(*work)) : "-",
                   cell(gpu.power_w, "W"), cell(gpu.limit_w, "W"), cell(gpu.sm_mhz, "MHz"),
                   cell(gpu.busy, "%", 100), cell(gpu.sm_active, "%", 100),
                   cell(gpu.tensor_active, "%", 100)});
    }
    return table.print();
}

} // namespace

std::string show(const HostSignals& signals, bool brief, const base::Look& look) {
    auto text = fmt::format("{} at {}\n", signals.host, when(signals.time, {}));
    for (const auto& sentence : signals.not_watching)
        text += fmt::format("not watching {}\n", sentence);
    if (!signals.gpus.empty()) text += "\n" + gpus_text(signals.gpus);
    std::vector<std::string> heading{"COMPONENT", "SIGNAL", "VALUE", "COMPARED", "STATE", "SEVERITY", "RULE"};
    if (!brief) heading.insert(heading.end(), {"CONDITION", "SOURCE"});
    base::Table table(std::move(heading));
    for (const auto& row : signals.rows) {
        const auto& rule = signals.rules.at(row.rule);
        std::vector<std::string> cells{row.component.empty() ? "-" : row.component,
                                       rule.signal,
                                       value_text(row, rule),
                                       compared_text(row),
                                       standing_text(row, signals.time),
                                       row.severity ? std::string(to_string(*row.severity)) : rule.severity,
                                       rule.name};
        if (!brief) {
            cells.push_back(condition_of(rule) + (row.text.empty() ? "" : fmt::format(" [{}]", row.text)));
            cells.push_back(rule.source.empty() ? "-" : rule.source);
        }
        const auto tint = !row.severity                      ? base::Tint::none
                          : *row.severity >= Severity::evict ? base::Tint::bad
                                                             : base::Tint::doubtful;
        table.add(std::move(cells), tint);
    }
    if (!table.empty()) text += "\n" + table.print(look);
    if (signals.left_out > 0)
        text += fmt::format("{} more rules of components did not fit\n", signals.left_out);
    return text;
}

} // namespace restart
