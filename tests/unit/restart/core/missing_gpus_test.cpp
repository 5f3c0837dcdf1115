// GPUs that their hosts do not see: of one host a fault of that host, of most of them one of their driver.
#include "world.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

using restart::ActionKind;
using restart::Severity;
using namespace std::chrono_literals;

namespace {

std::string name(int i) {
    return fmt::format("n{:03}", i);
}

std::vector<std::string> names(int first, int last) {
    std::vector<std::string> list;
    for (int i = first; i <= last; ++i)
        list.push_back(name(i));
    return list;
}

} // namespace

TEST_CASE("a driver of GPUs that is exchanged on all hosts is one incident, and no host is drained for it") {
    World world(16, 8);
    const auto job = world.submit(names(1, 4));
    world.run(10);
    for (int i = 1; i <= 16; ++i) {
        world.find(name(i), Severity::warn, "gpu.missing");
        world.run(5);
    }
    world.run(60);
    for (int i = 1; i <= 16; ++i) { // two minutes after the first
        world.clear(name(i));
        world.find(name(i), Severity::evict, "gpu.missing");
    }
    world.run(20);
    {
        INFO(world.story());
        REQUIRE(world.state().incidents.size() == 1);
        CHECK(world.state().incidents.begin()->second.cause == "driver of the GPUs");
        CHECK(world.noted("driver of the GPUs: "));
        CHECK(world.actions.empty());
    }
    for (int i = 1; i <= 16; ++i)
        world.clear(name(i));
    world.run(20);
    INFO(world.story());
    CHECK(world.state().incidents.empty());
    CHECK(world.count(ActionKind::drain_host) == 0);
    CHECK(world.job(job).restarts == 0);
}

TEST_CASE("one host whose GPUs are missing is drained, and its job moved") {
    World world(16, 8);
    const auto job = world.submit(names(1, 4));
    world.run(10);
    world.find("n002", Severity::warn, "gpu.missing");
    world.run(30);
    CHECK(world.actions.empty());
    world.clear("n002");
    world.find("n002", Severity::evict, "gpu.missing");
    world.run(60);
    INFO(world.story());
    CHECK(world.node("n002").drain);
    CHECK(world.job(job).restarts == 1);
}
