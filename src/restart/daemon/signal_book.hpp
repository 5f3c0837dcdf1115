// Requests for the signals of hosts (wire/signals.hpp): which agents to ask, and what they last sent.
//
// Anyone who may read may ask, so requests must be cheap: at most one is under way per host, and an answer
// serves everyone for a few seconds; few hosts are asked at once, few answers are kept, and what was not
// requested is not accepted. None of it is part of the state, or written down.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "restart/wire/signals.hpp"

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace restart {

// For any thread.
class SignalBook {
public:
    using Steady = std::chrono::steady_clock::time_point;
    static constexpr std::size_t most_asked = 16; // hosts at once
    static constexpr std::size_t most_kept = 48;  // answers and requests
    static constexpr base::Duration fresh{3'000};
    static constexpr base::Duration keep{600'000};
    // An agent reports each minute at the least (railyard.conf(5), [agent] interval).
    static constexpr base::Duration patience{150'000};

    struct Found {
        SignalsState state = SignalsState::asked;
        std::optional<base::Time> came;
        std::shared_ptr<const HostSignals> signals; // null: none are kept
    };

    // A user asks for the signals of a host whose agent reports.
    Found ask(const std::string& host, Steady now);
    // What is known without asking.
    Found look(const std::string& host, Steady now);

    // An agent that can send its signals, or cannot, has reported: returns whether it must send them.
    bool reported(const std::string& host, bool tells, Steady now);

    // An agent has sent them. Errors: Code::unfit if they were not requested.
    base::Expected<void> take(HostSignals signals, Steady now, base::Time wall);

private:
    struct Entry {
        std::optional<Steady> asked; // under way since then; none: nothing is
        unsigned reports = 0;        // since then
        std::optional<Steady> older; // when its agent showed that it cannot send them
        std::optional<Steady> told;
        base::Time came{};
        std::shared_ptr<const HostSignals> signals;
    };
    void forget(Steady now);
    bool may_ask() const;
    void make_room();
    static Found found(const Entry& entry, Steady now);

    std::mutex mutex_;
    std::map<std::string, Entry> entries_; // by host
};

} // namespace restart
