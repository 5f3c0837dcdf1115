// The lock next to the journal: its connections belong to one process, which SQLite's WAL requires also on
// shared storage. The lock ends with its process, however that ends.
#pragma once

#include "base/expected.hpp"
#include "base/unique_fd.hpp"

#include <filesystem>
#include <string>

namespace restart {

// The lease's folder.
std::filesystem::path lease_beside(const std::filesystem::path& journal);

class JournalLock {
public:
    // Errors: Code::unavailable when another process holds it, with its number; the system's. Makes the
    // journal's directory if only that is missing.
    static base::Expected<JournalLock> take(const std::filesystem::path& journal);

    // For the holder of the lease, when a process that may no longer act still has the lock (it is stopped,
    // or hangs): takes the journal away from it. Its content is copied to new files, which take the old names
    // with a new lock: whatever that process still writes goes to files without a name. After a kill at any
    // point a complete journal is left. Errors: the system's or SQLite's.
    static base::Expected<JournalLock> seize(const std::filesystem::path& journal);

    // It was not taken away.
    bool holds() const;
    // Whether a previous owner of the lock on any machine has certainly ended: the file system is local to
    // this machine.
    bool tells_of_all() const;

private:
    explicit JournalLock(base::UniqueFd fd) : fd_(std::move(fd)) {}
    base::UniqueFd fd_;
};

} // namespace restart
