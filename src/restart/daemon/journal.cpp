#include "restart/daemon/journal.hpp"

#include "base/file.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace restart {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t application_id = 0x5261696c; // "Rail", in the file's header

constexpr const char* schema = R"(
CREATE TABLE rows (                       -- of the state (state_rows.hpp)
    key TEXT PRIMARY KEY,
    json TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE notes (
    id INTEGER PRIMARY KEY,
    time INTEGER NOT NULL,                -- ms since the epoch, as all times
    kind TEXT NOT NULL,                   -- signal, decision, action, outcome
    incident TEXT NOT NULL,               -- '' when of none
    host TEXT NOT NULL,
    job INTEGER NOT NULL,                 -- 0 when of none
    text TEXT NOT NULL
);
CREATE INDEX notes_incident ON notes (incident) WHERE incident <> '';
CREATE INDEX notes_host ON notes (host) WHERE host <> '';
CREATE INDEX notes_job ON notes (job) WHERE job <> 0;
CREATE TABLE intents (
    id TEXT PRIMARY KEY,
    incident TEXT NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'done', 'failed')),
    tries INTEGER NOT NULL,
    created INTEGER NOT NULL,
    finished INTEGER NOT NULL,            -- 0 while pending
    error TEXT NOT NULL
);
CREATE INDEX intents_incident ON intents (incident);
)";

constexpr const char* from_version_1 = R"(
CREATE TABLE rows (key TEXT PRIMARY KEY, json TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX intents_incident ON intents (incident);
DROP TABLE state;
)";

constexpr std::string_view way_out = "move it away to begin anew (hosts and jobs are read from the resource "
                                     "manager again, the history is lost), "
                                     "or restore a copy";

base::Error named(const fs::path& path, base::Code code, std::string_view text) {
    return {code, fmt::format("{}: {}", path.string(), text)};
}

// The lock is the open file's, so it ends with the process, however that ends.
base::Expected<base::UniqueFd> lock_beside(const fs::path& path) {
    const auto name = path.string() + ".lock";
    base::UniqueFd fd(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!fd) return base::system_error(name, errno);
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK) return base::system_error(name, errno);
        std::array<char, 32> pid{};
        const auto n = ::pread(fd.get(), pid.data(), pid.size() - 1, 0);
        const std::string_view holder(pid.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
        return named(
            path, base::Code::unavailable,
            fmt::format(
                "another restartd holds this journal (process {}): stop it, or give this one a journal "
                "of its own (restartd.journal)",
                holder.substr(0, holder.find('\n'))));
    }
    const auto pid = fmt::format("{}\n", ::getpid());
    if (::ftruncate(fd.get(), 0) != 0 || ::pwrite(fd.get(), pid.data(), pid.size(), 0) < 0)
        return base::system_error(name, errno);
    return fd;
}

