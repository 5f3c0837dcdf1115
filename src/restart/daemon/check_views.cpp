#include "restart/daemon/check_views.hpp"

#include "restart/core/detect/agreed_checks.hpp"
#include "restart/core/detect/check_signs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

namespace restart {
namespace {

using Agreed = std::map<std::string_view, std::vector<AgreedCheck>>;

CheckRow row_of(const std::string& host, const KnownCheck& known, const CheckMedians& medians) {
    const auto& last = known.readings.back();
    CheckRow row{host, known.check, known.component, last.verdict, last.value, last.expected,
                 {},   {},          known.unit,      last.says,    {},         last.at};
    row.readings = static_cast<std::uint32_t>(known.readings.size());
    if (last.verdict == CheckVerdict::bad || last.verdict == CheckVerdict::warning)
        row.signs.emplace_back(to_string(last.verdict));
    auto signs = check_signs(known, medians);
    row.fleet = signs.fleet;
    row.before = signs.before;
    std::move(signs.phrases.begin(), signs.phrases.end(), std::back_inserter(row.signs));
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
    const auto medians = check_medians(state);
    const auto agreed = agreed_checks(state, now);
    for (const auto& [name, host] : state.hosts) {
        if ((!only.empty() && name != only) || host.checks.empty()) continue;
        ++checks.hosts;
        for (const auto& known : host.checks) {
            auto& row = checks.rows.emplace_back(row_of(name, known, medians));
            if (const auto* one = find(agreed, name, known))
                row.signs.push_back(one->others > 0
                                        ? fmt::format("differs from {} hosts: avoided", one->others)
                                    : one->idle ? std::string("an idle check says so: avoided")
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
