#include "topo/draw/show.hpp"

#include "topo/derive.hpp"
#include "topo/synth/synth.hpp"

#include <catch2/catch.hpp>

TEST_CASE("equal units are folded, unequal ones are not") {
    auto fabric = *topo::synthesise(*topo::parse_synth("units=3 hosts=4 rails=2 rate=4xHDR"));
    CHECK(topo::show(fabric) ==
          "12 hosts, 2 rails, 24 compute HCAs (4xHDR); 7 switches in 2 tiers, 48 links\n"
          "rails 0,1 meet at the spines\n"
          "\n"
          "pod1  3 units, 12 hosts, 1 spine: spine-pod1-1\n"
          "  su1 … su3  3 units of 4 hosts x 2 rails  n[001-012]\n"
          "    leaves leaf-su1-r[0-1] … leaf-su3-r[0-1]\n");

    // Host 12 loses its second cable; it stays in its unit and is named.
    std::erase_if(fabric.links, [](const topo::Link& link) { return link.a.host == 11 && link.a.hca == 1; });
    topo::derive(fabric);
    CHECK_THAT(
        topo::show(fabric),
        Catch::EndsWith("unlike their unit (railtopo check says more)\n  n012  rail 1 not connected\n"));
    CHECK_THAT(topo::show(fabric, {true, nullptr}),
               Catch::Contains("  su2  4 hosts  n[005-008]\n    rail 0   leaf-su2-r0\n"));
    CHECK_THAT(topo::show_json(fabric), Catch::Contains("\"leaves\": [\"leaf-su3-r0\",\"leaf-su3-r1\"]"));
}

TEST_CASE("states are counted by unit, and jobs shown with their units") {
    const auto fabric = *topo::synthesise(*topo::parse_synth("units=3 hosts=4 rails=2 rate=4xHDR"));
    topo::Overlay overlay;
    REQUIRE(topo::add_states(overlay, fabric,
                             "n[001-008] idle\nn[002-003] alloc\nn007 drain\nn[009-011] down\n", "s"));
    REQUIRE(topo::add_job(overlay, fabric, "train=n[002-003,005]"));
    CHECK_THAT(
        topo::show(fabric, {false, &overlay}),
        Catch::EndsWith("    leaves leaf-su1-r[0-1] … leaf-su3-r[0-1]\n"
                        "    5 free, 2 allocated, 1 drained (n007), 3 down (n[009-011]), 1 of unknown state\n"
                        "\n"
                        "job train  3 hosts in 2 units of pod1  n[002-003,005]\n"));
    CHECK_THAT(topo::show(fabric, {true, &overlay}),
               Catch::Contains("    rail 1   leaf-su2-r1\n    3 free, 1 drained (n007)\n"));
}

TEST_CASE("an empty fabric can be shown") {
    topo::Fabric fabric;
    topo::derive(fabric);
    CHECK_THAT(topo::show(fabric), Catch::StartsWith("0 hosts"));
    CHECK_THAT(topo::show_json(fabric), Catch::Contains("\"units\": []"));
}

TEST_CASE("HCAs of no known host are no hosts, in text and in JSON") {
    auto fabric = *topo::synthesise(*topo::parse_synth("units=2 hosts=8 rails=2"));
    for (const std::size_t h : {0U, 1U}) {
        fabric.hosts[h].name = h == 0 ? "0x946dae0000010010" : "store1";
        for (auto& hca : fabric.hosts[h].hcas) {
            hca.role = topo::Role::storage;
            hca.rail = topo::none;
        }
    }
    topo::derive(fabric);
    CHECK_THAT(topo::show(fabric), Catch::StartsWith("15 hosts") &&
                                       Catch::Contains("in no unit  store1, 1 HCA of no known host\n"));
    CHECK_THAT(topo::show_json(fabric),
               Catch::Contains("\"hosts\": 15,") && Catch::Contains("\"hosts_in_no_unit\": [\"store1\"]") &&
                   Catch::Contains("\"hcas_of_no_known_host\": [\"0x946dae0000010010\"]"));
}
