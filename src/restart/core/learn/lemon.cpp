#include "restart/core/learn/lemon.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace restart {

double lemon_score(const HostHistory& host, base::Time now, base::Duration half_life) {
    double score = 0;
    for (const auto& fault : host.faults) {
        // A clock that was set back leaves faults in the future: they are treated as new.
        const double age = std::max(0.0, base::to_seconds(now - fault.at) / base::to_seconds(half_life));
        if (age < half_lives) score += std::exp2(-age);
    }
    return score;
}

void remember_fault(HostHistory& host, base::Time now, std::string what, base::Duration half_life) {
    std::erase_if(host.faults,
                  [&](const HostFault& fault) { return now - fault.at >= half_lives * half_life; });
    if (host.faults.size() == most_faults) host.faults.erase(host.faults.begin());
    host.faults.push_back({now, std::move(what)});
}

void forget_last_fault(HostHistory& host) {
    if (!host.faults.empty()) host.faults.pop_back();
}

} // namespace restart
