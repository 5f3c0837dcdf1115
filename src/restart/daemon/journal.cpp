#include "restart/daemon/journal.hpp"

#include "base/file.hpp"
#include "base/units.hpp"
#include "restart/daemon/journal_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace restart {
namespace {

namespace fs = std::filesystem;

NoteKind kind_of(std::string_view word) {
    for (const auto kind : {NoteKind::signal, NoteKind::decision, NoteKind::action})
        if (word == to_string(kind)) return kind;
    return NoteKind::outcome;
}

// An incident's notes belong to each of its hosts and jobs, except those about another job. Each condition
// can use an index (these leave out what is empty): a journal of years is never scanned. A plain number stays
// a number, so that a journal has one form whatever release wrote it.
void bind_job(Statement& statement, int parameter, const std::optional<base::JobId>& job) {
    if (job && job->index() != 0)
        statement.bind(parameter, to_string(*job));
    else
        statement.bind(parameter, job ? static_cast<std::int64_t>(job->number()) : std::int64_t{0});
}

// A job's user; these two mean no one's and not known.
constexpr std::int64_t nobody = -1, unknown = -2;

std::int64_t uid_of(bool of_job, const std::optional<JobOwner>& owner) {
    return !of_job ? nobody : owner ? static_cast<std::int64_t>(owner->uid) : unknown;
}

// What this viewer sees, as a condition with the parameters ?5 (the user) and ?6 (accounts).
constexpr std::string_view their_own =
    "(uid = ?5 OR (account <> '' AND account IN (SELECT value FROM json_each(?6))))";

std::string notes_seen_by(const View& view) {
    if (view.all || (view.sees_events() && !view.hides.jobs)) return {};
    if (view.sees_events()) return fmt::format(" AND (uid = {} OR {})", nobody, their_own);
    // By the indices: these may be few among many.
    return " AND id IN (SELECT id FROM notes WHERE uid >= 0 AND uid = ?5 UNION ALL SELECT id FROM notes "
           "WHERE "
           "account <> '' AND account IN (SELECT value FROM json_each(?6)))";
}

std::string intents_seen_by(const View& view) {
    if (view.all || (view.sees_events() && !view.hides.jobs)) return {};
    return view.sees_events() ? fmt::format(" AND (uid = {} OR {})", nobody, their_own)
                              : fmt::format(" AND {}", their_own);
}

void bind_viewer(Statement& statement, const View& view) {
    boost::json::array accounts;
    if (!view.hides.by_label)
        for (const auto& account : view.accounts)
            accounts.emplace_back(account);
    statement.bind(5, static_cast<std::int64_t>(view.uid)).bind(6, base::to_text(accounts));
}

std::optional<JobOwner> owner_in(const Statement& row, int column) {
    const auto uid = row.number(column);
    if (uid < 0) return {};
    return JobOwner{static_cast<std::uint32_t>(uid), row.text(column + 1)};
}

std::string notes_query(const NoteFilter& filter) {
    std::string query = "SELECT time, kind, incident, host, job, text, uid, account FROM notes WHERE true";
    if (!filter.host.empty())
        query +=
            " AND id IN (SELECT id FROM notes WHERE host <> '' AND host = ?1 UNION ALL SELECT id FROM notes "
            "WHERE "
            "incident <> '' AND incident IN (SELECT incident FROM notes WHERE host <> '' AND host = ?1))";
    if (filter.job) // nor may what its incidents have about hosts reveal where another's job was
        query += fmt::format(" AND id IN (SELECT id FROM notes WHERE job <> 0 AND job = ?2 UNION ALL SELECT "
                             "id FROM notes WHERE "
                             "job = 0 AND incident <> '' AND incident IN (SELECT incident FROM notes WHERE "
                             "job <> 0 AND job = ?2{}))",
                             filter.view.all || !filter.view.hides.jobs ? std::string()
                                                                        : fmt::format(" AND {}", their_own));
    if (!filter.incident.empty()) query += " AND incident <> '' AND incident = ?3";
    query += notes_seen_by(filter.view);
    return query + " ORDER BY id DESC LIMIT ?4";
}

} // namespace

