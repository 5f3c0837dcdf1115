#include "topo/read/ibnetdiscover.hpp"

#include "topo/read/assemble.hpp"

#include <catch2/catch.hpp>

namespace {

// Two hosts of two HCAs, a leaf a rail, one spine; in ibnetdiscover's form, blanks for its tabs.
constexpr std::string_view plain = R"(#
# Topology file: generated on Sat Nov 21 06:24:04 2026
#
# Initiated from node 00000000000000a1 port 00000000000000a2

vendid=0x2c9
devid=0xd2f2
sysimgguid=0x1
switchguid=0x1(1)
Switch    40 "S-0000000000000001"        # "MF0;leaf0:MQM9700/U1" enhanced port 0 lid 1 lmc 0
[1]    "H-00000000000000a1"[1](a2)         # "n1 mlx5_0" lid 11 4xNDR
[2]    "H-00000000000000b1"[1](b2)         # "n2 mlx5_0" lid 12 4xNDR
[40]    "S-0000000000000003"[1]        # "spine "x"" lid 3 4xNDR

vendid=0x2c9
Switch    40 "S-0000000000000002"        # "leaf1" base port 0 lid 2 lmc 0
[1]    "H-00000000000000a3"[1](a4)         # "n1 mlx5_1" lid 13 2xNDR
[2]    "H-00000000000000b3"[1](b4)         # "n2 mlx5_1" lid 14 4x???

Switch    40 "S-0000000000000003"        # "spine "x"" enhanced port 0 lid 3 lmc 0
[1]    "S-0000000000000001"[40]        # "MF0;leaf0:MQM9700/U1" lid 1 4xNDR
[9]    "H-00000000000000f1"[1](f1)         # "Mellanox Technologies Aggregation Node" lid 99 4xNDR

caguid=0xa1
Ca    2 "H-00000000000000a1"        # "n1 mlx5_0"
[1](a2)     "S-0000000000000001"[1]        # lid 11 lmc 0 "MF0;leaf0:MQM9700/U1" lid 1 4xNDR

Ca    1 "H-00000000000000a3"        # "n1 mlx5_1"
[1](a4)     "S-0000000000000002"[1]        # lid 13 lmc 0 "leaf1" lid 2 2xNDR

Ca    1 "H-00000000000000b1"        # "n2 mlx5_0"
[1](b2)     "S-0000000000000001"[2]        # lid 12 lmc 0 "MF0;leaf0:MQM9700/U1" lid 1 4xNDR

Ca    1 "H-00000000000000b3"        # "n2 mlx5_1"
[1](b4)     "S-0000000000000002"[2]        # lid 14 lmc 0 "leaf1" lid 2 4xNDR

Ca    1 "H-00000000000000f1"        # "Mellanox Technologies Aggregation Node"
[1](f1)     "S-0000000000000003"[9]        # lid 99 lmc 0 "spine "x"" lid 3 4xNDR

Rt    2 "R-00000000000000e1"        # "router"
)";

constexpr std::string_view ports =
    R"(CA    11  1 0x00000000000000a2 4x NDR - SW     1  1 0x0000000000000001 ( 'n1 mlx5_0' - 'leaf0' )
CA    13  1 0x00000000000000a4 2x NDR - SW     2  1 0x0000000000000002 ( 'n1 mlx5_1' - 'leaf1' )
SW     1 40 0x0000000000000001 4x NDR - SW     3  1 0x0000000000000003 ( 'leaf0' - 'it's a spine' )
SW     1  2 0x0000000000000001 4x SDR                                    'leaf0'
SW     1  1 0x0000000000000001 4x NDR - CA    11  1 0x00000000000000a2 ( 'leaf0' - 'n1 mlx5_0' )
SW     2  1 0x0000000000000002 2x NDR - CA    13  1 0x00000000000000a4 ( 'leaf1' - 'n1 mlx5_1' )
SW     3  1 0x0000000000000003 4x NDR - SW     1 40 0x0000000000000001 ( 'it's a spine' - 'leaf0' )
CA    21  2 0x00000000000000c3 4x SDR                                    'n9 mlx5_0'
CA    20  1 0x00000000000000c2 4x SDR                                    'n9 mlx5_0'
)";

topo::Assembly read(std::string_view text) {
    const auto raw = topo::parse_ibnetdiscover(text, "t");
    if (!raw) FAIL(raw.error().text);
    auto assembly = topo::assemble(*raw);
    if (!assembly) FAIL(assembly.error().text);
    return std::move(*assembly);
}

// The error of `plain` (or `ports`) with one piece replaced.
std::string with_piece(std::string_view text, std::string_view piece, std::string_view other) {
    std::string changed(text);
    const auto found = changed.find(piece);
    REQUIRE(found != std::string::npos);
    changed.replace(found, piece.size(), other);
    const auto raw = topo::parse_ibnetdiscover(changed, "t");
    if (!raw) return raw.error().text;
    const auto assembly = topo::assemble(*raw);
    return assembly ? "accepted" : assembly.error().text;
}

} // namespace

