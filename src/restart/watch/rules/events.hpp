// Events that come once and count for a while, such as XIDs: a day, or for good where the remedy is a
// restart. Pure.
#pragma once

#include "base/clock.hpp"
#include "restart/watch/rules/rule.hpp"
#include "restart/watch/rules/signal.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace restart {

class Events {
public:
    // The row of an event; null: there is none, and it is passed over.
    using Find = std::function<const Rule*(const Signal&)>;

    // One event. The same on the same component within a few seconds is one, told by two sources.
    void take(base::Time now, const Signal& event, const Find& find);

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
    struct Record {
        Signal event; // the first, with the last words
        const Rule* rule = nullptr;
        base::Time first{}, last{};
        std::vector<base::Time> times; // within the rule's time
        Severity severity = Severity::info;
    };
    void forget(base::Time now);
    static void judge(Record& record, const Rule& rule, bool fresh);

    // By signal, number and component.
    std::map<std::pair<std::string, std::string>, Record> records_;
};

} // namespace restart
