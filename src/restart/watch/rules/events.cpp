#include "restart/watch/rules/events.hpp"

#include "base/units.hpp"
#include "restart/watch/rules/evidence.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace restart {
namespace {

using namespace std::chrono_literals;

// The same event on the same component from two sources within this time is one.
constexpr base::Duration same_event = 5s;
// An event this close to another one may be its consequence.
constexpr base::Duration same_cause = 1min;
constexpr std::size_t most_times = 64;
constexpr std::size_t most_records = 128; // a report carries 256 findings

std::string period(base::Duration time) {
    return time == 24h ? "a day" : base::human_duration(time);
}

} // namespace

// How often that row's event came; if the rule requires it, only to the same part.
std::size_t Events::times_of(const Record& record, const Rule& rule, const std::string& part) {
    return static_cast<std::size_t>(
        std::count_if(record.times.begin(), record.times.end(), [&](const Once& once) {
            return once.row == rule.name && (!rule.same_part || (!part.empty() && once.part == part));
        }));
}

bool Events::joins_burst(Record& record, base::Time now, const Rule& rule, const std::string& part) {
    if (rule.burst <= base::Duration{0}) return false;
    const auto last = std::find_if(record.times.rbegin(), record.times.rend(), [&](const Once& once) {
        return once.row == rule.name && once.part == part;
    });
    if (last == record.times.rend() || now - last->until >= rule.burst) return false;
    last->until = now;
    return true;
}

Severity Events::severity_of(const Record& record, const Rule& rule, const std::string& part) {
    // For by_user rules see severity_now: what the event names may come in several lines.
    const bool repeated = !rule.by_user && rule.repeats > 0 && times_of(record, rule, part) >= rule.repeats;
    return repeated ? rule.repeated : *rule.severity;
}

Events::Met Events::met_by_users(const Record& record, base::Time now) {
    const auto& rule = *record.rule;
    std::map<std::string, std::set<std::uint32_t>> users;
    for (const auto& once : record.times)
        if (once.row == rule.name && once.user && !once.spread && now - once.at < rule.within &&
            (!rule.same_part || !once.part.empty()))
            users[rule.same_part ? once.part : std::string()].insert(*once.user);
    Met most;
    for (const auto& [part, of] : users)
        if (of.size() > most.users) most = {of.size(), part};
    return most;
}

Severity Events::severity_now(const Record& record, base::Time now) {
    const auto& rule = *record.rule;
    if (!rule.by_user || rule.repeats == 0 || met_by_users(record, now).users < rule.repeats)
        return record.severity;
    return std::max(record.severity, rule.repeated);
}

void Events::add_to(Once& once, const Signal& event) {
    if (event.user) once.user = event.user;
    if (event.part.empty()) return;
    once.spread = once.spread || (!once.part.empty() && once.part != event.part);
    once.part = event.part;
}

void Events::ran(const std::string& component, std::uint32_t user, base::Time since) {
    for (auto& [key, record] : records_) {
        if (key.second != component || !record.rule->by_user) continue;
        const bool failed = std::any_of(record.times.begin(), record.times.end(), [&](const Once& once) {
            return once.at >= since && once.user == user;
        });
        if (failed) continue;
        std::erase_if(record.times, [&](const Once& once) { return once.at < since && once.user != user; });
    }
}

void Events::take(base::Time now, const Signal& event, const Find& find) {
    const auto* rule = find(event);
    if (rule == nullptr) return;
    // An event without a number is identified by its row.
    const std::pair key{event.value == 0 ? std::string(rule->finding())
                                         : fmt::format("{}.{}", event.name, number(event.value)),
                        event.component};
    auto found = records_.find(key);
    if (found == records_.end()) {
        if (records_.size() >= most_records) return;
        found = records_.try_emplace(key).first;
        found->second.event = event;
        found->second.first = now;
    }
    auto& record = found->second;
    const bool again = record.rule != nullptr && now - record.last < same_event;
    const bool says = !event.text.empty();
    record.last = now;
    if (again && rule->by_user && !record.times.empty()) add_to(record.times.back(), event);
    if (again && record.said && !says) return; // the other source's, with less information
    const bool refined = again && says && !record.said;
    const auto user = refined && !record.times.empty() ? record.times.back().user : event.user;
    std::erase_if(record.times, [&](const Once& once) { return now - once.at >= rule->within; });
    if (refined && !record.times.empty()) record.times.pop_back();
    if ((!again || refined) && !joins_burst(record, now, *rule, event.part)) {
        if (record.times.size() == most_times) record.times.erase(record.times.begin());
        record.times.push_back({now, std::string(rule->name), event.part, now, user});
    }
    // A later event replaces an earlier one if its rule uses the last event, and an event with text replaces
    // the same event reported without text; otherwise the worst is kept.
    const auto severity = severity_of(record, *rule, event.part);
    const bool first = record.rule == nullptr || (refined && record.times.size() == 1);
    record.said = says;
    if (!first && !(says && rule->latest) && severity < record.severity) return;
    record.rule = rule;
    record.severity = severity;
    record.event.part = event.part;
    if (says) record.event.text = event.text;
}

void Events::judge_again(const Find& find) {
    for (auto at = records_.begin(); at != records_.end();) {
        auto& record = at->second;
        record.rule = find(record.event);
        if (record.rule == nullptr) {
            at = records_.erase(at);
            continue;
        }
        record.severity = severity_of(record, *record.rule, record.event.part);
        ++at;
    }
}

// Whether another event of the component came at about the same time.
bool Events::is_explained(const std::pair<std::string, std::string>& key, const Record& record) const {
    return std::any_of(records_.begin(), records_.end(), [&](const auto& other) {
        return other.first.second == key.second && other.first.first != key.first &&
               !other.second.rule->secondary &&
               std::chrono::abs(other.second.last - record.last) < same_cause;
    });
}

void Events::forget(base::Time now) {
    std::erase_if(records_, [&](const auto& entry) {
        return !entry.second.rule->latch && now - entry.second.last >= *entry.second.rule->window;
    });
}

std::vector<Events::Held> Events::held(base::Time now) {
    forget(now);
    std::vector<Held> held;
    for (const auto& [key, record] : records_)
        if (!record.rule->secondary || !is_explained(key, record))
            held.push_back({&record.event, record.rule, severity_now(record, now), record.first});
    return held;
}

std::vector<Finding> Events::holding(base::Time now) {
    forget(now);
    std::vector<Finding> findings;
    for (const auto& [key, record] : records_) {
        const auto& rule = *record.rule;
        if (rule.secondary && is_explained(key, record)) continue;
        auto text = evidence(rule, record.event, rule.value, 0);
        if (rule.by_user) {
            if (const auto met = met_by_users(record, now); met.users > 1)
                text += fmt::format("; under programs of {} users within {}{}", met.users,
                                    period(rule.within), rule.same_part ? " to " + met.part : "");
        } else if (const auto times = times_of(record, rule, record.event.part); times > 1)
            text +=
                fmt::format("; {} {} within {}{}", times, rule.burst > base::Duration{0} ? "bursts" : "times",
                            period(rule.within), rule.same_part ? " to " + record.event.part : "");
        if (!record.event.text.empty()) text += fmt::format(" [{}]", record.event.text);
        findings.push_back({key.first, key.second, severity_now(record, now), record.first, std::move(text),
                            std::string(to_string(rule.fault))});
    }
    return findings;
}

} // namespace restart
