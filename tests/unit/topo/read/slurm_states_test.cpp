#include "topo/read/slurm_states.hpp"

#include <catch2/catch.hpp>

TEST_CASE("the worst of what a state says counts") {
    using base::HostState;
    CHECK(topo::parse_slurm_state("idle") == HostState::free);
    CHECK(topo::parse_slurm_state("IDLE+DRAIN") == HostState::drained);
    CHECK(topo::parse_slurm_state("MIXED+DRAIN") == HostState::drained);
    CHECK(topo::parse_slurm_state("alloc*") == HostState::down);
    CHECK(topo::parse_slurm_state("DOWN*+DRAIN") == HostState::down);
    CHECK_FALSE(topo::parse_slurm_state("asleep"));
    CHECK_FALSE(topo::parse_slurm_state(""));
}

TEST_CASE("state lines carry their hosts, a state and a health") {
    std::vector<topo::StateLine> lines;
    const auto keep = [&](topo::StateLine line) { lines.push_back(std::move(line)); };
    REQUIRE(topo::each_state_line("# of sinfo\n\nn[1-2] idle\nn3 drng 0.25\n", "s", keep));
    REQUIRE(lines.size() == 2);
    CHECK(lines[0].hosts == std::vector<std::string>{"n1", "n2"});
    CHECK_FALSE(lines[0].health);
    CHECK(lines[1].state == base::HostState::drained);
    CHECK(lines[1].health == 0.25F);
    const auto bad = topo::each_state_line("n1 idle\nn2 idle 2\n", "s", keep);
    REQUIRE_FALSE(bad);
    CHECK(bad.error().text == "s:2: 2: health must be a number from 0 (avoid) to 1 (sound)");
}
