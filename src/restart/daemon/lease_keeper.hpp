// Holds the lease for this restartd, or looks until it can be taken (lease.hpp), on a thread of its own:
// storage that hangs stops that thread and nothing else, and whoever asks learns from the clock alone whether
// this restartd may act.
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
    std::string url;              // where this restartd serves, for people
    // Called on the keeper's thread before a claim: whether nobody can hold the lease, whatever its record
    // (none: there is none) says.
    std::function<bool(const std::optional<LeaseRecord>&)> free;
};

// As in LeaseRecord.
std::string boot_of_this_machine();

// What is known of the lease now.
struct LeaseStanding {
    Lease::Role role = Lease::Role::standby;
    bool acts = false;
    bool looked = false; // at the records, at least once
    std::uint64_t epoch = 0;
    std::optional<LeaseRecord> other; // not primary: the last one seen
    std::string trouble;              // of the storage, as last met; empty: none
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
    // Waits until it is the primary or has seen that it cannot be now, `longest` at most.
    void wait_until_known(base::Duration longest) const;
    void raise(std::uint64_t above);

    // Acts no more and gives the lease back, if that can be done within `patience`.
    void release(base::Duration patience);

private:
    struct Work;
    std::shared_ptr<Work> work_; // of the thread too, which may hang for ever
};

} // namespace restart
