// restartd's journal: what it knew, intended, did and why, in one SQLite file that survives a kill at any
// moment.
//
// The result of steps (rows of the state, notes, actions, the outcomes they were given) is one transaction,
// on disk (WAL, synchronous=FULL) before any of the actions is performed. The file belongs to one restartd at
// a time (journal_lock.hpp). A file that is not a valid journal is never written to. One thread may write
// while others read: they have their own connection.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "restart/core/facts/action.hpp"
#include "restart/core/facts/note.hpp"
#include "restart/core/facts/rights.hpp"
#include "restart/core/store/state_rows.hpp"
#include "restart/daemon/database.hpp"
#include "restart/daemon/journal_lock.hpp"
#include "restart/wire/status.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace restart {

// The outcome of an action; `error` is empty if it was done.
struct Outcome {
    std::string action;
    std::string error;
    bool final = true; // false: it will be tried again
};

// The result of one or more steps.
struct Record {
    std::vector<StateRow> rows; // that changed in the state
    std::vector<Note> notes;
    std::vector<Action> given;
    std::vector<Outcome> outcomes;
    // The input and output of step() (core/event_log.hpp); if `began` is set, the stream of a new segment,
    // from that state.
    std::string events;
    std::shared_ptr<const State> began;
    bool continues = true; // nothing is missing between this segment and the one before
    bool empty() const {
        return rows.empty() && notes.empty() && given.empty() && outcomes.empty() && events.empty() && !began;
    }
};

// Who may write: the lease's epoch and owner (lease.hpp).
struct Fence {
    std::uint64_t epoch = 0;
    std::string owner;
    bool operator==(const Fence&) const = default;
};

// Selects notes; empty is any.
struct NoteFilter {
    std::string host{};               // of this host and of its incidents
    std::optional<base::JobId> job{}; // of this job and of its incidents, other jobs left out
    std::string incident{};
    View view{};             // of the reader: what they may not see is not read
    std::size_t most = 1000; // the newest ones
};

class Journal {
public:
    // 1 kept the state in one text, 2 not the jobs' owners, 3 not who may write, 4 no events.
    static constexpr int version = 5;

    // Opens or makes the journal. Errors name the file and the fix: Code::unavailable when another restartd
    // holds it; Code::input when it is truncated, damaged, another program's or a newer version's; Code::io
    // when it cannot be read or made.
    static base::Expected<Journal> open(const std::filesystem::path& path);
    // For a caller that has its lock already.
    static base::Expected<Journal> open(const std::filesystem::path& path, JournalLock lock);

    // Who last took it over; epoch 0: no one yet.
    base::Expected<Fence> fence();
    // From here on this one writes: commits of others are refused, and this one's as soon as another has
    // taken over.
    base::Expected<void> take_over(const Fence& fence);

    const std::filesystem::path& path() const { return path_; }

    // The state last committed; none in a new journal. Errors: also Code::input when it cannot be understood.
    base::Expected<std::optional<State>> state();

    // All of the record or, after an error, none of it (Code::unavailable: disk full and the like; try again.
    // Code::denied: another has taken the journal over). After an error an
    // empty record also tests whether the journal can be written again.
    base::Expected<void> commit(const Record& record, base::Time now);

    // How many bytes of events are kept; the oldest segments are removed. 0: none are written.
    void keep_events(std::uint64_t bytes) { keep_events_ = bytes; }

    // Removes notes and finished actions older than this, the oldest first, some thousands at most. Returns
    // whether there are more.
    base::Expected<bool> forget(base::Time before);

    // In order of time. Any thread.
    base::Expected<std::vector<Note>> notes(const NoteFilter& filter);
    // Newest first, of all incidents or of one, within `view`. Any thread.
    base::Expected<std::vector<StoredAction>> intents(const std::string& incident, const View& view = {},
                                                      std::size_t most = 1000);

private:
    // A connection that only reads, for one thread at a time.
    struct Reading {
        Database database;
        std::mutex mutex;
        explicit Reading(Database held) : database(std::move(held)) {}
    };
    Journal(std::filesystem::path path, JournalLock lock, Database database, Database reading)
        : path_(std::move(path)), lock_(std::move(lock)), database_(std::move(database)),
          reading_(std::make_unique<Reading>(std::move(reading))) {}
    base::Expected<void> check_fence();
    base::Expected<void> write_events(const Record& record, base::Time now);
    base::Expected<void> write(const Record& record, base::Time now);
    base::Error fail(base::Error error) const;

    std::filesystem::path path_;
    JournalLock lock_;
    Database database_;
    std::unique_ptr<Reading> reading_;
    std::optional<Fence> fence_;
    bool failed_ = false; // the last commit
    std::uint64_t keep_events_ = 0;
    std::int64_t segment_ = 0; // that events go into; 0: none yet
};

// The events of a journal, from one state to the next.
struct EventSegment {
    base::Time begun{};
    std::string state; // as written by to_json() (state_json.hpp)
    std::string release;
    bool continues = true; // as in Record
};

// Passes the events of a journal on in order, until `enough` returns true: for each segment its head and then
// its bytes, in parts. The journal may be in use. Errors: those of the callbacks; Code::input when it cannot
// be read or is a newer release's; Code::unfit when it has no events.
base::Expected<void> read_events(const std::filesystem::path& journal,
                                 const std::function<base::Expected<void>(const EventSegment&)>& begin,
                                 const std::function<base::Expected<void>(std::string_view)>& part,
                                 const std::function<bool()>& enough);

} // namespace restart
