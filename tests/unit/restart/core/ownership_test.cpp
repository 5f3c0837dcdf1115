// Whose drain or down it is: ours by the tag, under any journal; else another's, who is named and left alone.
#include "world.hpp"

#include "restart/core/act/gate.hpp"
#include "restart/core/facts/host_use.hpp"
#include "restart/core/facts/kept_out.hpp"

#include <catch2/catch.hpp>

using restart::ActionKind;
using restart::Severity;

namespace {

void tag(World& world, const std::string& host, const std::string& reason) {
    world.node(host).drain = true;
    world.node(host).reason = reason;
}

} // namespace

TEST_CASE("a new journal knows the hosts that an earlier one drained, and uses no number of theirs") {
    World world(8);
    tag(world, "n003", "railyard[i-7]: gpu3 gpu.fell_off");
    tag(world, "n004", "railyard[i-41]: host lost");
    tag(world, "n005", "railyard[user:alice]: fan");
    world.run(2);
    CHECK(restart::drained_by_us(world.state()) == 2); // a person's request is none of the bounds'
    CHECK(world.state().next_incident == 42);
    world.find("n001", Severity::fatal);
    world.run(5);
    INFO(world.story());
    CHECK(world.node("n001").reason.starts_with("railyard[i-42]: "));
    for (const auto* host : {"n003", "n005"}) {
        world.send(restart::OperatorResume{host, "alice"});
        CHECK_FALSE(world.refused);
        world.run(3);
        CHECK_FALSE(world.node(host).drain);
    }
    CHECK(world.state().incidents.empty());
}

TEST_CASE("numbers that nobody gave an incident are passed over") {
    World world(8);
    const auto* reason =
        GENERATE("railyard[i-99999999999999999999]: x", "railyard[i-]: x", "railyard[i-7x]: x",
                 "railyard[i--7]: x", "railyard[i-18446744073709551615]: x", "i-7: x", "railyard[i-7");
    tag(world, "n003", reason);
    world.run(2);
    CHECK(world.state().next_incident == 1);
}

TEST_CASE("what another keeps out of use is left alone and named, be it drained or down") {
    struct Case {
        const char *by, *reason;
    };
    const auto one = GENERATE(Case{"slurmctld", "Kill task failed"},
                              Case{"NHC", "NHC: check_fs_mount: /scratch"}, Case{"alice", "fan"});
    const bool down = GENERATE(true, false);
    World world(8);
    world.submit({"n001", "n002"});
    auto& node = world.node("n002");
    (down ? node.down : node.drain) = true;
    node.reason = one.reason;
    node.set_by = one.by;
    world.run(2);
    const auto before = node;
    world.find("n002", Severity::fatal);
    world.run(20);
    INFO(world.story());
    CHECK(node == before);
    CHECK(world.noted("n002 is not drained: " + std::string(one.by) + " has done so: " + one.reason));
    CHECK(world.noted("closed; n002 is kept out of use by " + std::string(one.by) + ": " + one.reason));
    CHECK(world.count(ActionKind::drain_host) + world.count(ActionKind::down_host) == 0);
    world.send(restart::OperatorResume{"n002", "bob"});
    REQUIRE(world.refused);
    CHECK(world.refused->text == "n002 was drained by " + std::string(one.by) + ", not by Railyard (" +
                                     one.reason + "): resume it with scontrol");
    CHECK(node == before);
}

TEST_CASE("a lost host that another set down is neither drained nor renamed") {
    World world(8);
    const auto job = world.submit({"n001", "n002"});
    world.run(2);
    world.power_off("n002");
    world.node("n002").down = true;
    world.node("n002").reason = "psu";
    world.node("n002").set_by = "alice";
    world.run(40);
    INFO(world.story());
    CHECK(world.job(job).restarts == 1);
    CHECK_FALSE(world.node("n002").drain);
    CHECK(world.node("n002").reason == "psu");
}

TEST_CASE("a host is kept out of use by us, by others or by nobody, and by one of them alone") {
    struct Case {
        bool drain, down, automatic;
        const char* reason;
        restart::Keeper keeper;
        bool our_drain;
    };
    using restart::Keeper;
    const auto one = GENERATE(
        Case{false, false, false, "", Keeper::nobody, false},
        Case{false, false, false, "railyard[i-7]: gpu3", Keeper::nobody, false}, // resumed, its reason stays
        Case{false, true, true, "Not responding", Keeper::nobody, false},
        Case{false, true, false, "fan", Keeper::others, false},
        Case{true, false, false, "fan", Keeper::others, false},
        Case{true, true, false, "", Keeper::others, false},
        Case{true, true, true, "Not responding", Keeper::others, false},
        Case{false, true, false, "railyard[i-7]: lost", Keeper::us, false},
        Case{true, false, false, "railyard[user:alice]: fan", Keeper::us, true},
        Case{true, true, false, "railyard[i-7]: lost", Keeper::us, true});
    restart::RmNode node;
    node.drain = one.drain;
    node.down = one.down;
    node.automatic = one.automatic;
    node.reason = one.reason;
    INFO(one.reason);
    CHECK(restart::keeper_of(node) == one.keeper);
    CHECK(restart::is_our_drain(node) == one.our_drain);
    restart::HostState host;
    CHECK_FALSE((restart::owned_by_us(host) || restart::owned_by_others(host)));
    host.node = node;
    CHECK(restart::owned_by_us(host) == (one.keeper == Keeper::us));
    CHECK(restart::owned_by_others(host) == (one.keeper == Keeper::others));
}
