#include "restart/daemon/signal_book.hpp"

#include <algorithm>
#include <utility>

namespace restart {
namespace {

// The reply with the request may be lost, or the answer to it: the request is repeated, but not while an
// answer is under way.
constexpr unsigned reports_a_question = 4;

} // namespace

// With mutex_ held, all of these.
void SignalBook::forget(Steady now) {
    for (auto& [host, entry] : entries_) {
        if (entry.asked && now - *entry.asked >= patience) entry.asked.reset();
        if (entry.older && now - *entry.older >= fresh) entry.older.reset();
        if (entry.told && now - *entry.told >= keep) {
            entry.told.reset();
            entry.signals.reset();
        }
    }
    std::erase_if(entries_,
                  [](const auto& one) { return !one.second.asked && !one.second.older && !one.second.told; });
}

bool SignalBook::may_ask() const {
    const auto asked = std::count_if(entries_.begin(), entries_.end(),
                                     [](const auto& one) { return one.second.asked.has_value(); });
    return static_cast<std::size_t>(asked) < most_asked;
}

void SignalBook::make_room() {
    if (entries_.size() < most_kept) return;
    auto oldest = entries_.end();
    for (auto at = entries_.begin(); at != entries_.end(); ++at) {
        if (at->second.asked) continue;
        if (oldest == entries_.end() || at->second.told < oldest->second.told) oldest = at;
    }
    if (oldest != entries_.end()) entries_.erase(oldest); // there is one: fewer are asked than kept
}

SignalBook::Found SignalBook::found(const Entry& entry, Steady now) {
    Found found;
    if (entry.older)
        found.state = SignalsState::older;
    else if (entry.told && now - *entry.told < fresh)
        found.state = SignalsState::here;
    found.signals = entry.signals;
    if (entry.signals) found.came = entry.came;
    return found;
}

SignalBook::Found SignalBook::look(const std::string& host, Steady now) {
    const std::lock_guard lock(mutex_);
    forget(now);
    const auto entry = entries_.find(host);
    return entry == entries_.end() ? Found{} : found(entry->second, now);
}

SignalBook::Found SignalBook::ask(const std::string& host, Steady now) {
    const std::lock_guard lock(mutex_);
    forget(now);
    auto at = entries_.find(host);
    auto known = at == entries_.end() ? Found{} : found(at->second, now);
    if (known.state != SignalsState::asked || (at != entries_.end() && at->second.asked)) return known;
    if (!may_ask()) {
        known.state = SignalsState::busy;
        return known;
    }
    if (at == entries_.end()) {
        make_room();
        at = entries_.try_emplace(host).first;
    }
    at->second.asked = now;
    at->second.reports = 0;
    return known;
}

bool SignalBook::reported(const std::string& host, bool tells, Steady now) {
    const std::lock_guard lock(mutex_);
    const auto at = entries_.find(host);
    if (at == entries_.end() || !at->second.asked) return false;
    auto& entry = at->second;
    if (!tells) {
        entry.asked.reset();
        entry.older = now;
        return false;
    }
    return entry.reports++ % reports_a_question == 0;
}

base::Expected<void> SignalBook::take(HostSignals signals, Steady now, base::Time wall) {
    auto told = std::make_shared<const HostSignals>(std::move(signals));
    const std::lock_guard lock(mutex_);
    const auto at = entries_.find(told->host);
    if (at == entries_.end() || !at->second.asked)
        return base::Error{base::Code::unfit, "nobody has asked for the signals of this host"};
    auto& entry = at->second;
    entry.asked.reset();
    entry.told = now;
    entry.came = wall;
    entry.signals = std::move(told);
    return {};
}

} // namespace restart
