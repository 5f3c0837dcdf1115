// What step() is told. The daemon makes these from requests, the clock and the resource manager.
//
// Events that come from the resource manager (RmRead, RmUnavailable, ActionDone) must arrive in the order in
// which they happened there: a snapshot that was read before an action must not be told after its outcome.
#pragma once

#include "base/error.hpp"
#include "restart/core/rm_snapshot.hpp"
#include "restart/wire/report.hpp"

#include <map>
#include <optional>
#include <string>
#include <variant>

namespace restart {

// The daemon begins, with a state from its journal or an empty one. Actions without an outcome become
// doubtful until the next RmRead settles them, and every agent gets a fresh grace.
struct Started {};

// Time passes; a few times a second.
struct Tick {};

// The fabric file was read: the unit of each host, by name.
struct FabricLoaded {
    std::map<std::string, std::string> units;
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

// The resource manager does not answer. Not needed beside an ActionDone with Code::unavailable.
struct RmUnavailable {
    std::string why;
};

// What came of an action; no error: it was done, or had been done before.
struct ActionDone {
    std::string action; // its id
    std::optional<base::Error> error;
    bool overtaken = false; // it was not tried: the error tells why it is no longer to be done (overtaken())
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

using Event = std::variant<Started, Tick, FabricLoaded, AgentReported, FabricSwept, RmRead, RmUnavailable,
                           ActionDone, OperatorDrain, OperatorResume>;

} // namespace restart
