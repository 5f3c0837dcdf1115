#include "grid.hpp"
#include "sched/place.hpp"

#include <catch2/catch.hpp>

#include <numeric>

using namespace sched;
using sched_test::grid;
using Hosts = std::vector<std::uint32_t>;

namespace {

// 'f' free, 'b' busy, 'd' drained, 'x' down; spaces do not count.
Snapshot states(std::string_view text) {
    Snapshot snapshot;
    for (const char c : text)
        if (c != ' ')
            snapshot.states.push_back(c == 'f'   ? HostState::free
                                      : c == 'b' ? HostState::busy
                                      : c == 'd' ? HostState::drained
                                                 : HostState::down);
    return snapshot;
}

Request ask(std::uint32_t nodes, Span span = Span::any) {
    Request request;
    request.nodes = nodes;
    request.span = span;
    return request;
}

std::string refusal(const topo::Fabric& fabric, const Snapshot& snapshot, const Request& request,
                    base::Code code = base::Code::unfit) {
    const auto placement = place(fabric, snapshot, request);
    REQUIRE_FALSE(placement);
    CHECK(placement.error().code == code);
    return placement.error().text;
}

} // namespace

TEST_CASE("a gang that fits one unit goes to the tightest that is not wholly free") {
    const auto placement = place(grid(1, 3, 4), states("ffff fffb ffbb"), ask(2));
    REQUIRE(placement);
    CHECK(placement->hosts == Hosts{8, 9});
    CHECK(placement->score == Score{0, 1, 1, 0, 0, 0, 0});
    CHECK(placement->reasons ==
          std::vector<std::string>{
              "all 2 nodes in unit su3 of pod1: one unit is the smallest part that holds 2 free nodes",
              "all 2 rails are aligned within the unit", "no free node is left over in the units used"});
}

TEST_CASE("a gang that fits no unit takes the fewest units of one pod, in rank order") {
    const auto placement = place(grid(2, 2, 4), states("ffbb ffbb ffff bfff"), ask(6));
    REQUIRE(placement);
    CHECK(placement->hosts == Hosts{8, 9, 10, 11, 13, 14});
    CHECK(placement->score == Score{1, 1, 2, 0, 0, 0, 1});
    CHECK(placement->reasons.front() == "all 6 nodes in 2 units of pod2 (su3 4 and su4 2): no unit has 6 "
                                        "free nodes; the fullest, su3, has 4");
}

TEST_CASE("ranks follow units even where the hosts' names do not") {
    auto fabric = grid(1, 2, 2);
    std::swap(fabric.hosts[1].unit, fabric.hosts[2].unit);
    std::swap(fabric.hosts[1].leaves, fabric.hosts[2].leaves);
    fabric.units[0].hosts = {0, 2};
    fabric.units[1].hosts = {1, 3};
    CHECK(place(fabric, Snapshot::all_free(fabric), ask(4))->hosts == Hosts{0, 2, 1, 3});
    auto request = ask(4);
    request.order = RankOrder::none;
    CHECK(place(fabric, Snapshot::all_free(fabric), request)->hosts == Hosts{0, 1, 2, 3});
}

TEST_CASE("health 0 is banned, lesser health avoided, and said") {
    const auto fabric = grid(1, 2, 3);
    auto snapshot = states("fff ffb");
    snapshot.health = {1, 0.5F, 1, 1, 1, 1};
    CHECK(place(fabric, snapshot, ask(2))->hosts == Hosts{3, 4});
    snapshot.health = {1, 0.5F, 1, 1, 0, 1};
    CHECK(place(fabric, snapshot, ask(2))->hosts == Hosts{0, 2});
    const auto placement = place(fabric, snapshot, ask(3));
    REQUIRE(placement);
    CHECK(placement->score.avoidance == 0.5);
    CHECK(placement->reasons[2] ==
          "1 host of reduced health in (n2 0.50): too few sound ones in so small a part");
    CHECK(refusal(fabric, snapshot, ask(5)) == "needs 5 nodes; the fabric has 4 free, 1 busy, 1 unhealthy");
}

TEST_CASE("a crossed cable is avoided, or named") {
    auto fabric = grid(1, 1, 4);
    fabric.hosts[1].leaves[0] = fabric.hosts[1].leaves[1];
    CHECK(place(fabric, states("ffff"), ask(3))->hosts == Hosts{0, 2, 3});
    const auto placement = place(fabric, states("ffbf"), ask(3));
    CHECK(placement->score.misaligned_rails == 1);
    CHECK(placement->reasons[1] ==
          "1 of 2 rails are aligned within the unit; not rail 0 (n1 and n2 are apart)");
    fabric.hosts[1].leaves[0] = topo::none;
    CHECK(place(fabric, states("ffbf"), ask(3))->reasons[1] ==
          "1 of 2 rails are aligned within the unit; not rail 0 (n2 has none)");
}

