#include "restart/daemon/lease_keeper.hpp"

#include "base/file.hpp"
#include "restart/daemon/lease_folder.hpp"
#include "unit/folder.hpp"
#include "unit/patience.hpp"

#include <catch2/catch.hpp>

#include <fcntl.h>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

using namespace std::chrono_literals;
using namespace restart;
using Role = Lease::Role;

namespace {

// Two seconds, longer on a slow machine, where a holder's thread may not run for as long.
base::Duration short_lease() {
    return test::patience() / 30;
}

std::unique_ptr<LeaseKeeper> keeper(const std::filesystem::path& folder, base::Duration lease, bool free) {
    return std::make_unique<LeaseKeeper>(
        LeaseOptions{folder, lease, "http://ctl:8917",
                     [free](const std::optional<LeaseRecord>& record) { return free && !record; }});
}

} // namespace

TEST_CASE("a lease is given back and then taken by another at once, with the next epoch") {
    const test::Folder scratch;
    const auto folder = scratch.path / "journal.db.lease";
    // Longer than what is waited for below: it does not expire in the meantime.
    const base::Duration lease = test::patience() * 6 / 5;
    auto first = keeper(folder, lease, true), second = keeper(folder, lease, false);
    REQUIRE(test::eventually([&] { return first->acts(); }));
    REQUIRE(test::eventually([&] { return second->standing().other.has_value(); }));
    CHECK(second->standing().other->owner == first->self().owner);
    CHECK(first->standing().epoch == 1);
    CHECK_FALSE(second->acts());
    first->release(test::patience());
    CHECK_FALSE(first->acts());
    // Before it expires, though it is looked at only ten times until then.
    REQUIRE(test::eventually([&] { return second->acts(); }));
    CHECK(second->standing().epoch == 2);
    CHECK_FALSE(first->acts());
}

TEST_CASE("a holder that cannot renew its lease acts no more, whatever its storage does") {
    const test::Folder scratch;
    const auto folder = scratch.path / "lease";
    auto held = keeper(folder, short_lease(), true);
    REQUIRE(test::eventually([&] { return held->acts(); }));
    // Opening a fifo waits for a writer: the record cannot be read from here on, and the thread hangs.
    const auto record = folder / "1";
    const auto fifo = scratch.path / "fifo";
    REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
    std::filesystem::rename(fifo, record);
    REQUIRE(test::eventually([&] { return !held->acts(); }));
    held->release(100ms); // does not wait for the thread, which hangs
    held.reset();
    const int end = ::open(record.c_str(), O_WRONLY | O_NONBLOCK); // let the thread go
    if (end >= 0) ::close(end);
}

TEST_CASE("a lease is renewed without a new file, as on a disk that is full") {
    const test::Folder scratch;
    const LeaseFolder folder(scratch.path / "lease", "me");
    LeaseRecord record{1, "me", "ctl", "http://ctl:8917", "boot", 9, false};
    LeaseFolder::Time begin{};
    REQUIRE(folder.claim(record, begin).value_or(false));
    folder.clear(1);
    const auto inodes = [&] {
        std::set<ino_t> found;
        for (const auto& entry : std::filesystem::directory_iterator(scratch.path / "lease")) {
            struct stat about {};
            REQUIRE(::stat(entry.path().c_str(), &about) == 0);
            found.insert(about.st_ino);
        }
        return found;
    };
    REQUIRE(folder.renew(record, begin).value_or(false));
    const auto held = inodes();
    CHECK(held.size() == 2);
    for (const std::uint64_t beat : {10, 100'000, 11}) {
        record.beat = beat;
        CHECK(folder.renew(record, begin).value_or(false));
        CHECK(inodes() == held);
        CHECK(folder.look()->value() == record);
    }
}

TEST_CASE("a record that is replaced by another's ends the lease") {
    const test::Folder scratch;
    const auto folder = scratch.path / "lease";
    auto held = keeper(folder, short_lease(), true);
    REQUIRE(test::eventually([&] { return held->acts(); }));
    REQUIRE(base::write_file(folder / "2", "who knows\n"));
    REQUIRE(test::eventually([&] { return held->standing().role == Role::ended; }));
    CHECK_FALSE(held->acts());
    CHECK(parse_lease(2, "who knows\n").epoch == 2);
    // What nobody can read expires like any other.
    auto next = keeper(folder, short_lease(), false);
    REQUIRE(test::eventually([&] { return next->acts(); }));
    CHECK(next->standing().epoch == 3);
}

TEST_CASE("a folder that cannot be made is told of, and tried again") {
    const test::Folder scratch;
    const auto folder = scratch.path / "not" / "there" / "lease";
    auto held = keeper(folder, short_lease(), true);
    REQUIRE(test::eventually([&] { return !held->standing().trouble.empty(); }));
    CHECK(held->standing().trouble.find(folder.string()) != std::string::npos);
    CHECK_FALSE(held->acts());
    std::filesystem::create_directories(folder.parent_path());
    REQUIRE(test::eventually([&] { return held->acts(); }));
    CHECK(held->standing().trouble.empty());
}
