#include "restart/ckpt/fence.hpp"
#include "restart/ckpt/lock.hpp"
#include "restart/ckpt/options.hpp"

#include "folder.hpp"

using namespace restart::ckpt;
using namespace ckpt_test;

namespace {
using Above = std::optional<std::uint32_t>;

Claims claims(std::uint32_t epoch, std::vector<Owner> owners) {
    return {epoch, std::move(owners)};
}
} // namespace

TEST_CASE("the epoch of a directory's first job is its restart count") {
    CHECK(*claim({}, {12, 0}, Above{}) == claims(0, {{12, 0}}));
    CHECK(*claim({}, {12, 3}, Above{}) == claims(3, {{12, 0}}));
    CHECK(*claim(claims(0, {{12, 0}}), {12, 1}, Above{}) == claims(1, {{12, 0}}));
    CHECK(*claim(claims(1, {{12, 0}}), {12, 1}, Above{}) == claims(1, {{12, 0}}));
}

TEST_CASE("an older incarnation is fenced off") {
    const auto old = claim(claims(1, {{12, 0}}), {12, 0}, Above{});
    REQUIRE_FALSE(old);
    CHECK(old.error().code == base::Code::denied);
    CHECK_THAT(old.error().text,
               Catch::Contains("restart 1 of job 12 owns") && Catch::Contains("this is restart 0"));
}

TEST_CASE("the next job goes on above the last one, which is fenced off for good") {
    const auto next = claim(claims(2, {{12, 0}}), {40, 0}, Above{});
    REQUIRE(next);
    CHECK(*next == claims(3, {{12, 0}, {40, 3}}));
    CHECK(claim(*next, {40, 2}, Above{})->epoch == 5);
    for (const std::uint32_t restart : {0u, 2u, 9u}) {
        const auto old = may_follow(*next, {12, restart}, true, "");
        REQUIRE_FALSE(old);
        CHECK(old.error().code == base::Code::denied);
        CHECK_THAT(old.error().text, Catch::Contains("job 40 has taken"));
    }
}

TEST_CASE("another job's directory is had when that job is over, or by its name") {
    const auto owned = claims(2, {{12, 0}});
    CHECK(may_follow(owned, {40, 0}, true, ""));
    const auto refused = may_follow(owned, {40, 0}, false, "squeue says RUNNING");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == base::Code::denied);
    CHECK_THAT(refused.error().text,
               Catch::StartsWith("job 12 owns") && Catch::Contains("(squeue says RUNNING)") &&
                   Catch::Contains("--take-over=12") && Catch::Contains("SLURM_JOB_ID"));
    CHECK(may_follow(owned, {40, 0, "", Work(12)}, false, ""));
    CHECK_FALSE(may_follow(owned, {40, 0, "", Work(11)}, false, "")); // not that one any more
}

TEST_CASE("work outside of a job follows a job only by name, and is followed without a question") {
    const auto refused = may_follow(claims(2, {{12, 0}}), {0, 0}, true, "");
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().text, Catch::StartsWith("job 12 owns") && Catch::Contains("--take-over=12"));
    CHECK(may_follow(claims(2, {{12, 0}}), {0, 0, "", Work(12)}, false, ""));
    CHECK(may_follow(claims(2, {{0, 0}}), {12, 0}, false, ""));
    auto now = *claim({}, {0, 0}, Above{});
    now = *claim(now, {12, 0}, Above{});
    now = *claim(now, {0, 0}, Above{});
    CHECK(now == claims(2, {{12, 1}, {0, 2}}));
    CHECK(*claim(now, {0, 0}, Above{}) == now);
}

TEST_CASE("a job that was fenced off comes back by naming its successor, above it") {
    const auto owned = claims(3, {{12, 0}, {40, 3}});
    CHECK_FALSE(may_follow(owned, {12, 1}, false, ""));
    REQUIRE(may_follow(owned, {12, 1, "", Work(40)}, false, ""));
    CHECK(*claim(owned, {12, 1}, Above{}) == claims(5, {{40, 3}, {12, 4}}));
}

