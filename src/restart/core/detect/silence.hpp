// Which hosts are silent, and which of them fell silent together: many at once have one cause, such as a
// network, a rack or this daemon, and whatever shares that cause is not evidence. Internal to restart/core.
#pragma once

#include "restart/core/facts/step_context.hpp"

#include <string>
#include <vector>

namespace restart {

struct SilentHost {
    const std::string* name = nullptr; // in the state
    base::Time heard{};                // heard_from()
};

struct Silence {
    std::size_t agents = 0;       // that should report
    std::vector<SilentHost> late; // those of them overdue and not explained by the fabric, by `heard`
    // Those of `late` that fell silent together with others, and hosts out of use that did so with them;
    // sorted.
    std::vector<std::string> group;
    std::size_t dark = 0;    // overdue, and explained by the fabric
    base::Time since{};      // when the first of the group was last heard
    std::size_t certain = 0; // those of the group that have been silent for [node_loss] silent
    bool holds(const std::string& host) const;
};

// Fewer silent hosts are never treated as a group.
inline constexpr std::size_t least_group = 3;

Silence look_for_silence(const StepContext& ctx);

// When the host last gave a sign of life, or was last away as planned.
base::Time heard_from(const HostState& host);

// How long it has been silent. The time before a pause of this daemon is not counted.
base::Duration silence_of(const StepContext& ctx, const HostState& host);

// All its links have been down since about its last report, or a later time.
bool dark_since_report(const StepContext& ctx, const HostState& host);

// Lost by the resource manager's report alone, recently: neither the fabric nor an operator has confirmed it.
bool unconfirmed_loss(const StepContext& ctx, const HostState& host);

// "n[001-032] (all 32 agents of unit su1)", for notes.
std::string describe_group(const State& state, const std::vector<std::string>& group);

} // namespace restart
