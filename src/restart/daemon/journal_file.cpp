#include "restart/daemon/journal_file.hpp"

#include "base/unique_fd.hpp"
#include "base/units.hpp"
#include "restart/core/store/state_json.hpp"
#include "restart/daemon/journal.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
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
    job INTEGER NOT NULL,                 -- 0 when of none; of an array's element a text, '12[3]'
    text TEXT NOT NULL,
    uid INTEGER NOT NULL,                 -- of the job; -1 when of none, -2 when it is not known
    account TEXT NOT NULL                 -- of the job, or ''
);
CREATE INDEX notes_incident ON notes (incident) WHERE incident <> '';
CREATE INDEX notes_host ON notes (host) WHERE host <> '';
CREATE INDEX notes_job ON notes (job) WHERE job <> 0;
CREATE INDEX notes_uid ON notes (uid) WHERE uid >= 0;
CREATE INDEX notes_account ON notes (account) WHERE account <> '';
CREATE TABLE intents (
    id TEXT PRIMARY KEY,
    incident TEXT NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'done', 'failed')),
    tries INTEGER NOT NULL,
    created INTEGER NOT NULL,
    finished INTEGER NOT NULL,            -- 0 while pending
    error TEXT NOT NULL,
    uid INTEGER NOT NULL,                 -- as above
    account TEXT NOT NULL
);
CREATE INDEX intents_incident ON intents (incident);
CREATE TABLE lease (                      -- of the restartd that may write, one row (lease.hpp)
    epoch INTEGER NOT NULL,
    owner TEXT NOT NULL
);
CREATE TABLE segments (                   -- of the events (core/event_log.hpp)
    id INTEGER PRIMARY KEY,
    begun INTEGER NOT NULL,
    release TEXT NOT NULL,
    continues INTEGER NOT NULL,
    state TEXT NOT NULL                   -- before the first event
);
CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    segment INTEGER NOT NULL,
    bytes BLOB NOT NULL
);
CREATE INDEX events_segment ON events (segment);
)";

constexpr const char* from_version_1 = R"(
CREATE TABLE rows (key TEXT PRIMARY KEY, json TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX intents_incident ON intents (incident);
DROP TABLE state;
)";

// Notes of hosts named jobs then: the jobs' owners are not known, either.
constexpr const char* from_version_2 = R"(
ALTER TABLE notes ADD COLUMN uid INTEGER NOT NULL DEFAULT -2;
ALTER TABLE notes ADD COLUMN account TEXT NOT NULL DEFAULT '';
ALTER TABLE intents ADD COLUMN uid INTEGER NOT NULL DEFAULT -2;
ALTER TABLE intents ADD COLUMN account TEXT NOT NULL DEFAULT '';
CREATE INDEX notes_uid ON notes (uid) WHERE uid >= 0;
CREATE INDEX notes_account ON notes (account) WHERE account <> '';
)";

constexpr const char* from_version_3 = "CREATE TABLE lease (epoch INTEGER NOT NULL, owner TEXT NOT NULL);";

constexpr const char* from_version_4 = R"(
CREATE TABLE segments (id INTEGER PRIMARY KEY, begun INTEGER NOT NULL, release TEXT NOT NULL,
    continues INTEGER NOT NULL, state TEXT NOT NULL);
CREATE TABLE events (id INTEGER PRIMARY KEY, segment INTEGER NOT NULL, bytes BLOB NOT NULL);
CREATE INDEX events_segment ON events (segment);
)";

constexpr std::string_view way_out = "move it away to begin anew (hosts and jobs are read from the resource "
                                     "manager again, the history is lost), "
                                     "or restore a copy";

// Version 1 had the state as one text in a table of one row.
base::Expected<void> take_up_version_1(Database& database) {
    const auto text = database.value("SELECT json FROM state");
    if (!text) return text.error();
    std::vector<StateRow> rows;
    if (!text->empty()) {
        const auto state = state_from_json(*text);
        if (!state) return state.error();
        rows = StateRows().changes(*state);
    }
    auto done = database.execute(from_version_1);
    if (done) done = put_rows(database, rows);
    return done;
}

} // namespace