TEST_CASE("jobs of two clusters with one number are told apart") {
    const auto owned = claims(1, {{12, 0, "east"}});
    CHECK(owns(owned.owners[0], {12, 2, "east"}));
    CHECK(owns(owned.owners[0], {12, 2, ""}));
    CHECK_FALSE(owns(owned.owners[0], {12, 2, "west"}));
    CHECK(*claim(owned, {12, 0, "west"}, Above{}) == claims(2, {{12, 0, "east"}, {12, 2, "west"}}));
}

TEST_CASE("each launch inside an allocation has an epoch of its own, and fences the one before off") {
    const auto launched = [](Claims before, std::uint32_t restart) {
        Claimant railrun{12, restart};
        railrun.next_launch = true;
        return claim(std::move(before), railrun, Above{});
    };
    const auto rank = [](const Claims& before, std::uint32_t restart, std::optional<std::uint32_t> launch) {
        Claimant who{12, restart};
        who.launch = launch;
        return claim(before, who, Above{});
    };
    const auto first = *launched({}, 0);
    CHECK(first == claims(0, {{12, 0}}));
    CHECK(*rank(first, 0, 0) == first);
    const auto second = *launched(first, 0);
    CHECK(second == claims(1, {{12, 1}}));
    CHECK(*rank(second, 0, 1) == second);
    CHECK(*rank(second, 0, {}) == second); // of a library that knows nothing of launches
    const auto old = rank(second, 0, 0);
    REQUIRE_FALSE(old);
    CHECK(old.error().code == base::Code::denied);
    CHECK_THAT(old.error().text, Catch::Contains("started again inside its allocation"));
    // A requeue goes on above all launches, and its first launch takes the epoch that its script may have
    // claimed.
    const auto third = *rank(second, 1, {});
    CHECK(third == claims(2, {{12, 1}}));
    CHECK_FALSE(rank(third, 0, 1));
    CHECK(*launched(*launched(third, 1), 1) == claims(4, {{12, 3}}));
    // The file was lost: the launch is the one it was told to be, or above the checkpoints that are there.
    CHECK(*rank({}, 1, 4) == claims(4, {{12, 3}}));
    Claimant lost{12, 0};
    lost.launch = 1;
    CHECK(claim({}, lost, Above{3})->epoch == 4);
    CHECK_FALSE(launched(claims(9999, {{12, 9999}}), 0));
}

TEST_CASE("a launch is known to its own start of its own job") {
    const auto text = launch_text(12, 1, 7);
    CHECK(launch_epoch(text, 12, 1) == 7u);
    CHECK_FALSE(launch_epoch(text, 12, 2));
    CHECK_FALSE(launch_epoch(text, 1, 1));
    CHECK_FALSE(launch_epoch(text, 0, 1));
    CHECK_FALSE(launch_epoch("12 1 seven", 12, 1));
    CHECK_FALSE(launch_epoch("12 1 10000", 12, 1));
    const auto options = [&](const char* dir) {
        Given given;
        given.dir = dir;
        return resolve(given, [&](const char* name) -> const char* {
            const std::string_view wanted(name);
            if (wanted == "RAIL_CKPT_DIR") return "/scratch/a";
            if (wanted == "RAIL_CKPT_LAUNCH") return text.c_str();
            if (wanted == "SLURM_JOB_ID") return "12";
            return wanted == "SLURM_RESTART_COUNT" ? "1" : nullptr;
        });
    };
    CHECK(options("/scratch/a")->launch == 7u);
    CHECK_FALSE(options("/scratch/b")->launch); // railrun claimed the other one
}

TEST_CASE("a lost epoch file is made up for by the checkpoints' names") {
    CHECK(*claim({}, {12, 1}, Above{7}) == claims(9, {{12, 8}}));
    CHECK_THAT(claim({}, {12, 0}, Above{9999}).error().text,
               Catch::Contains("go on in a new checkpoint directory"));
}

TEST_CASE("the owners that are remembered have an end") {
    Claims many;
    for (std::uint64_t job = 1; job <= 1500; ++job)
        many = *claim(std::move(many), {base::JobId(job), 0}, Above{});
    CHECK(many.owners.size() == 1000);
    CHECK(many.owners.back() == Owner{1500, 1499});
}

