#include "restart/daemon/check_views.hpp"

#include "base/median.hpp"
#include "restart/core/detect/agreed_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace restart {
namespace {

// A disk is others' too: what they do on it moves its values.
double least_share(std::string_view check) {
    return check.starts_with("disk.") ? 0.5 : 0.9;
}

constexpr std::size_t least_hosts = 8, least_readings = 3;

// How much of `than` it is as good as.
double goodness(double value, double than, std::string_view unit) {
    const bool time = unit == "ms" || unit == "us" || unit == "s";
    if (value <= 0 || than <= 0) return 1;
    return time ? than / value : value / than;
}

using Agreed = std::map<std::string_view, std::vector<AgreedCheck>>;
using Medians = std::map<std::pair<std::string_view, std::string_view>, double>;

// Of check and component, where enough hosts have it.
Medians medians_of(const State& state) {
    std::map<std::pair<std::string_view, std::string_view>, std::vector<double>> values;
    for (const auto& [name, host] : state.hosts)
        for (const auto& known : host.checks)
            if (const auto& value = known.readings.back().value)
                values[{known.check, known.component}].push_back(*value);
    Medians medians;
    for (auto& [what, list] : values)
        if (list.size() >= least_hosts) medians[what] = base::upper_median(std::move(list));
    return medians;
}

CheckRow row_of(const std::string& host, const KnownCheck& known, const Medians& medians) {
    const auto& last = known.readings.back();
    CheckRow row{host, known.check, known.component, last.verdict, last.value, last.expected,
                 {},   {},          known.unit,      last.says,    {},         last.at};
    row.readings = static_cast<std::uint32_t>(known.readings.size());
    if (last.verdict == CheckVerdict::bad || last.verdict == CheckVerdict::warning)
        row.signs.emplace_back(to_string(last.verdict));
    if (!last.value) return row;
    if (const auto fleet = medians.find({known.check, known.component}); fleet != medians.end()) {
        row.fleet = fleet->second;
        if (const auto share = goodness(*last.value, *row.fleet, known.unit);
            share < least_share(known.check))
            row.signs.push_back(fmt::format("{:.0f} % of the fleet's median", 100 * share));
    }
    std::vector<double> before;
    for (auto at = known.readings.begin(); std::next(at) != known.readings.end(); ++at)
        if (at->value) before.push_back(*at->value);
    if (before.size() >= least_readings) {
        row.before = base::upper_median(std::move(before));
        if (const auto share = goodness(*last.value, *row.before, known.unit);
            share < least_share(known.check))
            row.signs.push_back(fmt::format("falls: {:.0f} % of what it was", 100 * share));
    }
    return row;
}

// Null: nothing follows from it.
const AgreedCheck* find(const Agreed& agreed, std::string_view host, const KnownCheck& known) {
    const auto of_host = agreed.find(host);
    if (of_host == agreed.end()) return nullptr;
    for (const auto& one : of_host->second)
        if (one.check == known.check && one.component == known.component) return &one;
    return nullptr;
}

} // namespace

Checks checks_of(const State& state, base::Time now, std::string_view only) {
    Checks checks;
    checks.time = now;
    const auto medians = medians_of(state);
    const auto agreed = agreed_checks(state, now);
    for (const auto& [name, host] : state.hosts) {
        if ((!only.empty() && name != only) || host.checks.empty()) continue;
        ++checks.hosts;
        for (const auto& known : host.checks) {
            auto& row = checks.rows.emplace_back(row_of(name, known, medians));
            if (const auto* one = find(agreed, name, known))
                row.signs.push_back(one->idle ? std::string("an idle check says so: avoided")
                                              : fmt::format("{} users say so: avoided", one->users));
        }
    }
    // Hosts are in the order of their names already.
    const auto weight = [](const CheckRow& row) {
        return row.verdict == CheckVerdict::bad ? 0 : row.signs.empty() ? 2 : 1;
    };
    std::stable_sort(checks.rows.begin(), checks.rows.end(),
                     [&](const CheckRow& a, const CheckRow& b) { return weight(a) < weight(b); });
    if (checks.rows.size() > most_check_rows) {
        checks.left_out = checks.rows.size() - most_check_rows;
        checks.rows.resize(most_check_rows);
    }
    return checks;
}

} // namespace restart
