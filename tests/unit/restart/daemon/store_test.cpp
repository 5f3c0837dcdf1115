#include "restart/daemon/store.hpp"

#include "unit/folder.hpp"
#include "unit/patience.hpp"

#include <catch2/catch.hpp>

#include <csignal>
#include <sys/resource.h>

using namespace std::chrono_literals;
using restart::Record;
using restart::Store;

namespace {

// What a driver would hand over and be told.
struct Source {
    std::mutex mutex;
    Record next;
    int taken = 0;
    std::vector<std::size_t> given; // actions of each writing that succeeded
    int failed = 0;

    Store::Callbacks callbacks() {
        return {[this] {
                    const std::lock_guard lock(mutex);
                    ++taken;
                    return std::exchange(next, {});
                },
                [this](const Record& record, const std::optional<base::Error>& error) {
                    const std::lock_guard lock(mutex);
                    if (error)
                        ++failed;
                    else
                        given.push_back(record.given.size());
                }};
    }
    void add(std::uint64_t next_incident, const std::string& action = {}) {
        const std::lock_guard lock(mutex);
        restart::State state;
        state.next_incident = next_incident;
        next.rows = restart::StateRows().changes(state);
        if (action.empty()) return;
        restart::Action made;
        made.id = action;
        next.given.push_back(made);
    }
    template <class Look> auto look(Look look) {
        const std::lock_guard lock(mutex);
        return look(*this);
    }
};

std::uint64_t stored(const std::filesystem::path& path) {
    auto journal = restart::Journal::open(path);
    REQUIRE(journal);
    const auto state = journal->state();
    REQUIRE(state);
    return *state ? (*state)->next_incident : 0;
}

} // namespace

TEST_CASE("what is to be written now is on disk once it is settled, what may wait is taken along") {
    const test::Folder folder;
    const auto path = folder.path / "journal.db";
    Source source;
    {
        Store store(*restart::Journal::open(path), source.callbacks());
        store.start();
        source.add(2);
        store.write_within(1h);
        store.settle(1h); // does not wait for it
        CHECK(source.look([](Source& s) { return s.taken; }) == 0);
        source.add(3, "i-1/1");
        store.write_soon();
        store.settle(test::patience());
        CHECK(source.look([](Source& s) { return s.given; }) == std::vector<std::size_t>{1});
        store.settle(test::patience()); // nothing is left
        CHECK(source.look([](Source& s) { return s.taken; }) == 1);
        source.add(4);
        store.write_within(1h);
    }
    CHECK(stored(path) == 4); // the end writes whatever there is
}

TEST_CASE("a disk that is full is not said to have room because nothing of what was refused is left") {
    const test::Folder folder;
    Source source;
    auto journal = restart::Journal::open(folder.path / "journal.db");
    REQUIRE(journal);
    journal->keep_events(1 << 20);
    Store store(*std::move(journal), source.callbacks());
    store.start();
    source.add(2);
    store.write_soon();
    store.settle(test::patience());
    REQUIRE(source.look([](Source& s) { return s.given.size(); }) == 1);
    rlimit before{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    const auto ignore = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit full{0, before.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &full);
    source.look([](Source& s) { // dropped when it cannot be written
        s.next.began = std::make_shared<const restart::State>();
        return s.next.events = "a report";
    });
    store.write_soon();
    CHECK(test::eventually([&] { return source.look([](Source& s) { return s.failed >= 3; }); }));
    const auto succeeded = source.look([](Source& s) { return s.given.size(); });
    ::setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, ignore);
    CHECK(succeeded == 1);
    CHECK(test::eventually([&] { return source.look([](Source& s) { return s.given.size() == 2; }); }));
}

TEST_CASE("what could not be written is written later, whole, and tried once a second at most") {
    const test::Folder folder;
    const auto path = folder.path / "journal.db";
    Source source;
    {
        Store store(*restart::Journal::open(path), source.callbacks());
        store.start();
        source.add(2, "i-1/1");
        rlimit before{};
        ::getrlimit(RLIMIT_FSIZE, &before);
        const auto ignore = std::signal(SIGXFSZ, SIG_IGN);
        const rlimit full{0, before.rlim_max}; // what a full disk looks like to the writer
        ::setrlimit(RLIMIT_FSIZE, &full);
        store.write_soon();
        store.settle(test::patience());
        const auto failed = source.look([](Source& s) { return s.failed; });
        for (int i = 0; i < 50; ++i) {
            source.add(3, i == 0 ? "i-1/2" : "");
            store.write_soon();
            store.settle(test::patience()); // waits for no second try
        }
        const auto taken = source.look([](Source& s) { return s.taken; });
        ::setrlimit(RLIMIT_FSIZE, &before);
        std::signal(SIGXFSZ, ignore);
        CHECK(failed >= 1);
        CHECK(taken < 25); // not one try for each of the fifty
        CHECK(test::eventually([&] { return source.look([](Source& s) { return !s.given.empty(); }); }));
        CHECK(source.look([](Source& s) { return s.given; }) == std::vector<std::size_t>{2});
    }
    CHECK(stored(path) == 3);
}
