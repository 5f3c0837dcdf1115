#include "restart/core/detect/agreed_checks.hpp"

#include "restart/core/detect/odd_bits.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>

namespace restart {
namespace {

constexpr base::Duration oldest = std::chrono::days(7);
constexpr std::uint32_t root = 0;

} // namespace

bool still_counts(const HostState& host, const CheckReading& reading, base::Time now) {
    return reading.at > now - oldest && !(host.returned && reading.at <= host.returned->when);
}

namespace {

// The highest levels of sound results, from the newest one on.
struct Cleared {
    std::optional<std::uint32_t> by_anybody, by_us; // levels; none: no one found it good

    void take(const CheckReading& reading) {
        by_anybody = std::max(by_anybody, std::optional(reading.level));
        if (reading.by_us || reading.uid == root) by_us = std::max(by_us, std::optional(reading.level));
    }
    bool ends(const CheckReading& bad) const {
        const auto& level = bad.by_us ? by_us : by_anybody;
        return level && *level >= bad.level;
    }
};

// Who report it as bad, by their newest results; none: one user's report is not enough.
std::optional<AgreedCheck> agreement(const HostState& host, const KnownCheck& known, base::Time now) {
    std::set<std::uint32_t> users;
    AgreedCheck agreed{known.check, known.component};
    Cleared cleared;
    for (auto reading = known.readings.rbegin(); reading != known.readings.rend(); ++reading) {
        if (!still_counts(host, *reading, now)) break;
        if (reading->verdict == CheckVerdict::sound) cleared.take(*reading);
        if (reading->verdict != CheckVerdict::bad || cleared.ends(*reading)) continue;
        if (reading->by_us)
            agreed.idle = true;
        else if (reading->uid) // an earlier release recorded none
            users.insert(*reading->uid);
    }
    agreed.users = static_cast<std::uint32_t>(users.size());
    return agreed.idle || agreed.users > 1 ? std::optional(agreed) : std::nullopt;
}

struct Tried {
    std::size_t hosts = 0, bad = 0;
    bool in_doubt() const { return bad > 1 && 4 * bad > hosts; }
};

} // namespace

std::map<std::string_view, std::vector<AgreedCheck>> agreed_checks(const State& state, base::Time now) {
    std::map<std::string_view, std::vector<AgreedCheck>> agreed;
    std::map<std::string_view, Tried> tried;
    for (const auto& [name, host] : state.hosts) {
        std::set<std::string_view> of_host, bad_here;
        for (const auto& known : host.checks) {
            if (known.readings.back().at > now - oldest) of_host.insert(known.check);
            if (const auto one = agreement(host, known, now)) {
                agreed[name].push_back(*one);
                bad_here.insert(known.check);
            }
        }
        for (const auto check : of_host)
            ++tried[check].hosts;
        for (const auto check : bad_here)
            ++tried[check].bad;
    }
    for (auto host = agreed.begin(); host != agreed.end();) {
        std::erase_if(host->second, [&](const AgreedCheck& one) { return tried[one.check].in_doubt(); });
        host = host->second.empty() ? agreed.erase(host) : std::next(host);
    }
    for (const auto& odd : odd_bits(state, now))
        agreed[odd.host].push_back({product_bits, odd.component, 0, true, odd.others});
    return agreed;
}

} // namespace restart
