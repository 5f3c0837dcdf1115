// Other hosts are asked to look at one whose agent is silent: who, how many, and what their word counts.
#include "restart/core/detect/peers.hpp"
#include "world.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

using base::Knocked;
using restart::ActionKind;
using restart::IncidentKind;

namespace {

constexpr double never = 1e6; // the resource manager does not notice by itself

std::string name(int i) {
    return fmt::format("n{:03}", i);
}

// Units of 8, agents that look at others.
World peers(std::size_t hosts = 32) {
    World world(hosts);
    world.peers_look = true;
    world.round_trip = 16;
    world.run(5);
    return world;
}

// Neither restartd nor slurmctld hears it; whether peers reach it is up to the test.
void cut_from_ctl(World& world, const std::string& host) {
    world.set_heard(host, false, false);
}

std::vector<std::string> asked_about(const World& world, const std::string& host) {
    std::vector<std::string> names;
    if (const auto looks = world.state().looks.find(host); looks != world.state().looks.end())
        for (const auto& look : looks->second.peers)
            names.push_back(look.peer);
    return names;
}

std::string unit_of(const World& world, const std::string& host) {
    return world.state().hosts.at(host).unit;
}

// What is seen of one host by each peer; all else is reached.
auto of_host(const std::string& host, std::function<Knocked(const std::string&)> saw) {
    return [=](const std::string& peer, const std::string& looked) {
        return looked == host ? saw(peer) : Knocked::answers;
    };
}

} // namespace

TEST_CASE("three peers look at a silent host: one of its unit, the others of units of their own") {
    auto world = peers();
    CHECK(world.state().looks.empty());
    world.power_off("n002", never);
    world.run(2);
    const auto asked = asked_about(world, "n002");
    REQUIRE(asked.size() == 3);
    std::set<std::string> units;
    for (const auto& peer : asked)
        units.insert(unit_of(world, peer));
    CHECK(units.size() == 3);
    CHECK(units.contains("su1"));
    world.start_agent("n002");
    world.run(1.5);
    CHECK(world.state().looks.empty());
}

TEST_CASE("racks go before units, and the same state asks the same peers") {
    auto world = peers();
    for (int i = 1; i <= 32; ++i)
        world.policy.racks[name(i)] = i % 2 == 0 ? "even" : "odd";
    world.run(5);
    world.power_off("n002", never);
    auto again = world;
    world.run(2);
    const auto asked = asked_about(world, "n002");
    REQUIRE(asked.size() == 3);
    CHECK((asked.front().back() - '0') % 2 == 0);
    CHECK((asked.at(1).back() - '0') % 2 == 1);
    again.run(2);
    CHECK(asked_about(again, "n002") == asked);
}

TEST_CASE("a host that is alone cut off from restartd and slurmctld is not set down while peers reach it") {
    const auto saw = GENERATE(Knocked::answers, Knocked::refused);
    auto world = peers();
    const auto job = world.submit({"n001", "n002"});
    world.run(2);
    cut_from_ctl(world, "n002");
    world.sees = of_host("n002", [&](const std::string&) { return saw; });
    world.run(120);
    INFO(world.story());
    CHECK(world.actions.empty());
    CHECK(world.job(job).restarts == 0);
    CHECK(world.noted("3 other hosts (n["));
    CHECK(world.noted(saw == Knocked::refused ? "reach it, whose kernel refuses" : "]) reach it"));
    CHECK(world.noted("the host lives: its agent is dead, or its way to restartd is broken"));
    CHECK_FALSE(world.noted("no second witness"));
    CHECK(world.state().incidents.empty()); // dropped at once, and said once
    CHECK(world.state().hosts.at("n002").suspicion_dropped);
    world.set_heard("n002", true, true);
    world.run(5);
    CHECK(world.state().looks.empty());
}

