// Who of several restartds acts: the rules of the lease, without I/O and without a clock.
//
// A folder in the shared state directory has a small file for each epoch, named by its number. Whoever makes
// the file of the next epoch, which fails when it is there, holds the lease under that number; the record in
// it has its owner and a beat that rises with each renewal. Locks of a shared file system are not trusted
// alone, and no two hosts' clocks are compared: each side measures by its own, which counts a suspend too.
//
//  * The holder replaces its record every `renew`. It acts for `hold` from the moment at which it began the
//    last renewal that succeeded, and not a moment longer: storage that hangs ends that by itself. Who has
//    lapsed, or sees a later epoch, never acts again in this life.
//  * Another makes the next epoch when the record of the last one has not changed for `expire` (longer than
//    `hold`), at once when its owner gave it back or is certainly dead. Each of these stays true for ever, so
//    that it does not matter how long it takes from there to the new file: of two who try one succeeds.
//
// A write that takes effect late, of a process that hung or is long dead, touches a file of its own epoch,
// which nobody looks at any more. The epoch fences what is stored, too: the journal refuses a commit of an
// older one (journal.hpp).
#pragma once

#include "base/clock.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace restart {

// Of one machine, steady, going on while it is suspended.
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
    std::string owner;       // one life of one restartd, like no other
    std::string host;        // of the owner, and
    std::string url;         // where it serves, for people
    std::string boot;        // of its machine (boot_id)
    std::uint64_t beat = 0;
    bool released = false; // given back: nobody holds it
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
        standby, // looks
        primary, // acts, while acts() says so
        ended    // lapsed, replaced or given back: for good
    };

    // `self`: with its owner, host, url and boot.
    Lease(LeaseTimes times, LeaseRecord self) : times_(times), self_(std::move(self)) {}

    // What is to be done next, at `at` or as soon after it as can be.
    struct Next {
        Time at{};
        std::optional<LeaseRecord> record; // to be put there; none: look
        bool claim = false; // its file must not be there yet; else it is the owner's to replace
    };
    Next next() const;

    // What a look that began and ended then found in the last epoch's file. `free`: nobody can hold the
    // lease whatever the record says, as when the owner is known to be dead; without a record only that lets
    // it be taken.
    void looked(const std::optional<LeaseRecord>& record, bool free, Time begin, Time end);
    // A look or a writing failed, or its outcome is not known.
    void failed(Time end);
    // What came of putting `record`, begun then: it was put, or there is a later epoch, or, for a claim,
    // that file.
    void put(bool done, const LeaseRecord& record, Time begin, Time end);

    // The lease is to be held no longer.
    void end() { role_ = Role::ended; }
    // The journal knows this epoch, as after the lease's files were lost: go on above it.
    void raise(std::uint64_t above);

    Role role() const { return role_; }
    // Whether what is begun now is begun by the only one.
    bool acts(Time now) const { return role_ == Role::primary && now < good_until_; }
    std::uint64_t epoch() const { return self_.epoch; }
    const LeaseRecord& self() const { return self_; }
    // The record last seen while standing by; none: there was none.
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
