// What stops restartd from acting for a time, as its State holds it (act/gate.hpp).
#pragma once

#include "base/clock.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace restart {

struct HostState;
struct State;

// A bound that keeps hosts in use although a fault asks to drain them, or keeps silent ones from being
// considered lost. It is noted once, and over only after it has held nothing back for a while.
struct Crossing {
    std::string why; // a phrase, as last found
    base::Time since{};
    base::Time last{}; // when it last held something back
    bool operator==(const Crossing&) const = default;
};

// An operator stops restartd from acting on its own. `railctl go` or its time ends it.
struct Pause {
    std::string user, reason;
    base::Time since{}, until{};
    std::vector<std::string> hosts; // about these culprits, sorted; empty: all
    bool operator==(const Pause&) const = default;
};

// A window of [restartd] maintenance that is open.
struct Maintenance {
    std::string window;             // as written there
    std::vector<std::string> hosts; // sorted; empty: all
    bool operator==(const Maintenance&) const = default;
};

// The pause that applies to this host; with an empty name, one that applies to all. Null: none.
const Pause* pause_of(const State& state, base::Time now, std::string_view host);

// Why the host is in maintenance, a phrase; empty: it is not. Set by a window or by the resource manager.
std::string maintenance_of(const State& state, std::string_view name);
bool in_maintenance(const State& state, std::string_view name, const HostState& host);

} // namespace restart
