// Silent hosts that the resource manager's daemon on them is asked about.
#include "restart/core/detect/asking.hpp"
#include "world.hpp"

#include <catch2/catch.hpp>

using restart::ActionKind;
using restart::Life;
using Names = std::vector<std::string>;

namespace {

constexpr double never = 1e6; // the resource manager does not notice by itself

Names to_ask(const World& world) {
    return restart::hosts_to_ask(world.state(), world.now(), world.policy);
}

} // namespace

TEST_CASE("a host whose agent is silent for a while is asked about, one that reports is not") {
    World world(8);
    world.run(5);
    CHECK(to_ask(world).empty());
    world.power_off("n002", never);
    world.run(1);
    CHECK(to_ask(world).empty());
    world.run(1.5);
    CHECK(to_ask(world) == Names{"n002"});
    world.start_agent("n002");
    world.run(1.5);
    CHECK(to_ask(world).empty());
}

TEST_CASE("nobody is asked about many that are silent at once") {
    World world(8);
    world.run(5);
    for (const auto* host : {"n001", "n002", "n003"})
        world.stop_agent(host);
    world.run(2.5);
    CHECK(to_ask(world).empty());
}

TEST_CASE("a host that takes connections and answers none is lost once it is silent") {
    World world(8);
    const auto job = world.submit({"n001", "n002"});
    world.run(5);
    world.power_off("n002", never); // hangs: its links stay up
    world.run(2);
    world.send(restart::HostAsked{"n002", Life::mute});
    CHECK(world.actions.empty()); // [node_loss] silent is not over
    world.run(2);
    INFO(world.story());
    CHECK(world.count(ActionKind::down_host) == 1);
    CHECK(world.noted("second witness: it takes connections, and neither its agent nor"));
    world.run(5);
    CHECK(world.job(job).restarts == 1);
}

TEST_CASE("one that answers, or was not reached, is not lost by that") {
    const auto life = GENERATE(Life::answers, Life::unknown);
    World world(8);
    world.run(5);
    world.stop_agent("n002");
    world.run(2);
    world.send(restart::HostAsked{"n002", life});
    world.run(20);
    INFO(world.story());
    CHECK(world.actions.empty());
}

TEST_CASE("an answer takes a former silence back, and so does a report") {
    World world(8);
    world.run(5);
    world.stop_agent("n002");
    world.run(2);
    world.send(restart::HostAsked{"n002", Life::mute});
    SECTION("an answer") {
        world.send(restart::HostAsked{"n002", Life::answers});
    }
    SECTION("a report") {
        world.start_agent("n002");
        world.run(1);
        world.stop_agent("n002");
    }
    world.run(20);
    INFO(world.story());
    CHECK(world.actions.empty());
}

TEST_CASE("hosts that fell silent together are not lost by answering none") {
    World world(8);
    world.run(5);
    for (const auto* host : {"n001", "n002", "n003", "n004"})
        world.stop_agent(host);
    world.run(2);
    world.send(restart::HostAsked{"n002", Life::mute});
    world.run(20);
    INFO(world.story());
    CHECK(world.actions.empty());
}

TEST_CASE("what is learnt of a host that nobody knows is nothing") {
    World world(4);
    world.run(5);
    world.send(restart::HostAsked{"n900", Life::mute});
    CHECK_FALSE(world.state().hosts.contains("n900"));
}
