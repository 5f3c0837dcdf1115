// A rung of a repair's ladder, and what a site lets restartd do about hosts that faults put out of use:
// railyard.conf(5), table [repair], which has the ladder of each fault class with its reason.
#pragma once

#include "base/clock.hpp"
#include "base/conf.hpp"
#include "restart/wire/fault_class.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace restart {

enum class Rung {
    nothing,     // left to an operator; nothing is reported
    wait,        // it comes back on its own
    gpu_reset,   // by the site's program
    reboot,      // by the resource manager
    power_cycle, // by the site's program
    hands,       // left to an operator, who is notified
    check        // in no ladder: the site's program tests whether the host may be resumed
};
std::string_view to_string(Rung rung);
// The rung with this name; hands for an unknown name.
Rung rung_of(std::string_view word);
// Whether something is done to the host.
inline bool acts(Rung rung) {
    return rung == Rung::gpu_reset || rung == Rung::reboot || rung == Rung::power_cycle;
}
// Whether the host comes back with another boot id.
inline bool boots(Rung rung) {
    return rung == Rung::reboot || rung == Rung::power_cycle;
}

struct RepairPolicy {
    std::uint64_t max_at_once = 0; // 0: nothing is repaired or returned
    std::uint64_t attempts = 3;
    base::Duration forget_after = std::chrono::days(7), relapse = std::chrono::days(1),
                   clean_window = std::chrono::minutes(10), rung_limit = std::chrono::hours(1);
    bool resets_gpus = false, cycles_power = false, checks = false; // the site has programs for it
    std::map<std::string, std::vector<std::string>> ladders{};      // rungs, by the name of the class
    bool operator==(const RepairPolicy&) const = default;

    static RepairPolicy from(const base::RepairConf& conf);

    // Never empty: a class without a ladder is left alone.
    std::vector<Rung> ladder(FaultClass fault) const;
};

} // namespace restart
