// What the resource manager's accounting grants users, cached: so that requests do not flood it, and callers
// seldom wait when it does not answer.
//
// An answer is valid for 10 s, and for ten minutes if no other comes. At most one query is under way for each
// user; after a failed one there is none for 5 s. At most a thousand users are kept.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "restart/core/facts/rm.hpp"

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace restart {

class RmUsers {
public:
    // Asks for a user by name; waits for `patience` at most. Called without any lock, by several threads.
    using Ask = std::function<base::Expected<RmUser>(const std::string& name, base::Duration patience)>;
    explicit RmUsers(Ask ask) : ask_(std::move(ask)) {}

    // None: no answer within `patience`, and nothing is known. Any thread.
    std::optional<RmUser> find(std::uint32_t uid, const std::string& name, base::Duration patience);

private:
    using Steady = std::chrono::steady_clock::time_point;
    struct Entry {
        std::optional<RmUser> user;
        Steady asked{}; // when the answer was requested
        bool under_way = false;
    };
    void make_room();
    static std::optional<RmUser> known(const Entry& entry, Steady now);

    Ask ask_;
    std::mutex mutex_; // protects what follows; not held while asking
    std::condition_variable answered_;
    std::map<std::uint32_t, Entry> entries_;
    Steady not_before_{}; // after a failed query
};

} // namespace restart