base::Expected<Journal> Journal::open(const fs::path& given) {
    std::error_code failed;
    const auto path = fs::absolute(given, failed);
    if (failed) return named(given, base::Code::io, failed.message());
    auto lock = JournalLock::take(path);
    if (!lock) return std::move(lock).error();
    return open(path, *std::move(lock));
}

base::Expected<Journal> Journal::open(const fs::path& given, JournalLock lock) {
    std::error_code failed;
    const auto path = fs::absolute(given, failed);
    if (failed) return named(given, base::Code::io, failed.message());
    const bool exists = fs::exists(fs::symlink_status(path, failed));
    if (!exists) {
        if (auto made = create_journal(path); !made) return std::move(made).error();
    } else if (fs::is_regular_file(path, failed) && fs::file_size(path, failed) == 0) {
        return named(path, base::Code::input, truncated_journal());
    } else if (::access(path.c_str(), R_OK | W_OK) != 0) {
        return base::system_error(path.string(), errno);
    }
    struct stat about {};
    if (::stat(path.c_str(), &about) == 0 &&
        (about.st_mode & 0007) != 0) // from an earlier release: see create()
        ::chmod(path.c_str(), about.st_mode & 0770);
    auto database = Database::open(path, Database::Open::existing);
    if (!database) return named(path, database.error().code, database.error().text);
    if (auto sound = check_journal(*database, path); !sound) return std::move(sound).error();
    for (const char* pragma : {"PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL",
                               "PRAGMA temp_store = MEMORY", "PRAGMA journal_size_limit = 67108864"}) {
        if (auto done = database->value(pragma); !done)
            return named(path, done.error().code, done.error().text);
    }
    if (auto done = take_up_journal(*database, path); !done) return std::move(done).error();
    auto reading = Database::open(path, Database::Open::existing);
    if (!reading) return named(path, reading.error().code, reading.error().text);
    if (auto done = reading->execute("PRAGMA query_only = 1"); !done)
        return named(path, done.error().code, done.error().text);
    return Journal(path, std::move(lock), *std::move(database), *std::move(reading));
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

base::Expected<Fence> Journal::fence() {
    auto read = database_.prepare("SELECT epoch, owner FROM lease");
    if (!read) return fail(std::move(read).error());
    const auto row = read->step();
    if (!row) return fail(row.error());
    if (!*row) return Fence();
    return Fence{static_cast<std::uint64_t>(read->number(0)), read->text(1)};
}

base::Expected<void> Journal::take_over(const Fence& fence) {
    auto done = database_.execute("BEGIN IMMEDIATE; DELETE FROM lease");
    if (done) {
        auto put = database_.prepare("INSERT INTO lease VALUES (?1, ?2)");
        done = put ? put->bind(1, static_cast<std::int64_t>(fence.epoch)).bind(2, fence.owner).run()
                   : base::Expected<void>(std::move(put).error());
    }
    if (done) done = database_.execute("COMMIT");
    if (!done) {
        if (auto undone = database_.execute("ROLLBACK"); !undone) {} // there may be nothing to roll back
        return fail(std::move(done).error());
    }
    fence_ = fence;
    return {};
}

// Inside the transaction: a restartd that took the lease over has written there, or has taken the file away.
base::Expected<void> Journal::check_fence() {
    const base::Error passed{base::Code::denied, "another restartd has taken this journal over"};
    if (!lock_.holds()) return passed;
    if (!fence_) return {};
    const auto stored = fence();
    if (!stored) return stored.error();
    return *stored == *fence_ ? base::Expected<void>() : base::Expected<void>(passed);
}

base::Expected<void> Journal::commit(const Record& record, base::Time now) {
    const bool again = std::exchange(failed_, true);
    if (auto begun = database_.execute("BEGIN IMMEDIATE"); !begun) return fail(std::move(begun).error());
    auto written = check_fence();
    const auto segment = segment_;
    // Tests for space: an empty record needs none, nor does overwriting a value with itself.
    if (written && again)
        written = database_.execute(
            "INSERT INTO rows (key, json) VALUES ('~', ''); DELETE FROM rows WHERE key = '~'");
    if (written) written = write(record, now);
    if (written) written = write_events(record, now);
    if (written) written = database_.execute("COMMIT");
    failed_ = !written;
    if (written) return {};
    segment_ = segment;
    if (auto undone = database_.execute("ROLLBACK"); !undone) {} // SQLite may have rolled back on its own
    return fail(std::move(written).error());
}

base::Expected<void> Journal::write(const Record& record, base::Time now) {
    if (auto done = put_rows(database_, record.rows); !done) return done;
    if (!record.notes.empty()) {
        auto insert = database_.prepare("INSERT INTO notes (time, kind, incident, host, job, text, uid, "
                                        "account) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)");
        if (!insert) return std::move(insert).error();
        for (const auto& note : record.notes) {
            insert->bind(1, stamp(note.time)).bind(2, to_string(note.kind)).bind(3, note.incident);
            insert->bind(4, note.host).bind(6, note.text);
            bind_job(*insert, 5, note.job);
            insert->bind(7, uid_of(note.job.has_value(), note.owner));
            insert->bind(8, note.owner ? note.owner->account : std::string());
            if (auto done = insert->run(); !done) return done;
        }
    }
    if (!record.given.empty()) {
        auto insert = database_.prepare(
            "INSERT INTO intents VALUES (?1, ?2, ?3, ?4, 'pending', 1, ?5, 0, '', ?6, ?7) "
            "ON CONFLICT (id) DO UPDATE SET state = 'pending', tries = tries + 1, finished = 0");
        if (!insert) return std::move(insert).error();
        for (const auto& action : record.given) {
            insert->bind(1, action.id).bind(2, action.id.substr(0, action.id.find('/')));
            insert->bind(3, to_string(kind_of(action))).bind(4, describe(action)).bind(5, stamp(now));
            const auto* job = target_of(action);
            const auto owner = job == nullptr ? std::optional<JobOwner>() : job->owner;
            insert->bind(6, uid_of(job != nullptr, owner));
            insert->bind(7, owner ? owner->account : std::string());
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
    // The oldest have the lowest ids: only these are examined, however many there are.
    constexpr std::int64_t batch = 5000;
    bool more = false;
    for (const char* sql : {"DELETE FROM notes WHERE id IN (SELECT id FROM (SELECT id, time FROM notes ORDER "
                            "BY id LIMIT ?2) WHERE time < ?1)",
                            "DELETE FROM intents WHERE rowid IN (SELECT rowid FROM (SELECT rowid, finished "
                            "FROM intents ORDER BY rowid "
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
    const std::lock_guard lock(reading_->mutex);
    auto read = reading_->database.prepare(notes_query(filter));
    if (!read) return fail(std::move(read).error());
    read->bind(1, filter.host).bind(3, filter.incident);
    bind_job(*read, 2, filter.job);
    read->bind(4, static_cast<std::int64_t>(filter.most));
    if (!filter.view.all) bind_viewer(*read, filter.view);
    std::vector<Note> notes;
    for (;;) {
        const auto row = read->step();
        if (!row) return fail(row.error());
        if (!*row) break;
        notes.push_back({unstamp(read->number(0)), kind_of(read->text(1)), read->text(2), read->text(3),
                         base::JobId::parse(read->text(4)), read->text(5), owner_in(*read, 6)});
    }
    std::reverse(notes.begin(), notes.end());
    return notes;
}

base::Expected<std::vector<StoredAction>> Journal::intents(const std::string& incident, const View& view,
                                                           std::size_t most) {
    const std::lock_guard lock(reading_->mutex);
    auto read =
        reading_->database.prepare("SELECT id, incident, kind, text, state, tries, created, finished, error "
                                   "FROM intents WHERE (?1 = '' OR "
                                   "incident = ?1)" +
                                   intents_seen_by(view) + " ORDER BY created DESC, rowid DESC LIMIT ?2");
    if (!read) return fail(std::move(read).error());
    read->bind(1, incident).bind(2, static_cast<std::int64_t>(most));
    if (!view.all) bind_viewer(*read, view);
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
