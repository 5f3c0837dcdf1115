#include "sched/slurm/host_states.hpp"
#include "unit/sched/grid.hpp"

#include <catch2/catch.hpp>

using namespace sched;

namespace {

const topo::Fabric& fabric() {
    static const auto made = sched_test::grid(1, 1, 8);
    return made;
}

HostState state_of(const std::string& word) {
    INFO(word);
    const auto snapshot = parse_state("n1 " + word + "\n", "state", fabric());
    REQUIRE(snapshot);
    return snapshot->states[0];
}

} // namespace

TEST_CASE("Slurm's state words and flags say whether a host may be given to a job") {
    for (const auto* word : {"idle", "IDLE", "idle~", "idle#", "powered_down"})
        CHECK(state_of(word) == HostState::free);
    for (const auto* word :
         {"allocated", "ALLOCATED+", "alloc", "mix-", "completing", "comp", "reserved", "planned", "idle%",
          "idle!", "idle@", "idle^", "reboot", "reboot^", "idle-", "idle+", "powering_up"})
        CHECK(state_of(word) == HostState::busy);
    for (const auto* word : {"mixed", "MIX", "mixed~"})
        CHECK(state_of(word) == HostState::mixed);
    for (const auto* word : {"drained", "drain", "draining", "drng@", "maint", "idle$", "idle+drain",
                             "IDLE+DRAIN", "mixed+drain", "failing", "fail"})
        CHECK(state_of(word) == HostState::drained);
    for (const auto* word : {"down", "DOWN*", "idle*", "drained*", "unknown", "unk*", "inval", "future",
                             "error", "maint*", "?", "down+drain"})
        CHECK(state_of(word) == HostState::down);
}

TEST_CASE("sinfo's output is read: padding, host lists, two partitions, comments, Windows line ends") {
    const auto snapshot = parse_state("# sinfo -h -N\n"
                                      "n1      idle   \n"
                                      "n2 idle\n"
                                      "n2 drained\n"
                                      "n2 idle\n"
                                      "\n"
                                      "n[3-4,6] allocated 0.5\r\n"
                                      "  n5 idle 0.25\n"
                                      "n5 idle 0.75",
                                      "state", fabric());
    REQUIRE(snapshot);
    CHECK(snapshot->states == std::vector{HostState::free, HostState::drained, HostState::busy,
                                          HostState::busy, HostState::free, HostState::busy, HostState::down,
                                          HostState::down});
    CHECK(snapshot->health == std::vector<float>{1, 1, 0.5F, 0.5F, 0.25F, 0.5F, 1, 1});
}

TEST_CASE("health is absent unless a line gives one; unknown hosts are named once") {
    std::vector<std::string> unknown;
    const auto snapshot =
        parse_state("login idle\nn1 idle\nlogin down\nx[1-2] idle\n", "state", fabric(), &unknown);
    REQUIRE(snapshot);
    CHECK(snapshot->health.empty());
    CHECK(unknown == std::vector<std::string>{"login", "x1", "x2"});
    CHECK(parse_state("", "state", fabric())->states == std::vector<HostState>(8, HostState::down));
}

TEST_CASE("a line that is no state is refused with file and line") {
    const auto refused = [](const std::string& line) {
        const auto snapshot = parse_state("n1 idle\n" + line + "\n", "s.txt", fabric());
        INFO(line);
        REQUIRE_FALSE(snapshot);
        CHECK(snapshot.error().code == base::Code::input);
        return snapshot.error().text;
    };
    CHECK(refused("n2") == "s.txt:2: n2: no state; a line is HOST STATE [HEALTH]");
    CHECK(refused("n2 asleep") == "s.txt:2: asleep: not a state of Slurm; see NODE STATE CODES in sinfo(1)");
    CHECK(refused("n2 idle&").starts_with("s.txt:2: idle&: not a state"));
    CHECK(refused("n2 *").starts_with("s.txt:2: *: not a state"));
    CHECK(refused("n2 idle 1.5") == "s.txt:2: 1.5: health must be a number from 0 (avoid) to 1 (sound)");
    CHECK(refused("n2 idle -0.1").starts_with("s.txt:2: -0.1: health"));
    CHECK(refused("n2 idle nan").starts_with("s.txt:2: nan: health"));
    CHECK(refused("n2 idle 1 more") == "s.txt:2: more: more than HOST STATE [HEALTH]");
    CHECK(refused("n[2- idle").starts_with("s.txt:2: host list \"n[2-\""));
}
