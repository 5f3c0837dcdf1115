// A fabric file that does not fit the hosts: it is blamed, they are not.
#include "restart/core/detect/health.hpp"
#include "world.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

using restart::ActionKind;
using restart::Severity;

namespace {

std::string host(int n) {
    return fmt::format("n{:03}", n);
}

std::size_t blamed(const World& world) {
    std::size_t n = 0;
    for (const auto& [number, incident] : world.state().incidents)
        n += incident.kind == restart::IncidentKind::wrong_file ? 1 : 0;
    return n;
}

std::size_t notes_with(const World& world, std::string_view text) {
    std::size_t n = 0;
    for (const auto& note : world.notes)
        n += note.text.find(text) != std::string::npos ? 1 : 0;
    return n;
}

} // namespace

TEST_CASE("one host among many lacks what the file lists: it is drained, its job moved") {
    World world(8);
    const auto job = world.submit({"n002", "n003"});
    world.run(5);
    world.find("n002", Severity::evict, "ib.missing");
    world.run(70);
    INFO(world.story());
    CHECK(world.count(ActionKind::drain_host) == 1);
    CHECK(world.job(job).nodes == std::vector<std::string>{"n001", "n003"});
    CHECK(blamed(world) == 0);
}

TEST_CASE("most hosts lack it at once: one incident blames the file, nothing is done, and it is taken back") {
    World world(8);
    world.round_trip = 3;
    const auto job = world.submit({"n001", "n002"});
    world.run(5);
    for (int n = 1; n <= 8; ++n)
        world.find(host(n), Severity::evict, "ib.missing");
    world.run(120);
    INFO(world.story());
    CHECK(world.actions.empty());
    CHECK(blamed(world) == 1);
    CHECK(notes_with(world, "this is the file, not the hosts") == 1);
    CHECK(world.noted("n[001-008]"));
    CHECK(world.job(job).restarts == 0);
    CHECK(restart::health_of(world.state(), world.now(), world.policy.lemon_half_life)
              .empty()); // nor is any avoided for it

    SECTION("over a restart of the daemon") {
        world.restart_daemon();
        world.run(120);
        CHECK(world.actions.empty());
        CHECK(blamed(world) == 1);
        CHECK(notes_with(world, "this is the file, not the hosts") == 1);
    }
    SECTION("when the right file is there, and one host still lacks it, that one is drained") {
        for (int n = 1; n <= 8; ++n) {
            world.reads_file(host(n), "right");
            if (n != 7) world.clear(host(n));
        }
        world.run(70);
        CHECK(blamed(world) == 0);
        CHECK(world.noted("no host has read that file any more"));
        REQUIRE(world.count(ActionKind::drain_host) == 1);
        CHECK(host_of(world.actions.back()) == "n007");
    }
    SECTION("when what they lacked has come, by and by") {
        for (int n = 1; n <= 5; ++n) {
            world.clear(host(n));
            world.run(5);
            CHECK(blamed(world) == 1); // not at the first host fewer than half
        }
        world.clear(host(6));
        world.run(70);
        CHECK(blamed(world) == 0);
        CHECK(world.noted("6 of 8 hosts that have read the same fabric file have what it lists"));
        CHECK(world.count(ActionKind::drain_host) == 2);
    }
}

TEST_CASE("a wrong file that hosts read one by one over an hour drains none of them") {
    World world(12);
    for (int n = 1; n <= 12; ++n)
        world.reads_file(host(n), "old");
    world.run(10);
    for (int n = 1; n <= 12; ++n) {
        world.reads_file(host(n), "new");
        world.find(host(n), Severity::evict, n % 2 == 0 ? "ib.missing" : "ib.never_up");
        world.run(300);
        INFO(world.story());
        CHECK(world.actions.empty());
        CHECK(blamed(world) == 1);
    }
    CHECK(notes_with(world, "this is the file, not the hosts") == 1);
}

TEST_CASE("a right file that hosts read one by one is believed: the one that lacks something is drained") {
    World world(6);
    for (int n = 1; n <= 6; ++n)
        world.reads_file(host(n), "old");
    world.run(5);
    world.reads_file("n001", "new"); // the first reader is the bad one
    world.find("n001", Severity::evict, "ib.missing");
    world.run(60);
    CHECK(world.actions.empty());
    for (int n = 2; n <= 6; ++n) {
        world.reads_file(host(n), "new");
        world.run(30);
    }
    INFO(world.story());
    CHECK(world.count(ActionKind::drain_host) == 1);
    CHECK(blamed(world) == 0);
}

TEST_CASE("hosts that lack it for their own reason, one by one, are drained within bounds, then the file is "
          "blamed") {
    World world(10);
    for (int n = 1; n <= 8; ++n) {
        world.find(host(n), Severity::evict, "ib.missing");
        world.run(300);
    }
    INFO(world.story());
    CHECK(world.count(ActionKind::drain_host) ==
          5); // half of them; max_drained_percent allows no more either
    CHECK(blamed(world) == 1);
    CHECK(world.noted("drained before for what a fabric file lists: n[001-005]"));
}

TEST_CASE("other findings are heeded while the file is blamed, and jobs that save for it alone stay") {
    World world(8);
    world.autosave = false;
    const auto job = world.submit({"n001", "n002"});
    world.run(5);
    world.commit(job, 100, 20.0);
    world.run(2);
    world.find("n002", Severity::evict, "ib.missing"); // believed: the job is asked to save
    world.run(62);
    CHECK(world.noted("is asked to save"));
    for (int n = 3; n <= 8; ++n)
        world.find(host(n), Severity::evict, "ib.missing");
    world.run(3);
    INFO(world.story());
    CHECK(blamed(world) == 1);
    world.run(90);
    CHECK(world.noted("cleared before any job was moved"));
    CHECK(world.actions.empty());
    world.find("n005", Severity::fatal, "gpu.lost");
    world.run(5);
    CHECK(world.count(ActionKind::drain_host) == 1);
    CHECK(host_of(world.actions.front()) == "n005");
}
