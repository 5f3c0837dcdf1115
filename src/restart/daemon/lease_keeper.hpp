// Holds the lease for this restartd, or watches until it can be taken (lease.hpp), on its own thread: storage
// that hangs stops only that thread, and the clock alone shows whether this restartd may act.
#pragma once

#include "base/expected.hpp"
#include "restart/daemon/lease_folder.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace restart {

struct LeaseOptions {
    std::filesystem::path folder;
    base::Duration lease{10'000}; // after which another may take over
    std::string url;              // where this restartd serves, for display
    // Called on the keeper's thread before a claim: whether no one can hold the lease, whatever its record
    // (none: there is none) says.
    std::function<bool(const std::optional<LeaseRecord>&)> free;
};

// As in LeaseRecord.
std::string boot_of_this_machine();

// What is known about the lease now.
struct LeaseStanding {
    Lease::Role role = Lease::Role::standby;
    bool acts = false;
    bool looked = false; // at the records, at least once
    std::uint64_t epoch = 0;
    std::optional<LeaseRecord> other; // not primary: the last one seen
    std::string trouble;              // of the storage, last seen; empty: none
};

class LeaseKeeper {
public:
    explicit LeaseKeeper(LeaseOptions options);
    LeaseKeeper(const LeaseKeeper&) = delete;
    LeaseKeeper& operator=(const LeaseKeeper&) = delete;
    ~LeaseKeeper(); // the lease stays as it is: it expires

    // None of these waits for storage. Any thread.
    bool acts() const;
    LeaseStanding standing() const;
    LeaseRecord self() const;
    // Waits until it is the primary or has found that it cannot be now, at most `longest`.
    void wait_until_known(base::Duration longest) const;
    void raise(std::uint64_t above);

    // Stops acting and gives the lease back, if possible within `patience`.
    void release(base::Duration patience);

private:
    struct Work;
    std::shared_ptr<Work> work_; // shared with the thread, which may hang for ever
};

} // namespace restart
