// restartd's journal: what it knew, intended, did and why, in one SQLite file that survives a kill at any
// moment.
//
// What a step leaves behind (the state, its notes, the actions it gives, the outcome it was told) is one
// transaction, on disk (WAL, synchronous=FULL) before any of the actions is performed. The file belongs to
// one restartd at a time: a lock file beside it is held, and SQLite's locking is exclusive, which also
// makes WAL safe on shared storage. A file that is not a sound journal is never written to.
// One thread at a time.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "base/unique_fd.hpp"
#include "restart/core/action.hpp"
#include "restart/core/note.hpp"
#include "restart/daemon/database.hpp"
#include "restart/wire/status.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace restart {

// What came of an action; `error` is empty when it was done.
struct Outcome {
    std::string action;
    std::string error;
    bool final = true; // false: it will be tried again
};

// What one or more steps leave behind.
struct Record {
    std::optional<std::string> state; // State::to_json(), the newest
    std::vector<Note> notes;
    std::vector<Action> given;
    std::vector<Outcome> outcomes;
    bool empty() const { return !state && notes.empty() && given.empty() && outcomes.empty(); }
};

// Which notes are wanted; empty or 0 is any.
struct NoteFilter {
    std::string host{};    // of this host and of its incidents
    std::uint32_t job = 0; // of this job and of its incidents, other jobs left out
    std::string incident{};
    std::size_t most = 1000; // the newest
};

class Journal {
public:
    static constexpr int version = 1;

    // Opens or makes the journal. Errors name the file and the way out: Code::unavailable when another
    // restartd holds it; Code::input when it is truncated, damaged, another program's or a newer version's;
    // Code::io when it cannot be read or made.
    static base::Expected<Journal> open(const std::filesystem::path& path);

    const std::filesystem::path& path() const { return path_; }

    // The state last committed; none in a new journal.
    base::Expected<std::optional<std::string>> state();

    // All of the record or, after an error, none of it (Code::unavailable: disk full and the like; try
    // again).
    base::Expected<void> commit(const Record& record, base::Time now);

    // In order of time.
    base::Expected<std::vector<Note>> notes(const NoteFilter& filter);
    // Newest first, of all incidents or of one.
    base::Expected<std::vector<StoredAction>> intents(const std::string& incident, std::size_t most = 1000);

private:
    Journal(std::filesystem::path path, base::UniqueFd lock, Database database)
        : path_(std::move(path)), lock_(std::move(lock)), database_(std::move(database)) {}
    base::Expected<void> write(const Record& record, base::Time now);
    base::Error fail(base::Error error) const;

    std::filesystem::path path_;
    base::UniqueFd lock_;
    Database database_;
};

} // namespace restart
