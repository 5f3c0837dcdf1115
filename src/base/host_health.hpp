// The health of hosts, as restartd reports it to placement: the health file.
//
//   {"v": 1, "written": 1700000000.0, "hosts": {"n003": {"health": 0.6, "why": "mlx5_2:1 symbol errors"}},
//    "spare_floor": 3, "spare_risk": 0.001, "saved": {"812": 1699999100}}
//
// Only hosts below 1 are listed. The other members are learned, too. The writer rewrites the file at least
// every `health_refresh`, so that a file left behind by a daemon that ended can be recognized.
#pragma once

#include "base/clock.hpp"
#include "base/conf.hpp"
#include "base/expected.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace base {

struct HostHealth {
    float health = 1; // 0 (never use it) … 1 (healthy)
    std::string why;  // a phrase
    bool operator==(const HostHealth&) const = default;
};

using HealthMap = std::map<std::string, HostHealth, std::less<>>; // by host name

// The learned number of hosts to keep free for restarts, for this [placement] spare_risk.
struct SpareFloor {
    std::uint32_t hosts = 0;
    double risk = 0;
    bool operator==(const SpareFloor&) const = default;
};

// When each running job wrote its newest checkpoint, to the second, by job number.
using SavedMap = std::map<std::uint32_t, Time>;

struct HealthFile {
    Time written{};
    HealthMap hosts;
    std::optional<SpareFloor> spare_floor{}; // none: as configured
    SavedMap saved{};
};

inline constexpr Duration health_refresh = std::chrono::minutes(1);
inline constexpr Duration health_lapses = std::chrono::minutes(10); // after `written`

// [placement] health, or by default health.json next to restartd's journal.
std::filesystem::path health_path(const PlacementConf& placement, const RestartdConf& restartd);

std::string print_health(const HealthFile& file);
// Errors (Code::input) name the place: "NAME: hosts.n003.health: …".
Expected<HealthFile> parse_health(std::string_view text, std::string_view name);

} // namespace base
