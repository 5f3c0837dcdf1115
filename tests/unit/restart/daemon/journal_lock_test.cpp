#include "restart/daemon/journal.hpp"

#include "unit/folder.hpp"

#include <catch2/catch.hpp>

using restart::Journal;
using restart::Record;

namespace {

base::Time at(int second) {
    return base::Time(std::chrono::seconds(1'700'000'000 + second));
}

Journal open(const std::filesystem::path& path) {
    auto journal = Journal::open(path);
    INFO((journal ? "" : journal.error().text));
    REQUIRE(journal);
    return *std::move(journal);
}

void make_journal(const std::filesystem::path& path) {
    auto journal = open(path);
    Record record;
    for (int i = 0; i < 200; ++i)
        record.notes.push_back({at(i), restart::NoteKind::signal, "i-1", "n001", {}, "x", {}});
    REQUIRE(journal.commit(record, at(0)));
}

} // namespace

TEST_CASE("whoever took a journal over before writes no more") {
    const test::Folder folder;
    const auto path = folder.path / "journal.db";
    auto journal = open(path);
    REQUIRE(journal.take_over({7, "ctl.1"}));
    REQUIRE(journal.commit({}, at(1)));
    {
        auto other = restart::Database::open(path, restart::Database::Open::existing);
        REQUIRE(other->execute("UPDATE lease SET epoch = 8, owner = 'backup.1'"));
    }
    const auto refused = journal.commit({}, at(2));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == base::Code::denied);
}

TEST_CASE("a journal is taken from a process that holds it and is stopped, with all that it had committed") {
    const test::Folder folder;
    const auto path = folder.path / "journal.db";
    auto stopped = open(path); // stands for the other process: it has the lock and its files open
    REQUIRE(stopped.take_over({1, "ctl.1"}));
    Record record;
    record.notes.push_back({at(5), restart::NoteKind::signal, "", "n1", {}, "before", {}});
    REQUIRE(stopped.commit(record, at(5)));
    CHECK_FALSE(restart::JournalLock::take(path)); // it cannot be had otherwise

    auto lock = restart::JournalLock::seize(path);
    REQUIRE(lock);
    auto journal = Journal::open(path, *std::move(lock));
    REQUIRE(journal);
    CHECK(journal->fence()->epoch == 1);
    REQUIRE(journal->take_over({2, "backup.1"}));
    REQUIRE(journal->notes({})->size() == 1);

    // It goes on: nothing of what it writes arrives, and it learns why.
    const auto refused = stopped.commit(record, at(6));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == base::Code::denied);
    record.notes.front().text = "after";
    REQUIRE(journal->commit(record, at(7)));
    { const auto gone = std::move(stopped); } // its end must not take the other's log along
    std::filesystem::copy_file(path, folder.path / "copy.db");
    std::filesystem::copy_file(path.string() + "-wal", folder.path / "copy.db-wal");
    auto copy = restart::Database::open(folder.path / "copy.db", restart::Database::Open::existing);
    CHECK(*copy->value("SELECT group_concat(text) FROM notes") == "before,after");
    CHECK(*copy->value("PRAGMA quick_check(1)") == "ok");
    CHECK_FALSE(restart::JournalLock::take(path)); // held by the new one
}

TEST_CASE("a journal of version 3, which did not say who may write, is taken up") {
    const test::Folder folder;
    const auto path = folder.path / "journal.db";
    make_journal(path);
    {
        auto old = restart::Database::open(path, restart::Database::Open::existing);
        REQUIRE(old->execute(
            "DROP TABLE lease; DROP TABLE segments; DROP TABLE events; PRAGMA user_version = 3"));
    }
    auto journal = open(path);
    CHECK(journal.notes({})->size() == 200);
    CHECK(journal.fence()->epoch == 0);
    CHECK(journal.take_over({1, "a"}));
    CHECK(journal.commit({}, at(1)));
}

TEST_CASE("a journal of version 4, which kept no events, is taken up") {
    const test::Folder folder;
    const auto path = folder.path / "journal.db";
    make_journal(path);
    {
        auto journal = open(path);
        REQUIRE(journal.take_over({3, "a"}));
    }
    {
        auto old = restart::Database::open(path, restart::Database::Open::existing);
        REQUIRE(old->execute("DROP TABLE segments; DROP TABLE events; PRAGMA user_version = 4"));
    }
    auto journal = open(path);
    CHECK(journal.notes({})->size() == 200);
    CHECK(journal.fence()->epoch == 3);
    journal.keep_events(1 << 20);
    Record record;
    record.began = std::make_shared<restart::State>();
    record.events = "t";
    CHECK(journal.commit(record, at(1)));
}
