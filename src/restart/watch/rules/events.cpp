#include "restart/watch/rules/events.hpp"

#include "base/units.hpp"
#include "restart/watch/rules/evidence.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace restart {
namespace {

using namespace std::chrono_literals;

// The same event on the same component from two sources within this time is one.
constexpr base::Duration same_event = 5s;
constexpr std::size_t most_times = 64;
constexpr std::size_t most_records = 128; // a report carries 256 findings

std::string period(base::Duration time) {
    return time == 24h ? "a day" : base::human_duration(time);
}

} // namespace

// A later event replaces what was said by one of a rule whose last word counts; otherwise the worst stays.
void Events::judge(Record& record, const Rule& rule, bool fresh) {
    auto severity = *rule.severity;
    if (rule.repeats > 0 && record.times.size() >= rule.repeats) severity = rule.repeated;
    record.severity = fresh ? severity : std::max(record.severity, severity);
}

void Events::take(base::Time now, const Signal& event, const Find& find) {
    const auto* rule = find(event);
    if (rule == nullptr) return;
    const std::pair key{fmt::format("{}.{}", event.name, number(event.value)), event.component};
    auto found = records_.find(key);
    if (found == records_.end()) {
        if (records_.size() >= most_records) return;
        found = records_.try_emplace(key).first;
        found->second.event = event;
        found->second.first = now;
    }
    auto& record = found->second;
    const bool says = !event.text.empty();
    if (says) record.event.text = event.text;
    const bool fresh = record.rule == nullptr || (says && rule->latest);
    if (fresh) record.rule = rule;
    if (record.times.empty() || now - record.last >= same_event) {
        std::erase_if(record.times, [&](base::Time t) { return now - t >= record.rule->within; });
        if (record.times.size() == most_times) record.times.erase(record.times.begin());
        record.times.push_back(now);
    }
    record.last = now;
    judge(record, *rule, fresh);
}

void Events::judge_again(const Find& find) {
    for (auto at = records_.begin(); at != records_.end();) {
        at->second.rule = find(at->second.event);
        if (at->second.rule == nullptr) {
            at = records_.erase(at);
            continue;
        }
        judge(at->second, *at->second.rule, true);
        ++at;
    }
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
        held.push_back({&record.event, record.rule, record.severity, record.first});
    return held;
}

std::vector<Finding> Events::holding(base::Time now) {
    forget(now);
    std::vector<Finding> findings;
    for (const auto& [key, record] : records_) {
        const auto& rule = *record.rule;
        auto text = evidence(rule, record.event, rule.value, 0);
        if (record.times.size() > 1)
            text += fmt::format("; {} times within {}", record.times.size(), period(rule.within));
        if (!record.event.text.empty()) text += fmt::format(" [{}]", record.event.text);
        findings.push_back({key.first, key.second, record.severity, record.first, std::move(text),
                            std::string(to_string(rule.fault))});
    }
    return findings;
}

} // namespace restart
