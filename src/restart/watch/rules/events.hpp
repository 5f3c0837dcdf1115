// Events that come once and count for a while, such as XIDs: a day, or for good where the remedy is a
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
    // The row of an event; null: there is none, and it is passed over.
    using Find = std::function<const Rule*(const Signal&)>;

    // One event. The same on the same component within a few seconds is one, told by two sources: then the
    // words of the one that has any count.
    void take(base::Time now, const Signal& event, const Find& find);

    // A user's programs have run on the component since then, and ended: of rules by user earlier events that
    // came under others' are forgotten, if none has come under these.
    void ran(const std::string& component, std::uint32_t user, base::Time since);

    // After the rules have changed: what is known is judged anew by them.
    void judge_again(const Find& find);

    // What still counts.
    std::vector<Finding> holding(base::Time now);

    // The same, each event with its rule. Both live until the next change here.
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
        std::string row, part; // the rule's name, and what the event named
        base::Time until{};    // the last of its burst
        std::optional<std::uint32_t> user{};
        bool spread = false; // it named several parts
    };
    struct Record {
        Signal event; // the first, with the words of the worst, of these the last
        const Rule* rule = nullptr;
        base::Time first{}, last{};
        std::vector<Once> times; // within the rule's time
        bool said = false;       // the last event had words
        Severity severity = Severity::info;
    };
    void forget(base::Time now);
    static std::size_t times_of(const Record& record, const Rule& rule, const std::string& part);
    // Takes the event into the burst that it belongs to; false: it begins one.
    static bool joins_burst(Record& record, base::Time now, const Rule& rule, const std::string& part);
    static Severity severity_of(const Record& record, const Rule& rule, const std::string& part);
    // Of a rule by user: how many users' programs met the same part, at most, and which.
    struct Met {
        std::size_t users = 0;
        std::string part;
    };
    static Met met_by_users(const Record& record, base::Time now);
    static Severity severity_now(const Record& record, base::Time now);
    // What the same event says further: a part, several of them, a user.
    static void add_to(Once& once, const Signal& event);
    bool is_explained(const std::pair<std::string, std::string>& key, const Record& record) const;

    // By signal, number and component.
    std::map<std::pair<std::string, std::string>, Record> records_;
};

} // namespace restart
