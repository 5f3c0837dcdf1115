// What the resource manager's accounting grants users, kept for a while: so that nobody's questions flood it,
// and nobody waits for one that does not answer more often than now and then.
//
// An answer serves for 10 s, and for ten minutes where no other comes. One question is under way for each
// user, however many ask; after one that failed nobody asks for 5 s. At most a thousand users are kept.
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

    // None: it could not be asked within `patience`, and nothing is known. Any thread.
    std::optional<RmUser> find(std::uint32_t uid, const std::string& name, base::Duration patience);

private:
    using Steady = std::chrono::steady_clock::time_point;
    struct Entry {
        std::optional<RmUser> user;
        Steady asked{}; // when the answer was asked for
        bool under_way = false;
    };
    void make_room();
    static std::optional<RmUser> known(const Entry& entry, Steady now);

    Ask ask_;
    std::mutex mutex_; // of all below; not held while asking
    std::condition_variable answered_;
    std::map<std::uint32_t, Entry> entries_;
    Steady not_before_{}; // after a question that failed
};

} // namespace restart
