// Events that happen once and count for a while, such as XIDs: for a day, or indefinitely if the remedy is a
// restart. Pure.
#pragma once

#include "base/clock.hpp"
#include "restart/watch/rules/rule.hpp"
#include "restart/watch/rules/signal.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace restart {

class Events {
public:
    // The row of an event; null: none, and the event is ignored.
    using Find = std::function<const Rule*(const Signal&)>;

    // Takes one event. Equal events on the same component within a few seconds are one event reported by two
    // sources: the text of the source that has one is used.
    void take(base::Time now, const Signal& event, const Find& find);

    // A user's programs have run on the component since then, and ended. For by_user rules, earlier events
    // under other users' programs are forgotten, if none occurred under these.
    void ran(const std::string& component, std::uint32_t user, base::Time since);

    // After a change of rules: re-evaluates the known events.
    void judge_again(const Find& find);

    // Current findings.
    std::vector<Finding> holding(base::Time now);

    // The same, each event with its rule. Both are valid until the next change here.
    struct Held {
        const Signal* event;
        const Rule* rule;
        Severity severity;
        base::Time first;
    };
    std::vector<Held> held(base::Time now);

private:
    struct Once {
        base::Time at{};
        std::string row, part; // the rule's name, and the part that the event named
        base::Time until{};    // the last event of its burst
        std::optional<std::uint32_t> user{};
        bool spread = false; // it named several parts
    };
    struct Record {
        Signal event; // the first, with the text of the worst, the last of these
        const Rule* rule = nullptr;
        base::Time first{}, last{};
        std::vector<Once> times; // within the rule's time
        bool said = false;       // the last event had text
        Severity severity = Severity::info;
    };
    void forget(base::Time now);
    static std::size_t times_of(const Record& record, const Rule& rule, const std::string& part);
    // Adds the event to the burst that it belongs to; false: it starts one.
    static bool joins_burst(Record& record, base::Time now, const Rule& rule, const std::string& part);
    static Severity severity_of(const Record& record, const Rule& rule, const std::string& part);
    // For by_user rules: the largest number of users whose programs hit the same part, and which part.
    struct Met {
        std::size_t users = 0;
        std::string part;
    };
    static Met met_by_users(const Record& record, base::Time now);
    static Severity severity_now(const Record& record, base::Time now);
    // Adds details from the same event: a part, several of them, a user.
    static void add_to(Once& once, const Signal& event);
    bool is_explained(const std::pair<std::string, std::string>& key, const Record& record) const;

    // By signal, number and component.
    std::map<std::pair<std::string, std::string>, Record> records_;
};

} // namespace restart
