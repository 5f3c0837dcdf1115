// The lock beside the journal: its connections are of one process, which is what SQLite's WAL asks for also
// on shared storage. It ends with its process, however that ends.
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
    // journal's directory when only that is missing.
    static base::Expected<JournalLock> take(const std::filesystem::path& journal);

    // For the holder of the lease, when a process that no longer may act still has the lock (it is stopped,
    // or hangs): takes the journal away from it. Its content is copied to new files, which take the old names
    // with a new lock: whatever that process still writes goes to files without a name. A kill at any point
    // leaves a whole journal behind. Errors: the system's or SQLite's.
    static base::Expected<JournalLock> seize(const std::filesystem::path& journal);

    // It was not taken away.
    bool holds() const;
    // Whether a process that had the lock before on any machine that may have it has certainly ended: the
    // file system is this machine's own.
    bool tells_of_all() const;

private:
    explicit JournalLock(base::UniqueFd fd) : fd_(std::move(fd)) {}
    base::UniqueFd fd_;
};

} // namespace restart