TEST_CASE("hosts without a unit are placed, each as a unit of its own") {
    auto fabric = grid(1, 1, 3);
    fabric.hosts[2].unit = topo::none;
    fabric.units[0].hosts = {0, 1};
    CHECK(place(fabric, states("bbf"), ask(1))->hosts == Hosts{2});
    const auto placement = place(fabric, states("fff"), ask(3));
    CHECK(placement->score == Score{1, 1, 2, 0, 0, 0, 0});
    fabric.hosts[2].leaves.assign(2, topo::none);
    CHECK(place(fabric, states("fff"), ask(3))->score == Score{2, 2, 2, 2, 0, 0, 0});
}

TEST_CASE("parts that no link joins are not mixed while one of them holds the gang") {
    auto fabric = grid(3, 1, 2, 1);
    topo::Switch spine;
    spine.tier = 1;
    fabric.switches.push_back(spine);
    const auto link = [&](topo::End a, topo::End b) {
        fabric.links.push_back({a, b, 4, 400000, topo::LinkState::active});
    };
    for (int h = 0; h < 6; ++h)
        link({h, 0, topo::none, 1}, {topo::none, topo::none, h / 2, static_cast<std::uint8_t>(h % 2 + 1)});
    for (const int leaf : {0, 2})
        link({topo::none, topo::none, leaf, 3},
             {topo::none, topo::none, 3, static_cast<std::uint8_t>(leaf + 1)});
    const auto free = Snapshot::all_free(fabric);
    CHECK(place(fabric, free, ask(4))->hosts == Hosts{0, 1, 4, 5});
    CHECK(place(fabric, free, ask(5))->score.tier == 3);
    CHECK(place(fabric, free, ask(5))->score.misaligned_rails == 1);
    CHECK(refusal(fabric, free, ask(5, Span::fabric)) ==
          "no connected part of this fabric has 5 hosts (the largest, that of n1, has 4): this job can "
          "never run with --rail-span=fabric");
}

TEST_CASE("required hosts are in, excluded ones out") {
    const auto fabric = grid(2, 2, 2);
    auto request = ask(2);
    request.required = {5};
    CHECK(place(fabric, Snapshot::all_free(fabric), request)->hosts == Hosts{4, 5});
    request.required = {1, 5};
    const auto placement = place(fabric, Snapshot::all_free(fabric), request);
    CHECK(placement->hosts == Hosts{1, 5});
    CHECK(placement->score == Score{2, 2, 2, 0, 0, 2, 2});
    CHECK(placement->reasons[1] == "n2 and n6 in, as required");
    request = ask(2);
    request.excluded = {0};
    CHECK(place(fabric, Snapshot::all_free(fabric), request)->hosts == Hosts{2, 3});
}

TEST_CASE("a refusal says what is missing now") {
    const auto fabric = grid(1, 3, 4);
    CHECK(refusal(fabric, states("fffd ffbb xfbb"), ask(4, Span::unit)) ==
          "needs 4 nodes in one unit; the fullest, su1, has 3 free, 1 drained");
    CHECK(refusal(fabric, states("fffd ffbb xfbb"), ask(7)) ==
          "needs 7 nodes; the fabric has 6 free, 4 busy, 1 drained, 1 down");
    auto request = ask(3, Span::unit);
    request.required = {4};
    CHECK(refusal(fabric, states("fffd ffbb xfbb"), request) ==
          "needs 3 nodes in one unit with n5; su2 has 2 free, 2 busy");
    request.required = {3};
    CHECK(refusal(fabric, states("fffd ffbb xfbb"), request) == "n4 is required but is drained");
    const auto two = grid(2, 1, 4);
    CHECK(refusal(two, states("ffbb fbbb"), ask(3, Span::pod)) ==
          "needs 3 nodes in one pod; the fullest, pod1, has 2 free, 2 busy");
}

TEST_CASE("a refusal says when it is for ever, and only then") {
    const auto fabric = grid(2, 2, 4);
    const auto busy = states("bbbb bbbb bbbb bbbb");
    CHECK(refusal(fabric, busy, ask(17)) ==
          "needs 17 nodes; this fabric has 16 hosts: this job can never run");
    CHECK(refusal(fabric, busy, ask(5, Span::unit)) ==
          "no unit of this fabric has 5 hosts (the largest, su1, has 4): this job can never run with "
          "--rail-span=unit");
    CHECK(refusal(fabric, busy, ask(9, Span::pod)) == "no pod of this fabric has 9 hosts (the largest, pod1, "
                                                      "has 8): this job can never run with --rail-span=pod");
    auto request = ask(2, Span::unit);
    request.required = {0, 15};
    CHECK(refusal(fabric, busy, request) ==
          "n1 and n16 must be in and are not in one unit: this job can never run with --rail-span=unit");
    request = ask(4, Span::unit);
    request.required = {0};
    request.excluded = {1};
    CHECK(refusal(fabric, busy, request) ==
          "needs 4 nodes in one unit with n1; su1 has 4 hosts, 1 of them "
          "excluded by the request: this job can never run with --rail-span=unit");
    for (std::uint32_t nodes = 1; nodes <= 17; ++nodes)
        for (const auto span : {Span::any, Span::unit, Span::pod, Span::fabric}) {
            const bool never = refusal(fabric, busy, ask(nodes, span)).find("never") != std::string::npos;
            CHECK(never == !place(fabric, Snapshot::all_free(fabric), ask(nodes, span)));
        }
}

