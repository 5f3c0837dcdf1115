#include "check/result.hpp"

#include "base/cli.hpp"
#include "base/fields.hpp"
#include "base/table.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <vector>

namespace check {
namespace {

namespace json = boost::json;

constexpr std::array verdicts{Verdict::sound, Verdict::measured, Verdict::warning, Verdict::bad,
                              Verdict::not_run};

// Three significant digits are enough; large and whole numbers have no fraction.
std::string number(double value) {
    return value >= 100 || value == static_cast<double>(static_cast<long long>(value))
               ? fmt::format("{:.0f}", value)
               : fmt::format("{:.3g}", value);
}

std::size_t count(std::span<const Result> results, Verdict verdict) {
    return static_cast<std::size_t>(std::count_if(results.begin(), results.end(),
                                                  [&](const Result& one) { return one.verdict == verdict; }));
}

// "2 bad (gpu3 hbm.read, mlx5_3:1 hca.read)": a reader may keep only the last line.
std::string bad_ones(std::span<const Result> results) {
    constexpr std::size_t most_named = 3;
    std::vector<std::string> names;
    for (const auto& one : results)
        if (one.verdict == Verdict::bad)
            names.push_back(fmt::format("{}{}{} {}", one.part.host, one.part.host.empty() ? "" : " ",
                                        one.part.name, one.test));
    if (names.empty()) return "none bad";
    const auto bad = names.size();
    names.resize(std::min(bad, most_named));
    if (bad > most_named) names.push_back(fmt::format("{} more", bad - most_named));
    return fmt::format("{} bad ({})", bad, fmt::join(names, ", "));
}

} // namespace

std::optional<double> Result::share() const {
    if (!value || !expected || *expected <= 0) return {};
    return *value / *expected;
}

json::object to_json(const Result& one) {
    json::object out{{"check", one.check}, {"test", one.test}, {"component", one.part.name}};
    const auto add_text = [&](const char* key, const std::string& text) {
        if (!text.empty()) out[key] = text;
    };
    const auto add = [&](const char* key, const auto& value) {
        if (value) out[key] = *value;
    };
    add_text("host", one.part.host);
    add("gpu", one.part.gpu);
    add_text("pci", one.part.pci);
    add_text("hca", one.part.hca);
    add("port", one.part.port);
    add("rail", one.part.rail);
    out["verdict"] = to_string(one.verdict);
    add("value", one.value);
    add_text("unit", one.unit);
    add("expected", one.expected);
    add("share", one.share());
    add_text("source", one.source);
    add_text("says", one.says);
    return out;
}

restart::CheckWord word_of(const Result& result, const std::string& host) {
    return {result.part.host.empty() ? host : result.part.host,
            result.test,
            result.part.name,
            result.verdict,
            result.value,
            result.expected,
            result.unit,
            result.says};
}

base::Expected<Result> result_of(const base::Reader& from) {
    std::optional<base::Error> failed;
    base::Fields fields(failed);
    Result one;
    const auto text = [&](std::string_view key) {
        return from.has(key) ? fields.text(from, key) : std::string();
    };
    const auto whole = [&](std::string_view key) -> std::optional<int> {
        if (!from.has(key)) return {};
        return static_cast<int>(fields.keep(from.integer_in(key, 0, 1 << 20), std::int64_t{0}));
    };
    const auto number = [&](std::string_view key) -> std::optional<double> {
        if (!from.has(key)) return {};
        return fields.number(from, key);
    };
    one.check = fields.text(from, "check");
    one.test = fields.text(from, "test");
    one.part = {fields.text(from, "component"),
                text("host"),
                whole("gpu"),
                text("pci"),
                text("hca"),
                whole("port"),
                whole("rail")};
    const auto verdict = fields.text(from, "verdict");
    one.value = number("value");
    one.unit = text("unit");
    one.expected = number("expected");
    one.source = text("source");
    one.says = text("says");
    if (failed) return *failed;
    const auto known = std::find_if(verdicts.begin(), verdicts.end(),
                                    [&](Verdict one_of) { return to_string(one_of) == verdict; });
    if (known == verdicts.end()) return from.error(fmt::format("verdict: \"{}\" is none", verdict));
    one.verdict = *known;
    return one;
}

std::string print(std::span<const Result> results) {
    base::Table table({"CHECK", "COMPONENT", "RAIL", "VALUE", "EXPECTED", "SHARE", "UNIT", "VERDICT"});
    for (const std::size_t column : {2U, 3U, 4U, 5U})
        table.align(column, base::Table::Align::right);
    for (const auto& one : results) {
        const auto name = one.part.host.empty() ? one.part.name : one.part.host + " " + one.part.name;
        table.add({one.test, name, one.part.rail ? fmt::format("{}", *one.part.rail) : "-",
                   one.value ? number(*one.value) : "-", one.expected ? number(*one.expected) : "-",
                   one.share() ? fmt::format("{:.0f} %", 100 * *one.share()) : "-",
                   one.unit.empty() ? "-" : one.unit, std::string(to_string(one.verdict))});
    }
    std::string out = results.empty() ? "" : table.print();
    for (const auto& one : results) {
        if (one.says.empty()) continue;
        const auto rail = one.part.rail ? fmt::format(" (rail {})", *one.part.rail) : "";
        const auto host = one.part.host.empty() ? "" : one.part.host + ": ";
        out += fmt::format("{}{}{}: {}: {}: {}\n", host, one.part.name, rail, one.test,
                           to_string(one.verdict), one.says);
    }
    const auto missed = count(results, Verdict::not_run);
    const auto warnings = count(results, Verdict::warning);
    out += fmt::format("{} results: {}{}{}\n", results.size(), bad_ones(results),
                       warnings != 0 ? fmt::format(", {} warnings", warnings) : "",
                       missed != 0 ? fmt::format(", {} could not be run", missed) : "");
    return out;
}

int exit_status(std::span<const Result> results) {
    if (count(results, Verdict::bad) != 0) return base::exit_finding;
    if (results.empty() || count(results, Verdict::not_run) != 0) return base::exit_usage;
    return base::exit_done;
}

} // namespace check
