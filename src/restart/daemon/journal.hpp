// restartd's journal: what it knew, intended, did and why, in one SQLite file that survives a kill at any
// moment.
//
// What steps leave behind (rows of the state, their notes, the actions they give, the outcomes they were told) is
// one transaction, on disk (WAL, synchronous=FULL) before any of the actions is performed. The file belongs to
// one restartd at a time: a lock file beside it is held, so that its connections are of one machine, which is
// what WAL asks for also on shared storage. A file that is not a sound journal is never written to.
// One thread may write while others read: they have a connection of their own.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "base/unique_fd.hpp"
#include "restart/core/action.hpp"
#include "restart/core/note.hpp"
#include "restart/core/state_rows.hpp"
#include "restart/daemon/database.hpp"
#include "restart/wire/status.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
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
    std::vector<StateRow> rows; // in which the state has changed
    std::vector<Note> notes;
    std::vector<Action> given;
    std::vector<Outcome> outcomes;
    bool empty() const { return rows.empty() && notes.empty() && given.empty() && outcomes.empty(); }
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
    static constexpr int version = 2; // 1 kept the state in one text

    // Opens or makes the journal. Errors name the file and the way out: Code::unavailable when another
    // restartd holds it; Code::input when it is truncated, damaged, another program's or a newer version's;
    // Code::io when it cannot be read or made.
    static base::Expected<Journal> open(const std::filesystem::path& path);

    const std::filesystem::path& path() const { return path_; }

    // The state last committed; none in a new journal. Errors: also Code::input when it cannot be understood.
    base::Expected<std::optional<State>> state();

    // All of the record or, after an error, none of it (Code::unavailable: disk full and the like; try
    // again).
    base::Expected<void> commit(const Record& record, base::Time now);

    // Removes notes and actions that are done from before this time, the oldest first, some thousands at most. Whether
    // there are more.
    base::Expected<bool> forget(base::Time before);

    // In order of time. Any thread.
    base::Expected<std::vector<Note>> notes(const NoteFilter& filter);
    // Newest first, of all incidents or of one. Any thread.
    base::Expected<std::vector<StoredAction>> intents(const std::string& incident, std::size_t most = 1000);

private:
    // A connection that only reads, for one thread at a time.
    struct Reading {
        Database database;
        std::mutex mutex;
        explicit Reading(Database held) : database(std::move(held)) {}
    };
    Journal(std::filesystem::path path, base::UniqueFd lock, Database database, Database reading)
        : path_(std::move(path)), lock_(std::move(lock)), database_(std::move(database)),
          reading_(std::make_unique<Reading>(std::move(reading))) {}
    base::Expected<void> write(const Record& record, base::Time now);
    base::Error fail(base::Error error) const;

    std::filesystem::path path_;
    base::UniqueFd lock_;
    Database database_;
    std::unique_ptr<Reading> reading_;
};

} // namespace restart