TEST_CASE("the epoch file is read back as written, and damage is named by its line") {
    const auto some = claims(3, {{12, 0}, {40, 3}});
    CHECK(to_text(some) == "3\n12 0\n40 3\n");
    CHECK(*parse_claims(to_text(some)) == some);
    const auto clusters = claims(3, {{12, 0, "east"}, {40, 3}});
    CHECK(to_text(clusters) == "3\n12 0 east\n40 3\n");
    CHECK(*parse_claims(to_text(clusters)) == clusters);
    const auto refused = [](std::string_view text, const char* what) {
        const auto read = parse_claims(text);
        REQUIRE_FALSE(read);
        CHECK_THAT(read.error().text, Catch::StartsWith(what));
    };
    refused("", "line 1");
    refused("x\n", "line 1");
    refused("10000\n12 0\n", "line 1");
    refused("3", "line 1");
    refused("3\n", "line 2");
    refused("3\n12\n", "line 2");
    refused("3\n12 0\n40 4\n", "line 3");
    refused("3\n12 0\n40 3", "line 3");
    refused("3\n-1 0\n", "line 2");
    refused("3\n12 0 a b\n", "line 2");
    refused("3\n12 0 a", "line 2");
    refused("3\n12 \n", "line 2");
}

TEST_CASE("a fence stands until a later incarnation claims the directory") {
    const Folder folder;
    const auto old = Fence::raise(folder.path, {12, 0});
    REQUIRE(old);
    CHECK(old->epoch() == 0);
    CHECK(old->check());
    const auto fresh = Fence::raise(folder.path, {12, 1});
    REQUIRE(fresh);
    CHECK(read(folder.path / "epoch") == "1\n12 0\n");
    CHECK_THAT(old->check().error().text, Catch::Contains("fenced off"));
    CHECK(fresh->check());
    CHECK_FALSE(Fence::raise(folder.path, {12, 0}));
}

TEST_CASE("a vanished epoch file is written again, a damaged one is an error") {
    const Folder folder;
    const auto fence = Fence::raise(folder.path, {12, 2});
    REQUIRE(fence);
    std::filesystem::remove(folder.path / "epoch");
    CHECK(fence->check());
    CHECK_FALSE(std::filesystem::exists(folder.path / "epoch")); // not without the lock
    CHECK(fence->renew());
    CHECK(read(folder.path / "epoch") == "2\n12 0\n");
    write(folder.path / "epoch", "2\ntorn");
    const auto torn = fence->check();
    REQUIRE_FALSE(torn);
    CHECK(torn.error().code == base::Code::input);
    CHECK_THAT(torn.error().text,
               Catch::Contains("epoch: line 2: ") && Catch::Contains("remove the file if"));
    CHECK_FALSE(Fence::raise(folder.path, {12, 3}));
    CHECK(read(folder.path / "epoch") == "2\ntorn");
}

TEST_CASE("an epoch file that is a link is refused and its target left alone") {
    const Folder folder;
    write(folder.path / "elsewhere", "precious");
    std::filesystem::create_symlink(folder.path / "elsewhere", folder.path / "epoch");
    CHECK_THAT(Fence::raise(folder.path, {12, 0}).error().text, Catch::Contains("is not a regular file"));
    CHECK(read(folder.path / "elsewhere") == "precious");
}

TEST_CASE("a lock is held by one at a time and goes with its holder") {
    const Folder folder;
    const auto file = folder.path / ".lock";
    {
        const auto held = FileLock::acquire(file, base::Duration(0));
        REQUIRE(held);
        const auto second = FileLock::acquire(file, base::Duration(20));
        REQUIRE_FALSE(second);
        CHECK(second.error().code == base::Code::unavailable);
    }
    CHECK(FileLock::acquire(file, base::Duration(0)));
    std::filesystem::create_symlink(folder.path / "target", folder.path / "link");
    CHECK(FileLock::acquire(folder.path / "link", base::Duration(0)).error().code == base::Code::io);
    CHECK_FALSE(std::filesystem::exists(folder.path / "target"));
}
