// Which of several restartds acts: the rules of the lease, without I/O and without a clock.
//
// A folder in the shared state directory has a small file for each epoch, named by its number. A restartd
// that makes the file of the next epoch, which fails if it exists, holds the lease under that number; the
// record in it has its owner and a beat that rises with each renewal. Locks of a shared file system are not
// trusted alone, and hosts' clocks are not compared: each side uses its own, which also counts a suspend.
//
//  * The holder replaces its record every `renew`. It acts for `hold` from the moment at which it began the
//    last renewal that succeeded, and not a moment longer: if storage hangs this ends automatically. One that
//    has lapsed, or sees a later epoch, never acts again in this process.
//  * Another makes the next epoch when the record of the last one has not changed for `expire` (longer than
//    `hold`), at once when its owner gave it back or is certainly dead. Each of these stays true for ever, so
//    the time from then until the new file exists does not matter: of two that try one succeeds.
//
// A late write, of a process that hung or is long dead, affects a file of its own epoch, which is no longer
// read. The epoch also fences what is stored: the journal refuses a commit of an older one (journal.hpp).
#pragma once

#include "base/clock.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace restart {

// Of one machine, steady, also counting while it is suspended.
struct LeaseClock {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<LeaseClock>;
    static constexpr bool is_steady = true;
    static time_point now();
};

struct LeaseRecord {
    std::uint64_t epoch = 0; // from 1
    std::string owner;       // one process of one restartd, unique
    std::string host;        // of the owner, and
    std::string url;         // where it serves, for display
    std::string boot;        // of its machine (boot_id)
    std::uint64_t beat = 0;
    bool released = false; // given back: no one holds it
    bool operator==(const LeaseRecord&) const = default;
};

struct LeaseTimes {
    base::Duration renew, hold, expire;
    // From [restartd] lease, the time after which another may take over.
    static LeaseTimes from(base::Duration lease);
};

class Lease {
public:
    using Time = LeaseClock::time_point;
    enum class Role {
        standby, // watches
        primary, // acts, while acts() says so
        ended    // lapsed, replaced or given back: permanently
    };

    // `self`: with its owner, host, url and boot.
    Lease(LeaseTimes times, LeaseRecord self) : times_(times), self_(std::move(self)) {}

    // The next thing to do, at `at` or as soon after it as possible.
    struct Next {
        Time at{};
        std::optional<LeaseRecord> record; // to be written; none: look
        bool claim = false;                // its file must not exist yet; else it is the owner's to replace
    };
    Next next() const;

    // The result of a look at the last epoch's file in this period. `free`: no one can hold the lease
    // whatever the record says, as when the owner is known to be dead; without a record only this allows
    // taking it.
    void looked(const std::optional<LeaseRecord>& record, bool free, Time begin, Time end);
    // A look or a write failed, or its outcome is not known.
    void failed(Time end);
    // The result of writing `record`, begun then: it was written, or there is a later epoch, or, for a claim,
    // that file.
    void put(bool done, const LeaseRecord& record, Time begin, Time end);

    // The lease is no longer held.
    void end() { role_ = Role::ended; }
    // The journal knows this epoch, as after the lease's files were lost: continue above it.
    void raise(std::uint64_t above);

    Role role() const { return role_; }
    // Whether something begun now is begun by the only one that acts.
    bool acts(Time now) const { return role_ == Role::primary && now < good_until_; }
    std::uint64_t epoch() const { return self_.epoch; }
    const LeaseRecord& self() const { return self_; }
    // The record last seen as a standby; none: there was none.
    const std::optional<LeaseRecord>& seen() const { return seen_; }

private:
    LeaseTimes times_;
    LeaseRecord self_; // as the file has it
    Role role_ = Role::standby;
    Time at_{};
    std::optional<LeaseRecord> seen_;
    std::optional<Time> seen_since_; // unchanged; none: nothing was seen yet
    bool claim_ = false;             // the next epoch may be made
    std::uint64_t above_ = 0;        // raise()
    Time good_until_{};
};

} // namespace restart
