// Cached look-ups of users, so that a directory service is not queried at every reading.
#pragma once

#include <chrono>
#include <map>
#include <optional>

namespace restart {

template <class Key, class Value> class LookedUp {
public:
    using Time = std::chrono::steady_clock::time_point;
    // After this, what was not found is looked up again: the service may have been away.
    static constexpr std::chrono::minutes again{1};

    // `find(key)` returns std::optional<Value>. nullopt: not found, now or less than a minute ago.
    template <class Find> std::optional<Value> of(const Key& key, Time now, Find find) {
        auto& entry = entries_[key];
        if (!entry.value && (!entry.asked || now - *entry.asked >= again)) {
            entry.asked = now;
            entry.value = find(key);
        }
        return entry.value;
    }

private:
    struct Entry {
        std::optional<Value> value;
        std::optional<Time> asked;
    };
    std::map<Key, Entry> entries_;
};

} // namespace restart
