#include "restart/core/facts/host_use.hpp"

#include <catch2/catch.hpp>

using namespace std::chrono_literals;
using Use = base::HostState;

TEST_CASE("a host that has not answered a ping is down, unless its agent and its slurmd live") {
    const auto now = base::time_from_seconds(1'700'000'000);
    restart::HostState host;
    const auto use = [&] { return restart::use_now(host, now, 3s); };
    CHECK_FALSE(use());
    host.node.emplace();
    CHECK_FALSE(use()); // of an older release
    host.node->use = Use::free;
    CHECK(use() == Use::free);
    host.node->not_responding = true; // it was resumed a moment ago, or is gone
    CHECK(use() == Use::down);
    host.last_report = now - 1s;
    CHECK(use() == Use::down); // its slurmd may be dead
    host.slurmd.emplace();
    CHECK(use() == Use::free);
    host.node->use = Use::busy;
    CHECK(use() == Use::busy);
    host.lost = true;
    CHECK(use() == Use::down);
    host.lost = false;
    host.last_report = now - 4s;
    CHECK(use() == Use::down);
    host.node->use = Use::drained;
    CHECK(use() == Use::drained);
}
