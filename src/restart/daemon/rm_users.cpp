#include "restart/daemon/rm_users.hpp"

#include <algorithm>

namespace restart {
namespace {

using namespace std::chrono_literals;

constexpr auto fresh = 10s;
constexpr auto stale = 10min;
constexpr auto pause = 5s;            // after a failure
constexpr base::Duration enough = 1s; // a caller that waits for less may have been too impatient
constexpr std::size_t most_users = 1000;

} // namespace

std::optional<RmUser> RmUsers::known(const Entry& entry, Steady now) {
    return entry.user && now - entry.asked < stale ? entry.user : std::nullopt;
}

// Queries under way have waiting callers and stay.
void RmUsers::make_room() {
    while (entries_.size() > most_users) {
        auto oldest = entries_.end();
        for (auto entry = entries_.begin(); entry != entries_.end(); ++entry)
            if (!entry->second.under_way &&
                (oldest == entries_.end() || entry->second.asked < oldest->second.asked))
                oldest = entry;
        if (oldest == entries_.end()) return;
        entries_.erase(oldest);
    }
}

std::optional<RmUser> RmUsers::find(std::uint32_t uid, const std::string& name, base::Duration patience) {
    std::unique_lock lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    auto& entry = entries_[uid]; // a map's entries do not move
    if (entry.user && now - entry.asked < fresh) return entry.user;
    if (entry.under_way) {
        answered_.wait_for(lock, patience, [&] {
            const auto found = entries_.find(uid);
            return found == entries_.end() || !found->second.under_way;
        });
        const auto found = entries_.find(uid);
        return found == entries_.end() ? std::nullopt
                                       : known(found->second, std::chrono::steady_clock::now());
    }
    if (now < not_before_) {
        auto held = known(entry, now);
        if (!entry.user) entries_.erase(uid);
        return held;
    }
    entry.under_way = true;
    lock.unlock();
    auto answer = ask_(name, patience);
    lock.lock();
    entry.under_way = false;
    if (answer) {
        entry.user = *std::move(answer);
        entry.asked = now;
    } else if (patience >= enough) {
        not_before_ = std::chrono::steady_clock::now() + pause;
    }
    auto held = known(entry, now);
    if (!entry.user) entries_.erase(uid);
    make_room();
    lock.unlock();
    answered_.notify_all();
    return held;
}

} // namespace restart
