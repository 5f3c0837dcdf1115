// What is said of a journal that cannot be read, as against one that is damaged.
#include "restart/daemon/journal_file.hpp"

#include "restart/daemon/database.hpp"
#include "unit/folder.hpp"

#include <catch2/catch.hpp>

using restart::Database;

// As EIO of a disk in trouble: the file is whole, and nobody is to move it away.
TEST_CASE("a journal that cannot be read now is not called damaged") {
    const test::Folder folder;
    const auto path = folder.path / "journal.db";
    REQUIRE(restart::create_journal(path));
    auto other = Database::open(path, Database::Open::existing);
    REQUIRE(other);
    REQUIRE(other->execute("BEGIN EXCLUSIVE"));
    auto database = Database::open(path, Database::Open::existing);
    REQUIRE(database);
    const auto unread = restart::check_journal(*database, path);
    REQUIRE_FALSE(unread);
    CHECK(unread.error().code == base::Code::unavailable);
    CHECK(unread.error().text.find("move it away") == std::string::npos);
    REQUIRE(other->execute("ROLLBACK"));
    CHECK(restart::check_journal(*database, path));
}
