// Is a checkpoint due? The decision, without sockets, files or clocks.
#pragma once

#include "restart/ckpt/agent.hpp"
#include "restart/ckpt/interval.hpp"

#include <optional>
#include <string>

namespace restart::ckpt {

// Where the interval comes from: from the agent; set by the user; Young's formula; or fixed, as no checkpoint
// cost has been measured yet.
enum class Source { agent, user, young, first };

inline constexpr Seconds first_interval{300};

struct Interval {
    Seconds length{};
    Source source = Source::first;
};

// In this order: the agent's, the user's, Young's from `cost` and `mtbf` within the default bounds,
// first_interval.
Interval choose_interval(const std::optional<AgentState>& agent, std::optional<Seconds> user,
                         std::optional<Seconds> cost, Seconds mtbf);

// Which request to save this is: its incident, or its deadline when it names none; "" when there is none. A
// request is served by one commit that was begun after it was seen.
std::string request_of(const std::optional<AgentState>& agent);

// failed: it would be due, but the last attempt failed moments ago.
enum class Reason { save_request, interval, not_yet, failed };

// After a checkpoint that failed (a full disk) the next is not tried for this long.
inline constexpr Seconds retry_pause{5};

struct Verdict {
    Reason reason = Reason::not_yet;
    Interval interval;
    Seconds left{}; // until it is due if nobody asks before; 0 when it is
    AgentState agent;
    bool due() const { return reason == Reason::save_request || reason == Reason::interval; }
};

struct History {
    Seconds since_last{};                // time since the last checkpoint, or since the start
    std::optional<Seconds> since_failed; // time since the last attempt, when it failed
    std::string served;                  // the request that was served last
};

Verdict decide(const std::optional<AgentState>& agent, const Interval& interval, const History& history);

// "due: save by 14:20:05 (i-7)", "not yet: 12.3 s of 37.5 s left (interval from nodewatchd)".
std::string to_sentence(const Verdict& verdict);
std::string_view to_string(Source source); // "agent", "user", "young", "first"
std::string_view to_string(Reason reason); // "save_request", "interval", "not_yet", "failed"

} // namespace restart::ckpt
