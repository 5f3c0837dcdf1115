#include "topo/synth/ibsim_net.hpp"

#include "topo/read/assemble.hpp"
#include "topo/read/ibnetdiscover.hpp"
#include "topo/synth/synth.hpp"

#include <catch2/catch.hpp>

TEST_CASE("a net file for ibsim reads back as the fabric it was made of") {
    auto fabric = *topo::synthesise(*topo::parse_synth("pods=2 units=2 hosts=3 rails=2"));
    fabric.links[0].width = 1;
    fabric.links[0].mbps = 25000;
    const auto text = topo::print_ibsim_net(fabric);
    CHECK_THAT(
        text, Catch::StartsWith("# 12 hosts, 11 switches, 72 links; start ibsim with -N 51 -S 27 -P 1763\n"));
    const auto raw = topo::parse_ibnetdiscover(text, "net");
    REQUIRE(raw);
    const auto again = topo::assemble(*raw);
    REQUIRE(again);
    CHECK(again->missing.empty());
    REQUIRE(again->fabric.links.size() == fabric.links.size());
    for (std::size_t i = 0; i < fabric.links.size(); ++i) {
        CHECK(again->fabric.links[i].a == fabric.links[i].a);
        CHECK(again->fabric.links[i].b == fabric.links[i].b);
        CHECK(again->fabric.links[i].mbps == (i == 0 ? 25000 : 200000)); // ibsim knows no NDR
    }
    CHECK(again->fabric.units.size() == 4);
    CHECK(again->fabric.pods.size() == 2);
}

TEST_CASE("names cannot break a net file's comments") {
    auto fabric = *topo::synthesise(*topo::parse_synth("hosts=1 rails=1"));
    fabric.switches[0].name = "a\"b=c";
    CHECK_THAT(topo::print_ibsim_net(fabric), Catch::Contains("# \"a_b_c\" enhanced"));
}