TEST_CASE("a request that contradicts itself is wrong usage") {
    const auto fabric = grid(1, 1, 4);
    const auto free = Snapshot::all_free(fabric);
    CHECK(refusal(fabric, free, ask(0), base::Code::usage) == "asks for 0 nodes: ask for at least 1");
    auto request = ask(1);
    request.required = {1, 2};
    CHECK(refusal(fabric, free, request, base::Code::usage) == "requires 2 hosts but asks for 1");
    request = ask(2);
    request.required = request.excluded = {1};
    CHECK(refusal(fabric, free, request, base::Code::usage) == "n2 is both required and excluded");
    request = ask(1);
    request.excluded = {4};
    CHECK(refusal(fabric, free, request, base::Code::usage) == "host index 4: the fabric has 4 hosts");
    CHECK(refusal(fabric, states("ff"), ask(1), base::Code::usage) ==
          "the state is of 2 hosts, the fabric has 4: they do not belong together");
}

TEST_CASE("an empty fabric refuses without a stumble") {
    CHECK(refusal(topo::Fabric{}, Snapshot{}, ask(1)) ==
          "needs 1 node; this fabric has 0 hosts: this job can never run");
}

TEST_CASE("place: the sentence mentions segments and of the hosts kept for restarts") {
    const auto fabric = grid(2, 2, 6);
    auto snapshot = Snapshot::all_free(fabric);
    Request request;
    request.nodes = 24;
    request.segment = 4;
    auto refused = place(fabric, snapshot, request);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().text ==
          "needs 24 nodes in whole segments of 4; the fabric has 24 hosts, 16 of them in "
          "whole segments: this job can never run");
    request.nodes = 16;
    snapshot.states[0] = snapshot.states[1] = snapshot.states[2] = HostState::busy;
    refused = place(fabric, snapshot, request);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().text ==
          "needs 16 nodes in whole segments of 4; the fabric has 21 free, 3 busy (12 in whole "
          "segments)");
    request.segment = 0;
    request.spare_floor = 6;
    refused = place(fabric, snapshot, request);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().text ==
          "needs 16 nodes; the fabric has 21 free, 3 busy, and 6 hosts are kept free for restarts");
    request.spares = 1; // spares may dip into them
    CHECK(place(fabric, snapshot, request));
    request.nodes = 20;
    refused = place(fabric, snapshot, request);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().text ==
          "needs 20 nodes; of this fabric's 24 hosts 6 are kept free for restarts: this job can never run");
}

TEST_CASE("place: a range takes as many as fit, shared jobs the hosts in use first") {
    const auto fabric = grid(1, 2, 4);
    auto snapshot = Snapshot::all_free(fabric);
    snapshot.states[0] = HostState::busy;
    snapshot.states[4] = snapshot.states[7] = HostState::mixed;
    Request request;
    request.nodes = 2;
    request.most = 8;
    CHECK(place(fabric, snapshot, request)->hosts == std::vector<std::uint32_t>{1, 2, 3, 5, 6});
    request.span = Span::unit;
    CHECK(place(fabric, snapshot, request)->hosts == std::vector<std::uint32_t>{1, 2, 3});
    request.shared = true;
    CHECK(place(fabric, snapshot, request)->hosts == std::vector<std::uint32_t>{4, 5, 6, 7});
    request.most = 3;
    request.excluded = {1};
    CHECK(place(fabric, snapshot, request)->hosts == std::vector<std::uint32_t>{4, 5, 7});
}

TEST_CASE("place: contradictions of the wider request are refused") {
    const auto fabric = grid(1, 2, 4);
    const auto error = [&](const Request& request) {
        const auto placement = place(fabric, Snapshot::all_free(fabric), request);
        return placement ? std::string() : placement.error().text;
    };
    CHECK(error({.nodes = 4, .most = 2}) == "asks for at least 4 nodes and for at most 2");
    CHECK(error({.nodes = 4, .spares = 4}) == "asks for 4 spares among 4 nodes: none is left to run on");
    CHECK(error({.nodes = 5, .segment = 2}) == "segments of 2 do not divide 5 nodes less 0 spares");
    CHECK(error({.nodes = 5, .most = 6, .segment = 2}).empty());
    CHECK(error({.nodes = 5, .segment = 2, .spares = 1}).empty());
}
