#include "restart/watch/peer_looker.hpp"

#include "unit/patience.hpp"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <set>

using namespace restart;

namespace {

LookRequest request(std::uint64_t number, const std::string& host = "n002") {
    return {number, host, "127.0.0.1", 6818};
}

} // namespace

TEST_CASE("what was asked for is looked at once, said as long as it is asked for, and then forgotten") {
    std::atomic<unsigned> looks = 0, news = 0;
    PeerLooker looker([&] { ++news; },
                      [&](const LookRequest& look) {
                          ++looks;
                          return look.host == "n002" ? base::Knocked::mute : base::Knocked::answers;
                      });
    CHECK(looker.sights().empty());
    looker.wanted({request(7)});
    REQUIRE(test::eventually([&] { return looker.sights().size() == 1; }));
    CHECK(looker.sights().front() == Sight{7, "n002", base::Knocked::mute});
    CHECK(test::eventually([&] { return news == 1; }));
    looker.wanted({request(7)}); // the report was lost
    CHECK(looker.sights().size() == 1);
    looker.wanted({request(7, "n009")}); // to compare: the same number, another host
    REQUIRE(test::eventually([&] { return looker.sights().size() == 1; }));
    CHECK(looker.sights().front() == Sight{7, "n009", base::Knocked::answers});
    looker.wanted({});
    CHECK(looker.sights().empty());
    CHECK(looks == 2);
}

TEST_CASE("few looks are under way at once, and one that hangs holds up nobody who asks") {
    std::mutex mutex;
    std::condition_variable open;
    bool opened = false;
    std::size_t inside = 0, most = 0;
    std::set<std::uint64_t> seen;
    {
        PeerLooker looker([] {},
                          [&](const LookRequest& look) {
                              std::unique_lock lock(mutex);
                              most = std::max(most, ++inside);
                              if (look.number > 1) open.wait(lock, [&] { return opened; });
                              --inside;
                              return base::Knocked::answers;
                          });
        std::vector<LookRequest> all;
        for (std::uint64_t number = 1; number <= 8; ++number)
            all.push_back(request(number));
        looker.wanted(all);
        REQUIRE(test::eventually([&] {
            const std::lock_guard lock(mutex);
            return inside == PeerLooker::most_at_once;
        }));
        CHECK(looker.sights().size() == 1);
        // Those under way are no longer wanted: nobody is told of them, and the others begin.
        looker.wanted({request(7), request(8)});
        {
            const std::lock_guard lock(mutex);
            opened = true;
        }
        open.notify_all();
        REQUIRE(test::eventually([&] { return looker.sights().size() == 2; }));
        for (const auto& sight : looker.sights())
            seen.insert(sight.number);
    }
    CHECK(seen == std::set<std::uint64_t>{7, 8});
    CHECK(most == PeerLooker::most_at_once);
}

TEST_CASE("by itself it knocks at the address") {
    PeerLooker looker([] {});
    looker.wanted({{1, "n002", "127.0.0.1", 1}, {2, "n003", "no host has this name", 6818}});
    REQUIRE(test::eventually([&] { return looker.sights().size() == 2; }));
    for (const auto& sight : looker.sights())
        CHECK(sight.saw == (sight.number == 1 ? base::Knocked::refused : base::Knocked::unknown));
}
