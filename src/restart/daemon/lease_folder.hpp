// The lease's records in their folder (lease.hpp): a file for each epoch, named by its number, one line of
// JSON in each.
//
// Everything here may hang as long as the storage does: only LeaseKeeper's thread calls it.
#pragma once

#include "base/expected.hpp"
#include "restart/daemon/lease.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace restart {

std::string print(const LeaseRecord& record);
// An invalid record belongs to no one and is identified by its text: it expires like any other.
LeaseRecord parse_lease(std::uint64_t epoch, std::string_view text);

class LeaseFolder {
public:
    using Time = LeaseClock::time_point;
    // A record is prepared in its owner's own file, which then gets the epoch's name.
    LeaseFolder(std::filesystem::path path, std::string_view owner);

    // The record of the last epoch. None: there is none, or no folder. Errors: the system's.
    base::Expected<std::optional<LeaseRecord>> look() const;

    // Puts `record` on disk, begins at `begin`, makes its epoch's file, if it does not exist, and checks
    // whether that is the last epoch. False: it existed, or there is a later one.
    // Errors: the system's; then it may have been made or not.
    base::Expected<bool> claim(const LeaseRecord& record, Time& begin) const;
    // The same, replacing the file of this epoch and owner. False: there is a later one, or another owner's.
    base::Expected<bool> renew(const LeaseRecord& record, Time& begin) const;

    // Removes what killed owners have prepared, and epochs long before this one.
    void clear(std::uint64_t epoch) const;
    // Removes what this owner has prepared.
    void clear_own() const;

    const std::filesystem::path& path() const { return path_; }

private:
    base::Expected<void> prepare(const LeaseRecord& record) const;
    std::filesystem::path file_of(std::uint64_t epoch) const;

    std::filesystem::path path_, prepared_;
};

} // namespace restart
