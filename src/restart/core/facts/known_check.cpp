#include "restart/core/facts/known_check.hpp"

#include "base/utf8.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace restart {
namespace {

bool has_ours(const KnownCheck& known) {
    return std::any_of(known.readings.begin(), known.readings.end(),
                       [](const CheckReading& reading) { return reading.by_us; });
}

// For one more reading, from an idle check or from a job: each source keeps half, however much the other
// reports.
void make_room(std::vector<CheckReading>& readings, bool for_us) {
    if (readings.size() < most_check_readings) return;
    const auto is = [](bool ours) { return [ours](const CheckReading& one) { return one.by_us == ours; }; };
    const auto same = std::count_if(readings.begin(), readings.end(), is(for_us));
    const bool from_us = 2 * static_cast<std::size_t>(same) >= most_check_readings ? for_us : !for_us;
    readings.erase(std::find_if(readings.begin(), readings.end(), is(from_us)));
}

} // namespace

void take_check(std::vector<KnownCheck>& known, const CheckWord& word, const CheckTeller& teller,
                base::Time now) {
    if (word.verdict == CheckVerdict::not_run) return; // says nothing about the part
    const auto check = base::printable(word.check, 64), component = base::printable(word.component, 64);
    auto found = std::find_if(known.begin(), known.end(), [&](const KnownCheck& one) {
        return one.check == check && one.component == component;
    });
    if (found == known.end()) {
        if (known.size() >= most_known_checks)
            known.erase(std::min_element(known.begin(), known.end(), [](const auto& a, const auto& b) {
                return std::pair(has_ours(a), a.readings.back().at) <
                       std::pair(has_ours(b), b.readings.back().at);
            }));
        found = known.insert(known.end(), {check, component, {}, {}});
    }
    found->unit = base::printable(word.unit, 16);
    auto& readings = found->readings;
    if (!readings.empty() && readings.back().job == teller.job && readings.back().epoch == teller.epoch)
        readings.pop_back();
    make_room(readings, teller.by_us);
    readings.push_back({now, word.verdict, word.value, word.expected, base::printable(word.says, 160),
                        teller.job, teller.epoch, teller.uid, teller.by_us, teller.level});
}

} // namespace restart