TEST_CASE("ibnetdiscover's records become hosts, switches and links") {
    const auto [fabric, missing, notes] = read(plain);
    CHECK(missing.empty());
    REQUIRE(fabric.hosts.size() == 2);
    CHECK(fabric.hosts[0].name == "n1");
    REQUIRE(fabric.hosts[0].hcas.size() == 2);
    CHECK(fabric.hosts[0].hcas[0].device == "mlx5_0");
    CHECK(fabric.hosts[0].hcas[0].rail == 0);
    CHECK(fabric.hosts[0].hcas[0].guid == 0xa1);
    CHECK(fabric.hosts[0].hcas[0].ports[0].guid == 0xa2);
    CHECK(fabric.hosts[0].hcas[0].ports[0].lid == 11);
    REQUIRE(fabric.switches.size() == 3);
    CHECK(fabric.switches[0].name == "leaf0");
    CHECK(fabric.switches[0].ports == 40);
    CHECK(fabric.switches[2].name == "spine \"x\"");
    REQUIRE(fabric.links.size() == 5);
    CHECK(fabric.links[0].mbps == 400000);
    CHECK(fabric.links[1].width == 2);
    CHECK(fabric.links[1].mbps == 200000);
    CHECK(fabric.links[3].mbps == 400000); // listed at one end as 4x???
    CHECK(fabric.units.size() == 1);
    CHECK(fabric.tiers == 2);
}

TEST_CASE("a ports report gives the same fabric") {
    const auto [fabric, missing, notes] = read(ports);
    CHECK(missing.empty());
    REQUIRE(fabric.hosts.size() == 2);
    CHECK(fabric.hosts[0].hcas[1].guid == 0xa4);
    CHECK(fabric.hosts[1].name == "n9");
    REQUIRE(fabric.hosts[1].hcas.size() == 1); // both ports are of one HCA
    CHECK(fabric.hosts[1].hcas[0].guid == 0xc2);
    CHECK(fabric.hosts[1].hcas[0].ports.size() == 2);
    CHECK(fabric.links.size() == 3);
    CHECK(fabric.links[1].mbps == 200000);
    CHECK(fabric.switches[0].name == "it's a spine");
}

TEST_CASE("what is not understood is refused with file, line and token") {
    CHECK(with_piece(plain, "[1]    \"H-00000000000000a1\"", "[300]    \"H-00000000000000a1\"") ==
          "t:11: '300]': a port number up to 254 is wanted");
    CHECK(with_piece(plain, "\"S-0000000000000003\"[1]", "\"X-0000000000000003\"[1]") ==
          "t:13: 'X-0000000000000003\"[1]': a node such as \"S-…\" or \"H-…\" is wanted");
    CHECK(with_piece(plain, "vendid=0x2c9", "hello world") ==
          "t:6: 'hello': a record of ibnetdiscover is wanted (Switch, Ca, Rt, a port in brackets or "
          "key=value)");
    CHECK(with_piece(plain, "[1](a2) ", "[1](a2 ") == "t:11: white space: ')' is wanted");
    CHECK(with_piece(ports, "( 'n1 mlx5_1' - 'leaf1' )", "( 'n1 mlx5_1' )") ==
          "t:2: 'n1': two descriptions ( '…' - '…' ) are wanted");
    CHECK(topo::parse_ibnetdiscover("# nothing\n\n", "t").error().text ==
          "t: holds no Switch or Ca of ibnetdiscover's output");
    CHECK_THAT(topo::parse_ibnetdiscover("[1]    \"S-1\"[1]\n", "t").error().text,
               Catch::Contains("before any Switch"));
}

TEST_CASE("text that contradicts itself is refused with the line") {
    CHECK(with_piece(plain, "Switch    40 \"S-0000000000000002\"", "Switch    40 \"S-0000000000000001\"") ==
          "t:16: GUID 0x0000000000000001 is told twice, of switch \"MF0;leaf0:MQM9700/U1\" and of switch "
          "\"leaf1\"");
    CHECK(with_piece(plain, "[40]    ", "[41]    ") ==
          "t:13: port 41 of switch \"MF0;leaf0:MQM9700/U1\", which has 40");
    CHECK(with_piece(plain, "[2]    \"H-00000000000000b1\"", "[1]    \"H-00000000000000b1\"") ==
          "t:12: port 1 of switch \"MF0;leaf0:MQM9700/U1\" is told twice");
    CHECK(with_piece(plain, "\"S-0000000000000003\"[1]", "\"S-0000000000000003\"[99]") ==
          "t:13: port 40 of switch \"MF0;leaf0:MQM9700/U1\" is said to lead to port 99 of switch \"spine "
          "\"x\"\", which has 40");
    CHECK_THAT(with_piece(plain, "\"S-0000000000000001\"[40]", "\"S-0000000000000001\"[1]"),
               Catch::StartsWith("t:13: port 40 of switch") &&
                   Catch::Contains("is said in line 21 to lead to port 1 of"));
}

TEST_CASE("a part that was not seen is reported") {
    std::string text(plain);
    text.resize(text.find("caguid"));
    const auto cut = read(text);
    CHECK(cut.missing.size() == 5);
    CHECK_THAT(cut.missing[0], Catch::Contains("0x00000000000000a1 \"n1 mlx5_0\", behind port 1 of switch"));

    const auto warned = read(
        "ibwarn: [1] sim_connect: attached as client 0\n"
        "src/query_smp.c:196; mad (DR path slid 0; dlid 0; 0,1,5 Attr 0x11:0) bad status 110; Connection "
        "timed out\n" +
        std::string(plain));
    REQUIRE(warned.missing.size() == 1);
    CHECK_THAT(warned.missing[0], Catch::StartsWith("t:2: ibnetdiscover said: src/query_smp.c"));
}

TEST_CASE("every cut of a text is read or refused, never more") {
    for (const auto text : {plain, ports})
        for (std::size_t length = 0; length < text.size(); ++length) {
            const auto raw = topo::parse_ibnetdiscover(text.substr(0, length), "t");
            if (raw) static_cast<void>(topo::assemble(*raw));
        }
}