// A new journal is made under another name and then renamed: whatever stands under its own name was whole
// once.
base::Expected<void> create(const fs::path& path) {
    const fs::path fresh = path.string() + ".new";
    std::error_code failed;
    fs::remove(fresh, failed);
    {
        auto database = Database::open(fresh, Database::Open::create);
        if (!database) return named(path, base::Code::io, database.error().text);
        const auto done =
            database->execute(fmt::format("PRAGMA synchronous = FULL; BEGIN; {} PRAGMA application_id = {}; "
                                          "PRAGMA user_version = {}; COMMIT;",
                                          schema, application_id, Journal::version));
        if (!done) return named(path, done.error().code, done.error().text);
    }
    if (::rename(fresh.c_str(), path.c_str()) != 0) return base::system_error(path.string(), errno);
    base::UniqueFd parent(::open(path.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (parent) ::fsync(parent.get());
    return {};
}

// Nothing is written before all of this held.
base::Expected<void> check(Database& database, const fs::path& path) {
    const auto damaged = [&](std::string_view why) {
        return named(path, base::Code::input, fmt::format("the journal is damaged ({}): {}", why, way_out));
    };
    const auto id = database.value("PRAGMA application_id");
    if (!id && id.error().code == base::Code::input)
        return named(path, base::Code::input,
                     fmt::format("is not a journal ({}): {}", id.error().text, way_out));
    if (!id) return named(path, id.error().code, id.error().text);
    if (*id != std::to_string(application_id))
        return named(path, base::Code::input, fmt::format("is a database of another program: {}", way_out));
    const auto stored = database.value("PRAGMA user_version");
    if (!stored) return damaged(stored.error().text);
    const auto number = base::parse_count(*stored);
    if (!number || *number > static_cast<std::uint64_t>(Journal::version))
        return named(
            path, base::Code::input,
            fmt::format(
                "was written by a newer restartd (journal version {}, this one knows {}): install that "
                "release again, or {}",
                *stored, Journal::version, way_out));
    const auto sound = database.value("PRAGMA quick_check(1)");
    if (!sound) return damaged(sound.error().text);
    if (*sound != "ok") return damaged(*sound);
    const auto tables = database.value(
        "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('state', 'rows', 'notes', 'intents')");
    if (!tables) return damaged(tables.error().text);
    if (base::parse_count(*tables).value_or(0) < 3) return damaged("a table is missing");
    return {};
}

base::Expected<void> put_rows(Database& database, const std::vector<StateRow>& rows) {
    if (rows.empty()) return {};
    auto put = database.prepare("INSERT INTO rows VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET json = ?2");
    if (!put) return std::move(put).error();
    auto remove = database.prepare("DELETE FROM rows WHERE key = ?1");
    if (!remove) return std::move(remove).error();
    for (const auto& row : rows) {
        auto done = row.json.empty() ? remove->bind(1, row.key).run()
                                     : put->bind(1, row.key).bind(2, row.json).run();
        if (!done) return done;
    }
    return {};
}

base::Error not_understood(const fs::path& path, const base::Error& error) {
    return named(path, base::Code::input,
                 fmt::format("the stored state cannot be understood: {}: move the file away to begin anew (hosts and "
                             "jobs are read from the resource manager again), or install the release that wrote it",
                             error.text));
}

// Version 1 had the state as one text in a table of one row.
base::Expected<void> take_up_version_1(Database& database) {
    const auto text = database.value("SELECT json FROM state");
    if (!text) return text.error();
    std::vector<StateRow> rows;
    if (!text->empty()) {
        const auto state = State::from_json(*text);
        if (!state) return state.error();
        rows = StateRows().changes(*state);
    }
    auto done = database.execute(from_version_1);
    if (done) done = put_rows(database, rows);
    return done;
}

base::Expected<void> take_up(Database& database, const fs::path& path) {
    const auto stored = database.value("PRAGMA user_version");
    if (!stored) return named(path, stored.error().code, stored.error().text);
    if (*stored == std::to_string(Journal::version)) return {};
    auto done = database.execute("BEGIN IMMEDIATE");
    if (done) done = take_up_version_1(database);
    if (done) done = database.execute(fmt::format("PRAGMA user_version = {}; COMMIT", Journal::version));
    if (done) return {};
    if (auto undone = database.execute("ROLLBACK"); !undone) {} // the file stays as it was either way
    if (done.error().code == base::Code::input) return not_understood(path, done.error());
    return named(path, done.error().code, done.error().text);
}

std::int64_t stamp(base::Time time) {
    return time.time_since_epoch().count();
}
base::Time unstamp(std::int64_t number) {
    return base::Time(base::Duration(number));
}

NoteKind kind_of(std::string_view word) {
    for (const auto kind : {NoteKind::signal, NoteKind::decision, NoteKind::action})
        if (word == to_string(kind)) return kind;
    return NoteKind::outcome;
}

} // namespace

base::Expected<Journal> Journal::open(const fs::path& given) {
    std::error_code failed;
    const auto path = fs::absolute(given, failed);
    if (failed) return named(given, base::Code::io, failed.message());
    fs::create_directory(path.parent_path(), failed); // /var/lib/railyard; what is above must be there
    auto lock = lock_beside(path);
    if (!lock) return std::move(lock).error();
    const bool exists = fs::exists(fs::symlink_status(path, failed));
    if (!exists) {
        if (auto made = create(path); !made) return std::move(made).error();
    } else if (fs::is_regular_file(path, failed) && fs::file_size(path, failed) == 0) {
        return named(path, base::Code::input, fmt::format("the journal is truncated (0 bytes): {}", way_out));
    } else if (::access(path.c_str(), R_OK | W_OK) != 0) {
        return base::system_error(path.string(), errno);
    }
    auto database = Database::open(path, Database::Open::existing);
    if (!database) return named(path, database.error().code, database.error().text);
    if (auto sound = check(*database, path); !sound) return std::move(sound).error();
    for (const char* pragma : {"PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL",
                               "PRAGMA temp_store = MEMORY", "PRAGMA journal_size_limit = 67108864"}) {
        if (auto done = database->value(pragma); !done)
            return named(path, done.error().code, done.error().text);
    }
    if (auto done = take_up(*database, path); !done) return std::move(done).error();
    auto reading = Database::open(path, Database::Open::existing);
    if (!reading) return named(path, reading.error().code, reading.error().text);
    if (auto done = reading->execute("PRAGMA query_only = 1"); !done)
        return named(path, done.error().code, done.error().text);
    return Journal(path, *std::move(lock), *std::move(database), *std::move(reading));
}

base::Error Journal::fail(base::Error error) const {
    auto text = error.text;
    if (error.code == base::Code::unavailable && text.find("full") != std::string::npos)
        text += ": free space on its file system";
    return {error.code, fmt::format("{}: {}", path_.string(), text)};
}

base::Expected<std::optional<State>> Journal::state() {
    auto read = database_.prepare("SELECT key, json FROM rows");
    if (!read) return fail(std::move(read).error());
    std::vector<StateRow> rows;
    for (;;) {
        const auto row = read->step();
        if (!row) return fail(row.error());
        if (!*row) break;
        rows.push_back({read->text(0), read->text(1)});
    }
    if (rows.empty()) return std::optional<State>();
    auto state = state_from_rows(rows);
    if (!state) return not_understood(path_, state.error());
    return std::optional<State>(*std::move(state));
}

base::Expected<void> Journal::commit(const Record& record, base::Time now) {
    if (auto begun = database_.execute("BEGIN IMMEDIATE"); !begun) return fail(std::move(begun).error());
    auto written = write(record, now);
    if (written) written = database_.execute("COMMIT");
    if (written) return {};
    if (auto undone = database_.execute("ROLLBACK"); !undone) {} // SQLite may have rolled back by itself
    return fail(std::move(written).error());
}

base::Expected<void> Journal::write(const Record& record, base::Time now) {
    if (auto done = put_rows(database_, record.rows); !done) return done;
    if (!record.notes.empty()) {
        auto insert = database_.prepare("INSERT INTO notes (time, kind, incident, host, job, text) "
                                        "VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
        if (!insert) return std::move(insert).error();
        for (const auto& note : record.notes) {
            insert->bind(1, stamp(note.time)).bind(2, to_string(note.kind)).bind(3, note.incident);
            insert->bind(4, note.host).bind(5, std::int64_t{note.job}).bind(6, note.text);
            if (auto done = insert->run(); !done) return done;
        }
    }
    if (!record.given.empty()) {
        auto insert = database_.prepare(
            "INSERT INTO intents VALUES (?1, ?2, ?3, ?4, 'pending', 1, ?5, 0, '') "
            "ON CONFLICT (id) DO UPDATE SET state = 'pending', tries = tries + 1, finished = 0");
        if (!insert) return std::move(insert).error();
        for (const auto& action : record.given) {
            insert->bind(1, action.id).bind(2, action.id.substr(0, action.id.find('/')));
            insert->bind(3, to_string(action.kind)).bind(4, describe(action)).bind(5, stamp(now));
            if (auto done = insert->run(); !done) return done;
        }
    }
    if (!record.outcomes.empty()) {
        auto update =
            database_.prepare("UPDATE intents SET state = ?2, finished = ?3, error = ?4 WHERE id = ?1");
        if (!update) return std::move(update).error();
        for (const auto& outcome : record.outcomes) {
            const std::string_view state = outcome.error.empty() ? "done"
                                           : outcome.final       ? "failed"
                                                                 : "pending";
            update->bind(1, outcome.action).bind(2, state);
            update->bind(3, state == "pending" ? 0 : stamp(now)).bind(4, outcome.error);
            if (auto done = update->run(); !done) return done;
        }
    }
    return {};
}

base::Expected<bool> Journal::forget(base::Time before) {
    // The oldest have the lowest ids: only these are looked at, however many there are.
    constexpr std::int64_t batch = 5000;
    bool more = false;
    for (const char* sql :
         {"DELETE FROM notes WHERE id IN (SELECT id FROM (SELECT id, time FROM notes ORDER BY id LIMIT ?2) WHERE time < ?1)",
          "DELETE FROM intents WHERE rowid IN (SELECT rowid FROM (SELECT rowid, finished FROM intents ORDER BY rowid "
          "LIMIT ?2) WHERE finished BETWEEN 1 AND ?1)"}) {
        auto remove = database_.prepare(sql);
        if (!remove) return fail(std::move(remove).error());
        if (auto done = remove->bind(1, stamp(before)).bind(2, batch).run(); !done)
            return fail(std::move(done).error());
        const auto removed = database_.value("SELECT changes()");
        if (!removed) return fail(removed.error());
        more = more || *removed == std::to_string(batch);
    }
    return more;
}

base::Expected<std::vector<Note>> Journal::notes(const NoteFilter& filter) {
    // An incident's notes belong to each of its hosts and jobs, except those about another job.
    const std::lock_guard lock(reading_->mutex);
    auto read = reading_->database.prepare("SELECT time, kind, incident, host, job, text FROM notes WHERE"
                                  " (?1 = '' OR host = ?1 OR incident IN (SELECT incident FROM notes WHERE "
                                  "host = ?1 AND incident <> ''))"
                                  " AND (?2 = 0 OR job = ?2 OR (job = 0 AND incident IN (SELECT incident "
                                  "FROM notes WHERE job = ?2 AND incident <> '')))"
                                  " AND (?3 = '' OR incident = ?3)"
                                  " ORDER BY id DESC LIMIT ?4");
    if (!read) return fail(std::move(read).error());
    read->bind(1, filter.host).bind(2, std::int64_t{filter.job}).bind(3, filter.incident);
    read->bind(4, static_cast<std::int64_t>(filter.most));
    std::vector<Note> notes;
    for (;;) {
        const auto row = read->step();
        if (!row) return fail(row.error());
        if (!*row) break;
        notes.push_back({unstamp(read->number(0)), kind_of(read->text(1)), read->text(2), read->text(3),
                         static_cast<std::uint32_t>(read->number(4)), read->text(5)});
    }
    std::reverse(notes.begin(), notes.end());
    return notes;
}

base::Expected<std::vector<StoredAction>> Journal::intents(const std::string& incident, std::size_t most) {
    const std::lock_guard lock(reading_->mutex);
    auto read = reading_->database.prepare(
        "SELECT id, incident, kind, text, state, tries, created, finished, error FROM intents "
        "WHERE ?1 = '' OR incident = ?1 ORDER BY created DESC, rowid DESC LIMIT ?2");
    if (!read) return fail(std::move(read).error());
    read->bind(1, incident).bind(2, static_cast<std::int64_t>(most));
    std::vector<StoredAction> intents;
    for (;;) {
        const auto row = read->step();
        if (!row) return fail(row.error());
        if (!*row) return intents;
        StoredAction intent{read->text(0),
                            read->text(1),
                            read->text(2),
                            read->text(3),
                            read->text(4),
                            static_cast<std::uint32_t>(read->number(5)),
                            unstamp(read->number(6)),
                            {},
                            read->text(8)};
        if (read->number(7) != 0) intent.finished = unstamp(read->number(7));
        intents.push_back(std::move(intent));
    }
}

} // namespace restart
