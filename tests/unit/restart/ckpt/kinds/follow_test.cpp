#include "layouts.hpp"
#include "restart/ckpt/kinds/follow.hpp"

using namespace kinds_test;
using namespace restart::ckpt::kinds;
using Catch::Contains;

namespace {

base::Time minute(double minutes) {
    return hour_ago + base::duration_from_seconds(minutes * 60);
}

struct Following {
    Layout there;
    bool stale = false;
    Follower follower;

    explicit Following(std::string_view word, double since = 0)
        : follower(kind(word), minute(since), [this]() -> base::Expected<std::unique_ptr<Files>> {
              auto files = FilesOnDisk::open(there.dir.string());
              if (!files) return std::move(files).error();
              if (stale) return std::unique_ptr<Files>(new Failing(there.dir.string(), 1));
              return std::unique_ptr<Files>(*std::move(files));
          }) {}

    std::optional<News> look() {
        auto news = follower.look(base::now());
        INFO((news ? "" : news.error().text));
        REQUIRE(news);
        return *std::move(news);
    }
};

} // namespace

TEST_CASE("each whole checkpoint is news once, with when it was begun and done") {
    Following following("megatron");
    CHECK_FALSE(following.look());
    following.there.iteration(100, 1);
    CHECK_FALSE(following.look()); // its tracker does not name it
    following.there.tracker("100", 2);
    const auto first = following.look();
    REQUIRE(first);
    CHECK(first->whole.step == 100u);
    CHECK(first->path == (following.there.dir / "iter_0000100").string());
    CHECK(first->remark.empty());
    CHECK_FALSE(following.look());
    following.there.iteration(200, 3);
    CHECK_FALSE(following.look());
    following.there.tracker("200", 4);
    const auto second = following.look();
    REQUIRE(second);
    CHECK(base::to_seconds(second->whole.done - second->begun) == Approx(60).margin(1));
    CHECK_FALSE(following.look());
}

TEST_CASE("where nothing has changed a look asks a few questions only") {
    Following following("auto");
    for (int rank = 0; rank < 200; ++rank)
        following.there.put(fmt::format("iter_0000100/__{}_0.distcp", rank), "tensors", 1);
    following.there.iteration(100, 1);
    following.there.tracker("100", 2);
    CHECK(following.look());
    CHECK(following.follower.looked() > 200);
    following.look(); // what changed during the first look would be seen now
    CHECK_FALSE(following.look());
    CHECK(following.follower.looked() > 200); // the folders have changed this very moment, and may again
    following.there.touch("", 2);
    following.there.touch("iter_0000100", 2);
    following.look();
    CHECK_FALSE(following.look());
    CHECK(following.follower.looked() <= 4);
    // No more than 500 questions a second.
    CHECK(following.follower.least_wait() <= base::Duration(8));
}

TEST_CASE("a change is seen whatever changes") {
    Following following("dcp");
    following.there.shards("step-100", 1);
    const auto rest = [&] {
        for (const auto* folder : {"", "step-100", "step-200"})
            if (std::filesystem::exists(following.there.dir / folder)) following.there.touch(folder, 1);
        following.look();
        CHECK_FALSE(following.look());
        CHECK(following.follower.looked() <= 4);
    };
    CHECK(following.look());
    rest();
    following.there.shards("step-200", 2, false);
    CHECK_FALSE(following.look());
    rest();
    following.there.put("step-200/.metadata", "pickle", 2.1);
    const auto news = following.look();
    REQUIRE(news);
    CHECK(news->whole.step == 200u);
    // Written again in place: until that is done the one before it is the newest whole one.
    rest();
    following.there.put("step-200/.metadata.tmp", "pickle", 5);
    const auto back = following.look();
    REQUIRE(back);
    CHECK(back->whole.step == 100u);
    CHECK_FALSE(back->remark.empty());
    following.there.shards("step-200", 5);
    following.there.remove("step-200/.metadata.tmp");
    const auto again = following.look();
    REQUIRE(again);
    CHECK(base::to_seconds(again->whole.done - again->begun) == Approx(6).margin(1));
}

TEST_CASE("what was whole before this start of the job is no news") {
    Following following("megatron", 10);
    following.there.iteration(100, 1);
    following.there.tracker("100", 2);
    CHECK_FALSE(following.look());
    following.there.iteration(200, 11);
    following.there.tracker("200", 12);
    REQUIRE(following.look());
}

TEST_CASE("a step back is reported, and said") {
    Following following("megatron");
    following.there.iteration(100, 1);
    following.there.iteration(200, 2);
    following.there.tracker("200", 3);
    CHECK(following.look());
    following.there.tracker("100", 4);
    const auto news = following.look();
    REQUIRE(news);
    CHECK(news->whole.step == 100u);
    CHECK_THAT(news->remark,
               Contains("is behind step 200") && Contains("another one writes to this directory"));
}

TEST_CASE("after a look that failed the next one looks at all") {
    Following following("megatron");
    following.there.iteration(100, 1);
    following.there.tracker("100", 2);
    CHECK(following.look());
    following.stale = true;
    const auto failed = following.follower.look(base::now());
    REQUIRE_FALSE(failed);
    CHECK_THAT(failed.error().text, Contains("Stale file handle"));
    following.there.iteration(200, 3);
    following.there.tracker("200", 4);
    following.stale = false;
    const auto news = following.look();
    REQUIRE(news);
    CHECK(news->whole.step == 200u);
}

TEST_CASE("the period follows the job's interval") {
    CHECK(Follower::period({}) == base::Duration(5'000));
    CHECK(Follower::period(600.0) == base::Duration(10'000));
    CHECK(Follower::period(10.0) == base::Duration(1'000));
    CHECK(Follower::period(43200.0) == base::Duration(30'000));
}
