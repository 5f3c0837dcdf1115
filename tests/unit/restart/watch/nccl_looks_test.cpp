// Whose word NCCL's RAS is: that of the user whose processes listen, for a job of theirs that speaks here.
#include "restart/watch/nccl_looks.hpp"
#include "unit/patience.hpp"
#include "unit/probe/ras_double.hpp"

#include <atomic>
#include <catch2/catch.hpp>

using namespace restart;
using namespace std::chrono_literals;

TEST_CASE("what NCCL says is put to the one job of its user, and to nobody else") {
    JobBook book;
    const JobKey own{12, 0, 1001}, second{13, 0, 1001}, other{14, 0, 1002};
    const NcclWord word{1, {"communicator aa misses 1 ranks: rank 3"}};
    const auto of = [&](const JobKey& key) {
        for (const auto& entry : book.entries())
            if (entry.id == key.id) return entry.nccl;
        return std::optional<NcclWord>();
    };
    CHECK_FALSE(book.has_user(1001));
    book.put_nccl(1001, word); // no job is known yet
    REQUIRE(book.join(own));
    REQUIRE(book.join(other));
    CHECK(book.has_user(1001));
    book.put_nccl(1001, word);
    CHECK(of(own) == word);
    CHECK_FALSE(of(other));
    // Of two jobs of one user it cannot be told which is meant.
    REQUIRE(book.join(second));
    book.put_nccl(1001, word);
    CHECK_FALSE(of(own));
    CHECK_FALSE(of(second));
    book.leave(second);
    book.put_nccl(1001, word);
    CHECK(of(own) == word);
    book.put_nccl(1001, std::nullopt);
    CHECK_FALSE(of(own));
    book.leave(own);
    CHECK_FALSE(book.has_user(1001));
}

TEST_CASE("of the processes that RAS names an agent tells those of its own host") {
    probe::RasStatus status;
    status.lost = {{-1, "5", 77, "10.0.0.3"}, {-1, "6", 78, "10.0.0.4"}};
    auto& one = status.communicators.emplace_back();
    one.id = "aa";
    one.missing_ranks = {{29, "5", 77, "10.0.0.3"}};
    one.lags = {{"AllReduce", 90, 50, {{14, "2 (NVML 7)", 70, "10.0.0.3"}, {15, "0-3", 71, "10.0.0.3"}}},
                {"Broadcast", 9, 8, {{14, "2 (NVML 7)", 70, "10.0.0.3"}, {16, "1", 72, "10.0.0.4"}}}};
    CHECK(ras_signs(status, {"127.0.0.1", "10.0.0.3"}) ==
          std::vector<RasSign>{{5, true, 0}, {-1, false, 40}, {7, false, 40}});
    CHECK(ras_signs(status, {"10.0.0.4"}) == std::vector<RasSign>{{6, true, 0}, {1, false, 1}});
    CHECK(ras_signs(status, {"10.0.0.5"}).empty());
    CHECK(ras_signs(status, {}).empty());
    for (const auto* gpu : {"", "x", "-4", "9999", "99999999999", "2 (NVML )", "2 (NVML 3", "(NVML 3)"}) {
        INFO(gpu);
        status.lost = {{-1, gpu, 77, "n"}};
        CHECK(ras_signs(status, {"n"}) == std::vector<RasSign>{{-1, true, 0}});
    }
    // A report has room for so many.
    status.lost.clear();
    for (int gpu = 0; gpu < 40; ++gpu)
        status.lost.push_back({-1, std::to_string(gpu), 77, "n"});
    CHECK(ras_signs(status, {"n"}).size() == most_ras_signs);
}

TEST_CASE("only a job of the user who listens is asked about") {
    const test::RasDouble ras(
        "NCCL version 2.27.3 compiled with CUDA 12.9\nJob summary\n===========\n\nErrors\n======\n\n"
        "#0-0 (aa) INCOMPLETE\n  Missing communicator data from 1 rank\n"
        "  Rank 3 -- GPU 3 managed by process 9 on node 127.0.0.1\n\nWarnings\n========\n\n");
    NcclSettings settings;
    settings.port = ras.port;
    settings.every = 10ms;
    const auto strangers = std::make_shared<JobBook>();
    REQUIRE(strangers->join({12, 0, ::getuid() + 1}));
    {
        TaskLoop loop(24h);
        const NcclLooks looks(loop, strangers, settings);
        const auto turns = std::make_shared<std::atomic<int>>(0);
        const auto after = loop.add([turns] {
            ++*turns;
            return next_beat(10ms);
        });
        REQUIRE(test::eventually([&] { return *turns > 2; })); // it has looked once at least
    }
    CHECK(ras.clients() == 0);
    CHECK_FALSE(strangers->entries()[0].nccl);

    const auto book = std::make_shared<JobBook>();
    REQUIRE(book->join({12, 0, ::getuid()}));
    TaskLoop loop(24h);
    const NcclLooks looks(loop, book, settings);
    REQUIRE(test::eventually([&] { return book->entries()[0].nccl.has_value(); }));
    const auto word = book->entries()[0].nccl;
    CHECK(word->troubles ==
          std::vector<std::string>{"communicator aa misses 1 ranks: rank 3 (GPU 3, process 9 on 127.0.0.1)"});
    CHECK(word->here == std::vector<RasSign>{{3, true, 0}});
    // Once its job has gone nothing is said of it.
    book->leave({12, 0, ::getuid()});
    CHECK(test::eventually([&] { return !book->entries()[0].nccl; }));
}
