// Which checkpoints a commit leaves: the newest, what has more progress, what is another job's.
#include "restart/ckpt/prune.hpp"
#include "sessions.hpp"

#include <sys/stat.h>

using namespace restart::ckpt;
using namespace ckpt_test;
namespace fs = std::filesystem;

TEST_CASE("the newest is the highest step of the highest epoch") {
    const Folder folder;
    {
        auto session = open(folder.path, 0, 9);
        for (const std::uint64_t step : {100u, 300u, 200u})
            put(session, step);
        CHECK(newest(session) == 300);
    }
    auto session = open(folder.path, 1, 9); // restarted from step 200 by hand
    CHECK(newest(session) == 300);
    put(session, 250);
    CHECK(newest(session) == 250);
}

TEST_CASE("only the newest are kept, and a damaged one does not count") {
    const Folder folder;
    auto session = open(folder.path);
    for (const std::uint64_t step : {1u, 2u, 3u})
        put(session, step);
    CHECK(names(folder.path, "ckpt-") ==
          std::vector<std::string>{"ckpt-E0000-S000000000002", "ckpt-E0000-S000000000003"});
    // Both are damaged now: one visibly, one in its bytes only. Found out, neither pushes the next one's
    // predecessor out.
    fs::remove(folder.path / "ckpt-E0000-S000000000003" / "MANIFEST.json");
    put(session, 4);
    CHECK(names(folder.path, "ckpt-").size() == 3); // 2, 3 (damaged), 4
    write(folder.path / "ckpt-E0000-S000000000004" / "rank-0.bin", "STATE");
    const auto latest = session.latest(Depth::checksums);
    CHECK(latest->newest->manifest.id.step == 2);
    CHECK(latest->skipped.size() == 2);
    put(session, 5);
    CHECK(newest(session, Depth::checksums) == 5);
    CHECK(fs::exists(folder.path / "ckpt-E0000-S000000000002")); // the second whole one
    put(session, 6);
    CHECK(names(folder.path, "ckpt-") ==
          std::vector<std::string>{"ckpt-E0000-S000000000005", "ckpt-E0000-S000000000006"});
    check_clean(folder.path);
}

TEST_CASE(
    "a restart that began again at step 0 removes nothing of what was reached before, until it is there") {
    const Folder folder;
    {
        auto session = open(folder.path, 0);
        for (const std::uint64_t step : {99'500u, 100'000u, 100'500u})
            put(session, step);
    }
    const std::vector<std::string> before{"ckpt-E0000-S000000100000", "ckpt-E0000-S000000100500"};
    REQUIRE(names(folder.path, "ckpt-E0000") == before);
    auto session = open(folder.path, 1);
    for (const std::uint64_t step : {500u, 1000u, 1500u}) {
        put(session, step);
        CHECK(names(folder.path, "ckpt-E0000") == before);
        CHECK(names(folder.path, "ckpt-E0001").size() <= 2);
        REQUIRE(session.commit_troubles().size() == (step == 500 ? 1 : 0)); // told once
        if (step == 500)
            CHECK_THAT(session.commit_troubles()[0],
                       Catch::Contains("step 500 is behind ckpt-E0000-S000000100500"));
    }
    // What it goes on from stays its own line, and the progress that is left behind is told.
    const auto latest = session.latest(Depth::checksums);
    CHECK(latest->newest->manifest.id == Id{1, 1500});
    REQUIRE(latest->ahead.size() == 2);
    CHECK(latest->ahead[0].manifest.id == Id{0, 100'500});
    CHECK_THAT(ahead_sentence(*latest),
               Catch::StartsWith(folder.path.string() + "/ckpt-E0000-S000000100500: step") &&
                   Catch::Contains("further than the newest checkpoint, step 1500"));
    CHECK(session.latest(Depth::checksums, Wanted::furthest)->newest->manifest.id == Id{0, 100'500});
    put(session, 100'100);
    CHECK(names(folder.path, "ckpt-") == std::vector<std::string>{"ckpt-E0000-S000000100500",
                                                                  "ckpt-E0001-S000000001500",
                                                                  "ckpt-E0001-S000000100100"});
    put(session, 100'500); // as far
    CHECK(names(folder.path, "ckpt-") ==
          std::vector<std::string>{"ckpt-E0001-S000000100100", "ckpt-E0001-S000000100500"});
    CHECK(ahead_sentence(*session.latest(Depth::sizes)).empty());
}

TEST_CASE("a program that begins again within one incarnation keeps what it has just written") {
    const Folder folder;
    auto session = open(folder.path);
    for (const std::uint64_t step : {1000u, 1100u, 10u, 20u, 30u})
        put(session, step);
    CHECK(names(folder.path, "ckpt-") ==
          std::vector<std::string>{"ckpt-E0000-S000000000020", "ckpt-E0000-S000000000030",
                                   "ckpt-E0000-S000000001000", "ckpt-E0000-S000000001100"});
    CHECK(newest(session) == 1100);
}

TEST_CASE("the next job of a directory never removes the last one's checkpoints") {
    const Folder folder;
    {
        auto session = open(folder.path);
        put(session, 10);
        put(session, 20);
    }
    auto options = open(folder.path).options();
    options.job = 40;
    options.take_over = Work(12);
    auto next = Session::open(options);
    REQUIRE(next);
    for (const std::uint64_t step : {30u, 40u, 50u, 60u})
        put(*next, step);
    CHECK(names(folder.path, "ckpt-") ==
          std::vector<std::string>{"ckpt-E0000-S000000000010", "ckpt-E0000-S000000000020",
                                   "ckpt-E0001-S000000000050", "ckpt-E0001-S000000000060"});
    CHECK(newest(*next) == 60);
}

TEST_CASE("a newcomer that is not found whole removes nothing") {
    const Folder folder;
    auto session = open(folder.path, 0, 9);
    for (const std::uint64_t step : {1u, 2u, 3u, 4u})
        put(session, step);
    fs::resize_file(folder.path / "ckpt-E0000-S000000000004" / "MANIFEST.json", 10);
    const auto pruned = prune(folder.path, {0, 4}, 0, 1, {});
    CHECK(names(folder.path, "ckpt-").size() == 4);
    REQUIRE(pruned.troubles.size() == 1);
    CHECK_THAT(pruned.troubles[0], Catch::EndsWith("no older checkpoint is removed"));
}

// A socket cannot be opened (ENXIO), as a file of a file system in trouble cannot (EIO, ESTALE): what cannot
// be read is not missing.
TEST_CASE("a checkpoint that cannot be read is no reason to begin again") {
    const Folder folder;
    auto session = open(folder.path);
    put(session, 1);
    put(session, 2);
    const auto found = names(folder.path, "ckpt-");
    REQUIRE(found.size() == 2);
    const auto spoil = [&](const std::string& name) {
        const auto manifest = folder.path / name / manifest_name;
        fs::remove(manifest);
        REQUIRE(::mknod(manifest.c_str(), S_IFSOCK | 0600, 0) == 0);
    };
    // Beside one that can be read it is passed over, and never taken for damaged.
    spoil(found.back());
    const auto older = session.latest(Depth::sizes);
    REQUIRE(older);
    REQUIRE(older->newest);
    CHECK(older->newest->manifest.id.step == 1);
    CHECK(older->skipped.size() == 1);
    CHECK(older->damaged.empty());
    spoil(found.front());
    const auto unread = session.latest(Depth::sizes);
    REQUIRE_FALSE(unread);
    CHECK(unread.error().code == base::Code::io);
    CHECK(unread.error().text.starts_with((folder.path / found.back()).string()));
}
