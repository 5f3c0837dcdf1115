#include "topo/rate.hpp"

#include <catch2/catch.hpp>

TEST_CASE("a rate's name and numbers say the same") {
    for (const char* name : {"1xSDR", "4xDDR", "4xQDR", "4xFDR10", "4xFDR", "4xEDR", "2xHDR", "4xHDR",
                             "4xNDR", "12xEDR", "4xXDR"}) {
        const auto rate = topo::parse_rate(name);
        REQUIRE(rate);
        CHECK(topo::format_rate(*rate) == name);
    }
    CHECK(topo::parse_rate("4xNDR") == topo::Rate{4, 400000});
    CHECK(topo::parse_rate("4XHDR") == topo::Rate{4, 200000});
    for (const char* name : {"", "x", "4x", "xHDR", "3xHDR", "4xhdr", "4HDR", "111xHDR", "-4xHDR"})
        CHECK_FALSE(topo::parse_rate(name));
    CHECK(topo::format_rate({}) == "unknown");
    CHECK(topo::format_rate({4, 0}) == "4x");
    for (const char* width : {"4x", "4X", "IB_4x", "4"})
        CHECK(topo::lanes_of(width) == 4);
    CHECK(topo::lanes_of("12x") == 12);
    for (const char* width : {"", "x", "?", "N/A", "3x", "44x", "4xx"})
        CHECK(topo::lanes_of(width) == 0);
    CHECK(topo::lane_mbps_of("HDR") == 50000);
    CHECK(topo::lane_mbps_of("53.125") == 50000);
    CHECK(topo::lane_mbps_of("?") == 0);
    CHECK(topo::format_rate({4, 280000}) == "4x (280000 Mbit/s)");
}
