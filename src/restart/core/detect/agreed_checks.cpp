#include "restart/core/detect/agreed_checks.hpp"

#include <cstddef>
#include <iterator>
#include <set>

namespace restart {
namespace {

constexpr base::Duration oldest = std::chrono::days(7);

// Of the users whose newest results of it are bad; 0: one user's word, or none.
std::uint32_t users_that_agree(const HostState& host, const KnownCheck& known, base::Time now) {
    std::set<std::uint32_t> users;
    for (auto reading = known.readings.rbegin(); reading != known.readings.rend(); ++reading) {
        if (reading->at <= now - oldest || (host.returned && reading->at <= host.returned->when)) break;
        if (reading->verdict == CheckVerdict::sound) break;
        // An earlier release wrote down no user.
        if (reading->verdict == CheckVerdict::bad && reading->uid) users.insert(*reading->uid);
    }
    return users.size() > 1 ? static_cast<std::uint32_t>(users.size()) : 0;
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
            if (const auto users = users_that_agree(host, known, now)) {
                agreed[name].push_back({known.check, known.component, users});
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
    return agreed;
}

} // namespace restart