TEST_CASE("without peers it is set down as before") {
    auto world = peers();
    SECTION("agents are of an older release") {
        world.peers_look = false;
        world.run(2);
    }
    SECTION("slurmctld does not say where its slurmd is") {
        world.node("n002").port = 0;
        world.run(2);
    }
    SECTION("they never answer") {
        world.carrier = [&](restart::Report report) {
            report.sights.clear();
            world.deliver(report);
        };
    }
    cut_from_ctl(world, "n002");
    world.run(12);
    INFO(world.story());
    CHECK(world.count(ActionKind::down_host) == 1);
}

TEST_CASE("what Slurm has decided itself stands, whatever peers say") {
    auto world = peers();
    const auto job = world.submit({"n001", "n002"});
    world.run(2);
    cut_from_ctl(world, "n002");
    world.sees = of_host("n002", [](const std::string&) { return Knocked::answers; });
    world.run(60);
    REQUIRE(world.actions.empty());
    world.rm_sets_down("n002");
    world.run(10);
    INFO(world.story());
    CHECK(world.state().hosts.at("n002").lost);
    CHECK(world.job(job).restarts == 1);
}

TEST_CASE("so does the fabric") {
    auto world = peers();
    world.stop_agent("n002");
    world.sees = of_host("n002", [](const std::string&) { return Knocked::answers; });
    world.run(2);
    restart::FabricReport sweep;
    sweep.complete = true;
    sweep.hosts["n002"] = {0, 8};
    world.send(restart::FabricSwept{sweep});
    world.run(3);
    INFO(world.story());
    CHECK(world.count(ActionKind::down_host) == 1);
}

TEST_CASE("a host that nobody reaches stays suspected until Slurm's next ping, and is lost then") {
    auto world = peers();
    const auto job = world.submit({"n001", "n002"});
    world.run(2);
    world.power_off("n002", 90); // SlurmdTimeout is 300 s, its pings come each 100 s
    world.run(60);
    INFO(world.story());
    CHECK(world.actions.empty()); // peers alone never condemn
    CHECK(world.noted("reach others and not this one"));
    CHECK_FALSE(world.noted("suspicion dropped"));
    CHECK(world.looked_at.size() > 1); // what they compare with
    REQUIRE(world.state().incidents.size() == 1);
    world.run(40);
    CHECK(world.count(ActionKind::down_host) == 1);
    world.run(10);
    CHECK(world.job(job).restarts == 1);
    CHECK(world.state().looks.empty());
}

