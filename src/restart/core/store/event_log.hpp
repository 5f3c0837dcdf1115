// The input and output of step(), as a stream of bytes from which it can be replayed: every event with its
// time, the policy where it changed, and the resulting actions and notes. No I/O.
//
// Most events repeat what the same source last reported: a report of a healthy host then takes a few bytes, a
// reading of the resource manager only what changed. So a stream is read from its beginning.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "restart/core/facts/event.hpp"
#include "restart/core/facts/policy.hpp"
#include "restart/core/facts/step_context.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace restart {

// The result of a step, as one line of JSON; empty: neither actions nor notes nor a refusal.
std::string outcome_text(const Step& step);

// "report of n003", "reading of the resource manager (64 nodes, 3 jobs)": for display.
std::string describe(const Event& event);

class EventWriter {
public:
    // Before the step: the event as it is passed to it.
    void event(const Event& event, base::Time now, const Policy& policy);
    // After the step.
    void outcome(const Step& step);

    // What was written since the last call.
    std::string take();
    // In all, since the beginning.
    std::uint64_t size() const { return size_ + text_.size(); }
    // A new stream begins.
    void reset() { *this = EventWriter(); }

private:
    struct Reporter {
        std::uint64_t number = 0; // in the order of first reports
        Report last;
    };
    void put(char tag, base::Time now);
    void put(std::uint64_t number);
    void put(std::string_view text);
    void report(const Report& report, base::Time now);
    void sweep(const FabricReport& report, base::Time now);
    void snapshot(const RmSnapshot& snapshot, base::Time now);

    std::string text_;
    std::uint64_t size_ = 0; // of the bytes taken
    std::optional<Policy> policy_;
    base::Time now_{};
    std::unordered_map<std::string, Reporter> reporters_;
    std::optional<FabricReport> sweep_;
    std::optional<RmSnapshot> snapshot_;
};

// An event as it was written, and its result.
struct LoggedStep {
    base::Time now{};
    Event event;
    std::string outcome;
};

class EventReader {
public:
    // The next part of the stream.
    void feed(std::string_view bytes);
    // The next event; none: the stream ends here. Errors (Code::input): it is damaged.
    base::Expected<std::optional<LoggedStep>> next();
    // The policy of the event that next() returned.
    const Policy& policy() const { return policy_; }

private:
    base::Expected<std::uint64_t> number();
    base::Expected<std::string_view> text();
    base::Expected<Event> event_of(char tag);
    bool at_end() const { return at_ == text_.size(); }

    std::string text_;
    std::size_t at_ = 0;
    Policy policy_;
    base::Time now_{};
    std::vector<Report> reports_; // the last one of each reporter, by number
    std::map<std::string, std::uint64_t, std::less<>> reporters_;
    FabricReport sweep_;
    RmSnapshot snapshot_;
};

} // namespace restart
