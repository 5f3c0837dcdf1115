// Decides whether a checkpoint is due, without sockets, files or clocks.
#pragma once

#include "restart/ckpt/agent.hpp"
#include "restart/ckpt/interval.hpp"

#include <optional>
#include <string>

namespace restart::ckpt {

// The source of the interval: the agent; the user; Young's formula; or a fixed value, as no checkpoint cost
// has been measured yet.
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

// Identifies a request to save: its incident, or its deadline if it names none; "" if there is none. A
// request is served by one commit that was begun after it was seen.
std::string request_of(const std::optional<AgentState>& agent);

// failed: a checkpoint is due, but the last attempt failed moments ago.
enum class Reason { save_request, interval, not_yet, failed };

// After a failed checkpoint (a full disk) the next is not tried for this long.
inline constexpr Seconds retry_pause{5};

struct Verdict {
    Reason reason = Reason::not_yet;
    Interval interval;
    Seconds left{}; // until it is due without a request; 0 if it is
    AgentState agent;
    bool due() const { return reason == Reason::save_request || reason == Reason::interval; }
};

struct History {
    Seconds since_last{};                // time since the last checkpoint, or since the start
    std::optional<Seconds> since_failed; // time since the last attempt, if it failed
    std::string served;                  // the last request that was served
};

Verdict decide(const std::optional<AgentState>& agent, const Interval& interval, const History& history);

// "due: save by 14:20:05 (i-7)", "not yet: 12.3 s of 37.5 s left (interval from nodewatchd)".
std::string to_sentence(const Verdict& verdict);
std::string_view to_string(Source source); // "agent", "user", "young", "first"
std::string_view to_string(Reason reason); // "save_request", "interval", "not_yet", "failed"

} // namespace restart::ckpt