TEST_CASE("a suspicion that peers keep open outlives restartd, and keeps its beginning") {
    auto world = peers();
    world.policy.witness_wait = GENERATE(base::Duration(500), base::Duration(3'000), base::Duration(30'000));
    world.power_off("n002", never);
    world.run(world.policy.witness_wait > base::Duration(3'000) ? 40 : 12);
    INFO(world.story());
    REQUIRE(world.state().incidents.size() == 1);
    const auto before = world.state().incidents.begin()->second;
    REQUIRE(before.phase == restart::Phase::suspected);
    const auto notes = world.notes.size();
    const double away = GENERATE(0.0, 20.0, 600.0);
    world.sleep(away);
    world.restart_daemon();
    for (int i = 0; i < 60; ++i) {
        world.run(1);
        INFO(i << " s: " << world.story());
        REQUIRE(world.state().incidents.size() == 1);
        const auto& now = world.state().incidents.begin()->second;
        REQUIRE(now.number == before.number);
        CHECK(now.opened == before.opened);
        CHECK(now.fault == before.fault);
    }
    CHECK(world.notes.size() == notes); // nothing new, so nothing to say
}

TEST_CASE("a suspicion that was dropped is taken up again when peers lose the host, too") {
    auto world = peers();
    world.stop_agent("n002");
    world.run(20);
    REQUIRE(world.state().incidents.empty());
    world.power_off("n002", 60);
    world.run(30);
    {
        INFO(world.story());
        REQUIRE(world.state().incidents.size() == 1);
        CHECK(world.actions.empty());
    }
    world.run(60);
    INFO(world.story());
    CHECK(world.count(ActionKind::down_host) == 1);
}

TEST_CASE("a host that dies after peers reached it is not saved by what they saw before") {
    auto world = peers();
    world.stop_agent("n002");
    world.run(2.2);
    REQUIRE(asked_about(world, "n002").size() == 3);
    world.power_off("n002", 0.1);
    world.run(12);
    INFO(world.story());
    CHECK(world.count(ActionKind::down_host) == 1);
}

TEST_CASE("a kernel that hangs takes their connections as well") {
    auto world = peers();
    world.power_off("n002", never);
    world.sees = of_host("n002", [](const std::string&) { return Knocked::mute; });
    world.run(2);
    world.send(restart::HostAsked{"n002", restart::Life::mute});
    world.run(2.5);
    INFO(world.story());
    CHECK(world.count(ActionKind::down_host) == 1);
}

TEST_CASE("what answers peers is not hung, whatever restartd gets from it; a refusal says nothing there") {
    const auto saw = GENERATE(Knocked::answers, Knocked::refused);
    auto world = peers();
    world.stop_agent("n002");
    world.sees = of_host("n002", [&](const std::string&) { return saw; });
    world.run(2);
    world.send(restart::HostAsked{"n002", restart::Life::mute});
    world.run(10);
    INFO(world.story());
    CHECK(world.count(ActionKind::down_host) == (saw == Knocked::answers ? 0 : 1));
}

TEST_CASE("one that lies delays a loss for a time, and saves nobody that others do not reach") {
    auto world = peers();
    world.power_off("n002", 1);
    std::string liar;
    world.sees = of_host("n002", [&](const std::string& peer) {
        if (liar.empty()) liar = peer;
        return peer == liar ? Knocked::answers : Knocked::unreached;
    });
    world.run(10);
    {
        INFO(world.story());
        CHECK(world.actions.empty());
        CHECK(world.noted(" reaches it, "));
        CHECK(asked_about(world, "n002").size() == 4); // one more, of the liar's unit
    }
    world.run(30);
    INFO(world.story());
    CHECK(world.count(ActionKind::down_host) == 1);
}

TEST_CASE("one that lies condemns nobody") {
    auto world = peers();
    cut_from_ctl(world, "n002");
    std::string liar;
    world.sees = of_host("n002", [&](const std::string& peer) {
        if (liar.empty()) liar = peer;
        return peer == liar ? Knocked::unreached : Knocked::answers;
    });
    world.run(60);
    INFO(world.story());
    CHECK(world.actions.empty());
}

TEST_CASE("one of the silent host's own rack alone reaches it: its neighbour is asked, and believed") {
    auto world = peers();
    cut_from_ctl(world, "n002"); // the way out of its subnet is wrong
    world.sees = of_host("n002", [&](const std::string& peer) {
        return unit_of(world, peer) == "su1" ? Knocked::answers : Knocked::unreached;
    });
    world.run(60);
    INFO(world.story());
    CHECK(world.actions.empty());
    CHECK(world.noted("the host lives"));
}

TEST_CASE("peers that reach nothing have no view, and others are asked instead") {
    auto world = peers();
    world.power_off("n002", never);
    std::set<std::string> blind;
    world.sees = [&](const std::string& peer, const std::string& host) {
        if (host == "n002" && blind.size() < 2) blind.insert(peer);
        return host == "n002" || blind.contains(peer) ? Knocked::unreached : Knocked::answers;
    };
    world.run(20);
    INFO(world.story());
    CHECK(asked_about(world, "n002").size() == 5);
    CHECK(world.noted("3 other hosts (n["));
    for (const auto& look : world.state().looks.at("n002").peers)
        if (blind.contains(look.peer)) CHECK(look.saw == Knocked::unknown);
}

TEST_CASE("peers of one foreign place alone keep no suspicion open: what is between may be theirs") {
    World world(16);
    world.peers_look = true;
    for (int i = 1; i <= 8; ++i)
        world.old_agents.insert(name(i));
    world.run(5);
    world.stop_agent("n002");
    world.sees = of_host("n002", [](const std::string&) { return Knocked::unreached; });
    world.run(40);
    INFO(world.story());
    CHECK(world.noted("no second witness"));
    CHECK(world.actions.empty());
}

TEST_CASE("late, repeated and invented answers are no answers") {
    auto world = peers();
    world.stop_agent("n002");
    world.sees = of_host("n002", [](const std::string&) { return Knocked::unreached; });
    world.run(3);
    auto asked = world.state().looks.at("n002");
    REQUIRE(asked.peers.size() == 3);
    const auto& first = asked.peers.front();
    const auto says = [&](const std::string& peer, std::uint64_t number) {
        restart::Report report;
        report.host = peer;
        report.boot_id = "b-" + peer;
        report.looks = true;
        report.sights = {{number, "n002", Knocked::answers}};
        world.send(restart::AgentReported{report});
    };
    const auto saw = [&](const std::string& peer) {
        for (const auto& look : world.state().looks.at("n002").peers)
            if (look.peer == peer) return look.saw;
        return Knocked::unknown;
    };
    const auto before = saw(first.peer);
    says(first.peer, first.number + 1000); // of no question
    says(first.peer, asked.peers.at(1).number);
    says(first.peer, 0);
    says("n031", first.number); // of another's
    CHECK(saw(first.peer) == before);
    CHECK(saw("n031") == Knocked::unknown);
}

TEST_CASE("half of the cluster silent: a bounded number of questions, and one sentence about it") {
    auto world = peers(64);
    world.policy.max_lost_percent = world.policy.max_drained_percent = 100;
    for (int i = 1; i <= 32; ++i)
        cut_from_ctl(world, name(i));
    const bool live = GENERATE(true, false);
    world.sees = [&](const std::string&, const std::string& host) {
        return host > name(32) || live ? Knocked::answers : Knocked::unreached;
    };
    for (int i = 0; i < 30; ++i) {
        world.run(1);
        std::size_t questions = 0;
        for (const auto& [host, looks] : world.state().looks)
            questions += looks.peers.size();
        CHECK(world.state().looks.size() <= restart::most_looked_at);
        CHECK(questions <= restart::most_looked_at * (restart::most_peers + 1));
    }
    INFO(world.story());
    CHECK(world.actions.empty());
    REQUIRE(world.state().incidents.size() == 1);
    CHECK(world.state().incidents.begin()->second.kind == IncidentKind::mass_silence);
    CHECK(world.noted(live ? "8 are reached and 0 are not: they live, and their way to restartd is broken"
                           : "0 are reached and 8 are not: their network is broken, or they are"));
}

TEST_CASE("agents that have been dead for long do not keep peers from a host that falls silent") {
    auto world = peers(64);
    for (int i = 1; i <= 10; ++i) {
        world.stop_agent(name(i));
        world.run(20); // none of them together
    }
    CHECK(world.state().looks.size() == restart::most_looked_at);
    cut_from_ctl(world, "n020");
    world.sees = [](const std::string&, const std::string&) { return Knocked::answers; };
    world.run(30);
    INFO(world.story());
    CHECK(world.state().looks.contains("n020"));
    CHECK(world.actions.empty());
}

TEST_CASE("a host is looked at more and more seldom, and numbers do not come again after a restart") {
    auto world = peers();
    world.stop_agent("n002");
    world.run(60);
    const auto in_a_minute = world.looked_at["n002"];
    CHECK(in_a_minute <= 3 * 11);
    world.run(3540);
    const auto in_an_hour = world.looked_at["n002"];
    CHECK(in_an_hour < 5 * in_a_minute);
    const auto next = world.state().next_look;
    world.restart_daemon();
    CHECK(world.state().next_look > next);
    world.run(30);
    REQUIRE(asked_about(world, "n002").size() == 3);
    world.sleep(-3600); // the clock is set back: what was asked lies in the future
    world.run(30);
    for (const auto& look : world.state().looks.at("n002").peers)
        CHECK(look.from <= world.now());
}
