// The input of step(). The daemon makes these from requests, the clock and the resource manager.
//
// Events that come from the resource manager (RmRead, RmUnavailable, ActionDone) must arrive in the order in
// which they happened there: a snapshot that was read before an action must not be passed after its outcome.
#pragma once

#include "base/error.hpp"
#include "restart/core/facts/fabric_facts.hpp"
#include "restart/core/facts/pauses.hpp"
#include "restart/core/facts/rm.hpp"
#include "restart/wire/report.hpp"

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace restart {

// The daemon starts, with a state from its journal or an empty one. Actions without an outcome are
// unconfirmed until the next RmRead, and every agent gets a new grace period.
struct Started {};

// Time passes; a few times a second.
struct Tick {};

// The fabric file was read: the place and the ports of each host, by its name, and the switches. Hosts in no
// pod or on no leaf are left out of these.
struct FabricLoaded {
    std::map<std::string, std::string> units;
    std::map<std::string, std::string> pods{};
    std::map<std::string, std::vector<std::string>> leaves{}; // the switches of its rails, each once
    std::map<std::string, std::vector<HostPort>> ports{};
    std::map<std::string, SwitchState> switches{};
};

struct AgentReported {
    Report report; // authenticated, of a known host
};

struct FabricSwept {
    FabricReport report;
};

struct RmRead {
    RmSnapshot snapshot;
};

// The resource manager does not answer. Not needed in addition to an ActionDone with Code::unavailable.
struct RmUnavailable {
    std::string why;
};

// What the resource manager's daemon on a silent host answered (detect/asking.hpp).
struct HostAsked {
    std::string host;
    Life life = Life::unknown;
};

// The outcome of an action; no error: it was done now or earlier.
struct ActionDone {
    std::string action; // its id
    std::optional<base::Error> error;
    bool obsolete = false; // it was not performed: the error says why it is no longer needed (why_obsolete())
    std::string said{};    // the last line of the program that did it
};

// railctl drain and resume, from an authorised user.
struct OperatorDrain {
    std::string host;
    std::string reason;
    std::string user;
};
struct OperatorResume {
    std::string host;
    std::string user;
};

// railctl pause and go, from an authorised user.
struct OperatorPause {
    std::vector<std::string> hosts; // empty: all
    base::Duration lasts{};
    std::string reason;
    std::string user;
};
struct OperatorGo {
    std::vector<std::string> hosts; // empty: every pause ends
    std::string user;
};

// The windows of [restartd] maintenance that are open now; given after Started and at each change.
struct MaintenanceWindows {
    std::vector<Maintenance> open;
};

// The dispatcher found hosts for waiting gangs.
struct PlannedGang {
    base::JobId id{};
    std::uint32_t epoch = 0;        // of its next start
    std::vector<std::string> hosts; // in rank order
};
struct GangsPlanned {
    std::vector<PlannedGang> gangs; // in the order in which they are to start
};

using Event = std::variant<Started, Tick, FabricLoaded, AgentReported, FabricSwept, RmRead, RmUnavailable,
                           ActionDone, HostAsked, OperatorDrain, OperatorResume, OperatorPause, OperatorGo,
                           MaintenanceWindows, GangsPlanned>;

} // namespace restart
