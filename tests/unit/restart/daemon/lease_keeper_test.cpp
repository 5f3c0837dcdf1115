#include "restart/daemon/lease_keeper.hpp"

#include "base/file.hpp"
#include "unit/folder.hpp"

#include <catch2/catch.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace std::chrono_literals;
using namespace restart;
using Role = Lease::Role;

namespace {

constexpr base::Duration patience{30'000}; // a limit against hangs

std::unique_ptr<LeaseKeeper> keeper(const std::filesystem::path& folder, base::Duration lease, bool free) {
    return std::make_unique<LeaseKeeper>(
        LeaseOptions{folder, lease, "http://ctl:8917",
                     [free](const std::optional<LeaseRecord>& record) { return free && !record; }});
}

// Waits for what another thread will bring about.
template <class What> bool comes(What what) {
    for (const auto end = std::chrono::steady_clock::now() + patience;
         std::chrono::steady_clock::now() < end;) {
        if (what()) return true;
        std::this_thread::sleep_for(5ms);
    }
    return false;
}

} // namespace

TEST_CASE("a lease is given back and then taken by another at once, with the next epoch") {
    const test::Folder scratch;
    const auto folder = scratch.path / "journal.db.lease";
    auto first = keeper(folder, 60s, true), second = keeper(folder, 60s, false);
    REQUIRE(comes([&] { return first->acts(); }));
    REQUIRE(comes([&] { return second->standing().other.has_value(); }));
    CHECK(second->standing().other->owner == first->self().owner);
    CHECK(first->standing().epoch == 1);
    CHECK_FALSE(second->acts());
    first->release(patience);
    CHECK_FALSE(first->acts());
    // Not after 60 s, though it looks only every six seconds.
    REQUIRE(comes([&] { return second->acts(); }));
    CHECK(second->standing().epoch == 2);
    CHECK_FALSE(first->acts());
}

TEST_CASE("a holder that cannot renew its lease acts no more, whatever its storage does") {
    const test::Folder scratch;
    const auto folder = scratch.path / "lease";
    auto held = keeper(folder, 2s, true);
    REQUIRE(comes([&] { return held->acts(); }));
    // Opening a fifo waits for a writer: the record cannot be read from here on, and the thread hangs.
    const auto record = folder / "1";
    const auto fifo = scratch.path / "fifo";
    REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
    std::filesystem::rename(fifo, record);
    REQUIRE(comes([&] { return !held->acts(); }));
    const auto began = std::chrono::steady_clock::now();
    held->release(100ms); // nor does anybody wait for it
    CHECK(std::chrono::steady_clock::now() - began < patience);
    held.reset();
    const int end = ::open(record.c_str(), O_WRONLY | O_NONBLOCK); // let the thread go
    if (end >= 0) ::close(end);
}

TEST_CASE("a record that is replaced by another's ends the lease") {
    const test::Folder scratch;
    const auto folder = scratch.path / "lease";
    auto held = keeper(folder, 2s, true);
    REQUIRE(comes([&] { return held->acts(); }));
    REQUIRE(base::write_file(folder / "2", "who knows\n"));
    REQUIRE(comes([&] { return held->standing().role == Role::ended; }));
    CHECK_FALSE(held->acts());
    CHECK(parse_lease(2, "who knows\n").epoch == 2);
    // What nobody can read expires like any other.
    auto next = keeper(folder, 2s, false);
    REQUIRE(comes([&] { return next->acts(); }));
    CHECK(next->standing().epoch == 3);
}

TEST_CASE("a folder that cannot be made is told of, and tried again") {
    const test::Folder scratch;
    const auto folder = scratch.path / "not" / "there" / "lease";
    auto held = keeper(folder, 2s, true);
    REQUIRE(comes([&] { return !held->standing().trouble.empty(); }));
    CHECK(held->standing().trouble.find(folder.string()) != std::string::npos);
    CHECK_FALSE(held->acts());
    std::filesystem::create_directories(folder.parent_path());
    REQUIRE(comes([&] { return held->acts(); }));
    CHECK(held->standing().trouble.empty());
}
