#include "restart/core/known_check.hpp"

#include "base/utf8.hpp"

#include <algorithm>

namespace restart {

void take_check(std::vector<KnownCheck>& known, const CheckWord& word, const CheckTeller& teller,
                base::Time now) {
    if (word.verdict == CheckVerdict::not_run) return; // says nothing of the part
    const auto check = base::printable(word.check, 64), component = base::printable(word.component, 64);
    auto found = std::find_if(known.begin(), known.end(), [&](const KnownCheck& one) {
        return one.check == check && one.component == component;
    });
    if (found == known.end()) {
        if (known.size() >= most_known_checks)
            known.erase(std::min_element(known.begin(), known.end(), [](const auto& a, const auto& b) {
                return a.readings.back().at < b.readings.back().at;
            }));
        found = known.insert(known.end(), {check, component, {}, {}});
    }
    found->unit = base::printable(word.unit, 16);
    auto& readings = found->readings;
    if (!readings.empty() && readings.back().job == teller.job && readings.back().epoch == teller.epoch)
        readings.pop_back();
    if (readings.size() >= most_check_readings) readings.erase(readings.begin());
    readings.push_back({now, word.verdict, word.value, word.expected, base::printable(word.says, 160),
                        teller.job, teller.epoch, teller.uid, teller.by_us});
}

} // namespace restart
