// What restartd would do now: the body of GET /v1/plan, and the modes that GET /v1/status also shows.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "base/job_id.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace restart {

struct PauseStatus {
    std::string user, reason;
    base::Time since{}, until{};
    std::vector<std::string> hosts; // empty: all
    bool operator==(const PauseStatus&) const = default;
};

struct MaintenanceStatus {
    std::string by;                 // "restartd.maintenance, \"Sun 02:00-06:00\"", "the resource manager"
    std::vector<std::string> hosts; // empty: all
    bool operator==(const MaintenanceStatus&) const = default;
};

// A bound that holds something back, or did within ten minutes.
struct BoundStatus {
    std::string key; // "max_drained_percent"
    std::string of;  // the unit, leaf or pod; empty: all hosts
    std::string why;
    base::Time since{};
    bool operator==(const BoundStatus&) const = default;
};

// What stops restartd from acting.
struct Modes {
    bool observe_only = false;
    std::vector<PauseStatus> pauses;
    std::vector<MaintenanceStatus> maintenance;
    std::vector<BoundStatus> bounds;
    bool operator==(const Modes&) const = default;
};

struct PlanStep {
    std::string state; // "under way", "awaited", "next", "withheld", "left"
    std::string what;  // "drain n003", "job 12 saves"
    std::optional<base::JobId> job;
    std::optional<base::Time> by; // at the latest
    std::string key;              // withheld: by this key, or "pause", "maintenance"
    std::string why;
    bool operator==(const PlanStep&) const = default;
};

struct PlannedIncident {
    std::string id, kind, phase; // as in IncidentStatus
    std::string host;
    std::string what;
    std::vector<PlanStep> steps; // in the order in which they are done
    bool operator==(const PlannedIncident&) const = default;
};

// GET /v1/plan
struct RecoveryPlan {
    base::Time time{};
    Modes modes;
    std::vector<PlannedIncident> incidents; // open
    std::vector<std::string> not_shown;     // to this user: a phrase each

    static base::Expected<RecoveryPlan> from_json(std::string_view body);
    std::string to_json() const;
    bool operator==(const RecoveryPlan&) const = default;
};

} // namespace restart