base::Error named(const fs::path& path, base::Code code, std::string_view text) {
    return {code, fmt::format("{}: {}", path.string(), text)};
}

std::string truncated_journal() {
    return fmt::format("the journal is truncated (0 bytes): {}", way_out);
}

base::Expected<void> put_rows(Database& database, const std::vector<StateRow>& rows) {
    if (rows.empty()) return {};
    auto put = database.prepare("INSERT INTO rows VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET json = ?2");
    if (!put) return std::move(put).error();
    auto remove = database.prepare("DELETE FROM rows WHERE key = ?1");
    if (!remove) return std::move(remove).error();
    for (const auto& row : rows) {
        auto done =
            row.json.empty() ? remove->bind(1, row.key).run() : put->bind(1, row.key).bind(2, row.json).run();
        if (!done) return done;
    }
    return {};
}

base::Error not_understood(const fs::path& path, const base::Error& error) {
    return named(
        path, base::Code::input,
        fmt::format("the stored state cannot be understood: {}: move the file away to begin anew (hosts and "
                    "jobs are read from the resource manager again), or install the release that wrote it",
                    error.text));
}

base::Expected<void> create_journal(const fs::path& path) {
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
    if (::chmod(fresh.c_str(), 0600) != 0) return base::system_error(fresh.string(), errno);
    if (::rename(fresh.c_str(), path.c_str()) != 0) return base::system_error(path.string(), errno);
    base::UniqueFd parent(::open(path.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (parent) ::fsync(parent.get());
    return {};
}

base::Expected<void> check_journal(Database& database, const fs::path& path) {
    const auto damaged = [&](std::string_view why) {
        return named(path, base::Code::input, fmt::format("the journal is damaged ({}): {}", why, way_out));
    };
    // What cannot be read now may be intact.
    const auto unread = [&](const base::Error& error) {
        return error.code == base::Code::input ? damaged(error.text) : named(path, error.code, error.text);
    };
    const auto id = database.value("PRAGMA application_id");
    if (!id && id.error().code == base::Code::input)
        return named(path, base::Code::input,
                     fmt::format("is not a journal ({}): {}", id.error().text, way_out));
    if (!id) return named(path, id.error().code, id.error().text);
    if (*id != std::to_string(application_id))
        return named(path, base::Code::input, fmt::format("is a database of another program: {}", way_out));
    const auto stored = database.value("PRAGMA user_version");
    if (!stored) return unread(stored.error());
    const auto number = base::parse_count(*stored);
    if (!number || *number > static_cast<std::uint64_t>(Journal::version))
        return named(
            path, base::Code::input,
            fmt::format(
                "was written by a newer restartd (journal version {}, this one knows {}): install that "
                "release again, or {}",
                *stored, Journal::version, way_out));
    const auto sound = database.value("PRAGMA quick_check(1)");
    if (!sound) return unread(sound.error());
    if (*sound != "ok") return damaged(*sound);
    const auto tables = database.value("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN "
                                       "('state', 'rows', 'notes', 'intents')");
    if (!tables) return unread(tables.error());
    if (base::parse_count(*tables).value_or(0) < 3) return damaged("a table is missing");
    return {};
}

base::Expected<void> take_up_journal(Database& database, const fs::path& path) {
    const auto stored = database.value("PRAGMA user_version");
    if (!stored) return named(path, stored.error().code, stored.error().text);
    if (*stored == std::to_string(Journal::version)) return {};
    auto done = database.execute("BEGIN IMMEDIATE");
    if (done && *stored == "1") done = take_up_version_1(database);
    if (done && (*stored == "1" || *stored == "2")) done = database.execute(from_version_2);
    if (done && *stored != "4") done = database.execute(from_version_3);
    if (done) done = database.execute(from_version_4);
    if (done) done = database.execute(fmt::format("PRAGMA user_version = {}; COMMIT", Journal::version));
    if (done) return {};
    if (auto undone = database.execute("ROLLBACK"); !undone) {} // the file stays as it was in any case
    if (done.error().code == base::Code::input) return not_understood(path, done.error());
    return named(path, done.error().code, done.error().text);
}

} // namespace restart
