// The journal's events: the input and output of step().
#include "restart/daemon/journal.hpp"

#include "base/units.hpp"
#include "restart/core/store/state_json.hpp"
#include "restart/daemon/journal_file.hpp"

#include <fmt/format.h>
#include <railyard_config.h>

namespace restart {
namespace {

namespace fs = std::filesystem;

} // namespace

base::Expected<void> Journal::write_events(const Record& record, base::Time now) {
    if (keep_events_ == 0) return {};
    if (record.began) {
        auto insert = database_.prepare(
            "INSERT INTO segments (begun, release, continues, state) VALUES (?1, ?2, ?3, ?4)");
        if (!insert) return std::move(insert).error();
        insert->bind(1, stamp(now)).bind(2, std::string_view(PACKAGE_VERSION));
        insert->bind(3, std::int64_t{record.continues}).bind(4, to_json(*record.began));
        if (auto done = insert->run(); !done) return done;
        const auto made = database_.value("SELECT last_insert_rowid()");
        if (!made) return made.error();
        segment_ = static_cast<std::int64_t>(base::parse_count(*made).value_or(0));
        // Whole segments are removed; the state counts, too.
        auto trim = database_.prepare(
            "DELETE FROM segments WHERE id IN (SELECT id FROM (SELECT id, sum(size) OVER (ORDER BY id DESC) "
            "AS "
            "total FROM (SELECT id, length(state) + ifnull((SELECT sum(length(bytes)) FROM events WHERE "
            "segment = segments.id), 0) AS size FROM segments)) WHERE total > ?1 AND id < ?2)");
        if (!trim) return std::move(trim).error();
        if (auto done = trim->bind(1, static_cast<std::int64_t>(keep_events_)).bind(2, segment_).run(); !done)
            return done;
        if (auto done =
                database_.execute("DELETE FROM events WHERE segment NOT IN (SELECT id FROM segments)");
            !done)
            return done;
    }
    if (record.events.empty() || segment_ == 0) return {};
    auto insert = database_.prepare("INSERT INTO events (segment, bytes) VALUES (?1, ?2)");
    if (!insert) return std::move(insert).error();
    return insert->bind(1, segment_).bind_bytes(2, record.events).run();
}

base::Expected<void> read_events(const fs::path& path,
                                 const std::function<base::Expected<void>(const EventSegment&)>& begin,
                                 const std::function<base::Expected<void>(std::string_view)>& part,
                                 const std::function<bool()>& enough) {
    if (std::error_code failed; !fs::is_regular_file(path, failed))
        return named(path, base::Code::input, "is no file");
    auto database = Database::open(path, Database::Open::reading);
    if (!database) return named(path, database.error().code, database.error().text);
    if (auto sound = check_journal(*database, path); !sound) return sound;
    const auto stored = database->value("PRAGMA user_version");
    if (!stored) return named(path, stored.error().code, stored.error().text);
    const base::Error none{
        base::Code::unfit,
        fmt::format("{}: the journal holds no events: an older release wrote it, or [restartd] "
                    "keep_events is 0",
                    path.string())};
    if (base::parse_count(*stored).value_or(0) < 5) return none;
    if (auto begun = database->execute("BEGIN"); !begun) // one moment of a journal that is in use
        return named(path, begun.error().code, begun.error().text);
    auto segments =
        database->prepare("SELECT id, begun, release, continues, state FROM segments ORDER BY id");
    if (!segments) return named(path, segments.error().code, segments.error().text);
    for (bool any = false; !enough(); any = true) {
        const auto row = segments->step();
        if (!row) return named(path, row.error().code, row.error().text);
        if (!*row) return any ? base::Expected<void>() : none;
        const EventSegment segment{unstamp(segments->number(1)), segments->text(4), segments->text(2),
                                   segments->number(3) != 0};
        if (auto done = begin(segment); !done) return std::move(done).error().within(path.string());
        auto events = database->prepare("SELECT bytes FROM events WHERE segment = ?1 ORDER BY id");
        if (!events) return named(path, events.error().code, events.error().text);
        events->bind(1, segments->number(0));
        while (!enough()) {
            const auto next = events->step();
            if (!next) return named(path, next.error().code, next.error().text);
            if (!*next) break;
            if (auto done = part(events->bytes(0)); !done)
                return std::move(done).error().within(path.string());
        }
    }
    return {};
}

} // namespace restart
