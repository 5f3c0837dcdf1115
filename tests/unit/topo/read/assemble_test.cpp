#include "topo/read/assemble.hpp"

#include "topo/check/check.hpp"
#include "topo/read/loss.hpp"
#include "topo/synth/synth.hpp"

#include <catch2/catch.hpp>

#include <map>

namespace {

struct Cable {
    const char* description;
    topo::Guid leaf;
    std::uint32_t mbps = 400000;
};

// HCAs in this order, each on the next port of its leaf; leaves 1 … leaves under one spine (100).
topo::Fabric wire(const std::vector<Cable>& cables, topo::Guid leaves) {
    topo::RawFabric raw;
    raw.source = "t";
    std::map<topo::Guid, topo::RawNode> switches;
    for (topo::Guid leaf = 1; leaf <= leaves; ++leaf) {
        auto& node = switches[leaf];
        node = {topo::RawNode::Kind::switch_, leaf, 64, "leaf" + std::to_string(leaf), {}, 0};
        topo::RawPort up;
        up.number = 64;
        up.linked = true;
        up.peer = 100;
        up.peer_port = static_cast<std::uint8_t>(leaf);
        node.seen.push_back(up);
    }
    switches[100] = {topo::RawNode::Kind::switch_, 100, 64, "spine", {}, 0};
    topo::Guid guid = 1000;
    for (const auto& cable : cables) {
        topo::RawNode node{topo::RawNode::Kind::hca, ++guid, 1, cable.description, {}, 0};
        topo::RawPort port;
        port.number = 1;
        port.rate = {4, cable.mbps};
        if (cable.leaf != 0) {
            port.linked = true;
            port.peer = cable.leaf;
            auto& leaf = switches.at(cable.leaf);
            port.peer_port = static_cast<std::uint8_t>(leaf.seen.size());
            topo::RawPort back;
            back.number = port.peer_port;
            back.linked = true;
            back.peer = node.guid;
            back.peer_port = 1;
            leaf.seen.push_back(back);
        }
        node.seen.push_back(port);
        raw.nodes.push_back(node);
    }
    for (auto& [key, node] : switches)
        raw.nodes.push_back(node);
    auto assembly = topo::assemble(raw);
    if (!assembly) FAIL(assembly.error().text);
    return std::move(assembly->fabric);
}

// "n1: mlx5_0=0 mlx5_1=1 mlx5_9=storage"
std::string roles(const topo::Fabric& fabric, std::string_view name) {
    const auto& host = fabric.hosts.at(fabric.find_host(name).value());
    std::string text = host.name + ":";
    for (const auto& hca : host.hcas)
        text += " " + hca.device + "=" + (hca.rail == topo::none ? "storage" : std::to_string(hca.rail));
    return text;
}

} // namespace

TEST_CASE("node descriptions give host and device") {
    const auto parsed = [](std::string_view text) {
        const auto name = topo::parse_hca_description(text);
        return std::string(name.host) + "|" + std::string(name.device);
    };
    CHECK(parsed("n001 mlx5_3") == "n001|mlx5_3");
    CHECK(parsed("n001 HCA-1") == "n001|HCA-1");
    CHECK(parsed("n001.example.org   ibp24s0") == "n001.example.org|ibp24s0");
    CHECK(parsed("n001") == "n001|");
    CHECK(parsed("n001 (left) mlx5_0") == "n001|mlx5_0");
    CHECK(parsed("MT4129 ConnectX7 Mellanox Technologies") == "|");
    CHECK(parsed("MT4123") == "|");
    CHECK(parsed("plato7  MT4119 ConnectX5   Mellanox Technologies") == "plato7|");
    CHECK(parsed("plato7 MT4119 mlx5_2") == "plato7|mlx5_2");
    CHECK(parsed("n1 ConnectX-6 HDR100 HCA-2") == "n1|HCA-2");
    CHECK(parsed("n1 MCX75310AAS-NEAT CX7") == "n1|");
    CHECK(parsed("n1 BlueField-3") == "n1|");
    CHECK(parsed("Mellanox ConnectX-5") == "|");
    CHECK(parsed("ConnectX-5 Mellanox") == "|");
    CHECK(parsed("Mellanox Technologies") == "|");
    CHECK(parsed("") == "|");
    CHECK(topo::short_switch_name("MF0;leaf01:MQM9700/U1") == "leaf01");
    CHECK(topo::short_switch_name("MF0;core1:CS8500/L02/U1") == "core1/L02/U1");
    CHECK(topo::short_switch_name("Quantum Mellanox Technologies") == "Quantum Mellanox Technologies");
    CHECK(topo::trimmed_printable("  a\tb\xc3\xa4\x01 ") == "a b???");
}

TEST_CASE("a dead HCA does not shift its neighbours' rails") {
    const auto fabric = wire({{"n1 mlx5_0", 1},
                              {"n1 mlx5_3", 2},
                              {"n1 mlx5_10", 3}, //
                              {"n2 mlx5_0", 1},
                              {"n2 mlx5_10", 3}, //
                              {"n3 mlx5_0", 1},
                              {"n3 mlx5_3", 2},
                              {"n3 mlx5_10", 3}},
                             3);
    CHECK(roles(fabric, "n1") == "n1: mlx5_0=0 mlx5_3=1 mlx5_10=2");
    CHECK(roles(fabric, "n2") == "n2: mlx5_0=0 mlx5_10=2");
    CHECK(fabric.units.size() == 1);
}

TEST_CASE("storage HCAs have no rail") {
    SECTION("slower than the others") {
        const auto fabric = wire({{"n1 mlx5_0", 1},
                                  {"n1 mlx5_1", 3, 200000},
                                  {"n1 mlx5_2", 2}, //
                                  {"n2 mlx5_0", 1},
                                  {"n2 mlx5_1", 3, 200000},
                                  {"n2 mlx5_2", 2}},
                                 3);
        CHECK(roles(fabric, "n1") == "n1: mlx5_0=0 mlx5_2=1 mlx5_1=storage");
        CHECK(fabric.rails == 2);
    }
    SECTION("those of two units meet on one leaf") {
        const auto fabric = wire({{"n1 mlx5_0", 1},
                                  {"n1 mlx5_1", 2},
                                  {"n1 mlx5_2", 5}, //
                                  {"n2 mlx5_0", 1},
                                  {"n2 mlx5_1", 2},
                                  {"n2 mlx5_2", 5}, //
                                  {"n3 mlx5_0", 3},
                                  {"n3 mlx5_1", 4},
                                  {"n3 mlx5_2", 5}, //
                                  {"n4 mlx5_0", 3},
                                  {"n4 mlx5_1", 4},
                                  {"n4 mlx5_2", 5}},
                                 5);
        CHECK(roles(fabric, "n4") == "n4: mlx5_0=0 mlx5_1=1 mlx5_2=storage");
        CHECK(fabric.units.size() == 2);
    }
    SECTION("a storage server and a nameless HCA among compute hosts") {
        const auto fabric = wire({{"n1 mlx5_0", 1},
                                  {"n1 mlx5_1", 2},
                                  {"n1 mlx5_2", 3}, //
                                  {"n2 mlx5_0", 1},
                                  {"n2 mlx5_1", 2},
                                  {"n2 mlx5_2", 3}, //
                                  {"fs1 mlx5_0", 1},
                                  {"MT4129 ConnectX7 Mellanox Technologies", 2}},
                                 3);
        CHECK(roles(fabric, "fs1") == "fs1: mlx5_0=storage");
        CHECK(roles(fabric, "0x00000000000003f0") ==
              "0x00000000000003f0: MT4129 ConnectX7 Mellanox Technologies=storage");
        CHECK(fabric.hosts[fabric.find_host("fs1").value()].unit == topo::none);
    }
    SECTION("not for a leaf that died: the rail is thin, not crowded") {
        const auto fabric = wire({{"n1 mlx5_0", 1},
                                  {"n1 mlx5_1", 2},
                                  {"n2 mlx5_0", 1},
                                  {"n2 mlx5_1", 2}, //
                                  {"n3 mlx5_0", 3},
                                  {"n4 mlx5_0", 3}},
                                 3);
        CHECK(roles(fabric, "n1") == "n1: mlx5_0=0 mlx5_1=1");
        CHECK(roles(fabric, "n3") == "n3: mlx5_0=0");
    }
}

TEST_CASE("hosts of another make have rails of their own") {
    const auto fabric = wire({{"a1 mlx5_0", 1},
                              {"a1 mlx5_1", 2},
                              {"a2 mlx5_0", 1},
                              {"a2 mlx5_1", 2}, //
                              {"b1 ibp12s0", 1},
                              {"b1 ibp141s0", 2}},
                             2);
    CHECK(roles(fabric, "b1") == "b1: ibp12s0=0 ibp141s0=1");
    CHECK(fabric.units.size() == 1);
}

// From an eighth of the hosts on they were compute hosts that lack half of their rails.
TEST_CASE("hosts with half the HCAs among others are service hosts, unless most are so") {
    std::vector<std::string> names;
    const auto add = [&](const std::string& stem, int hosts, int hcas) {
        for (int h = 1; h <= hosts; ++h)
            for (int i = 0; i < hcas; ++i)
                names.push_back(stem + std::to_string(h) + " mlx5_" + std::to_string(i));
    };
    const auto wired = [&](topo::Guid first_of_half) {
        std::vector<Cable> cables;
        for (const auto& name : names) {
            const auto device = static_cast<topo::Guid>(name.back() - '0');
            cables.push_back({name.c_str(), device + (name.starts_with("login") ? first_of_half : 1)});
        }
        return wire(cables, 6);
    };
    SECTION("a few") {
        add("n", 8, 4);
        add("login", 6, 2);
        const auto fabric = wired(1);
        CHECK(roles(fabric, "login3") == "login3: mlx5_0=storage mlx5_1=storage");
        CHECK(fabric.units.front().hosts.size() == 8);
    }
    SECTION("as many, on leaves of their own") {
        add("n", 8, 4);
        add("login", 6, 2);
        const auto fabric = wired(5);
        CHECK(roles(fabric, "login3") == "login3: mlx5_0=0 mlx5_1=1");
        CHECK(fabric.units.size() == 2);
    }
    SECTION("most") {
        add("n", 5, 4);
        add("login", 8, 2);
        CHECK(roles(wired(1), "login3") == "login3: mlx5_0=0 mlx5_1=1");
    }
}

TEST_CASE("of two HCAs with one name the first keeps the rail") {
    const auto fabric = wire({{"n1 mlx5_0", 1}, {"n1 mlx5_1", 2}, {"n1 mlx5_0", 2}}, 2);
    CHECK(roles(fabric, "n1") == "n1: mlx5_0=0 mlx5_1=1 mlx5_0=storage");
}

TEST_CASE("HCAs whose descriptions name a card and no device have rails by their leaves") {
    const auto fabric = wire({{"p1  MT4119 ConnectX5   Mellanox Technologies", 1},
                              {"p1  MT4119 ConnectX5   Mellanox Technologies", 2},
                              {"p2  MT4119 ConnectX5   Mellanox Technologies", 2}, // in any order
                              {"p2  MT4119 ConnectX5   Mellanox Technologies", 1},
                              {"p3  MT4119 ConnectX5   Mellanox Technologies", 2}, // one is dead
                              {"p4  MT4119 ConnectX5   Mellanox Technologies", 1},
                              {"p4  MT4119 ConnectX5   Mellanox Technologies", 2}},
                             2);
    CHECK(fabric.hosts.size() == 4);
    CHECK(fabric.rails == 2);
    CHECK(roles(fabric, "p1") == "p1: =0 =1");
    CHECK(roles(fabric, "p3") == "p3: =1");
    REQUIRE(fabric.units.size() == 1);
    for (std::size_t r = 0; r < 2; ++r)
        CHECK(fabric.hosts[3].leaves[r] == fabric.units[0].leaves[r]);
    std::vector<std::string> found;
    for (const auto& finding : topo::check(fabric))
        found.push_back(finding.code);
    CHECK(found == std::vector<std::string>{"host.rails", "name.device"});
}

TEST_CASE("losses name what an older file has more") {
    const auto before = *topo::synthesise(*topo::parse_synth("units=2 hosts=2 rails=2"));
    CHECK(topo::losses(before, before).empty());
    const auto after = *topo::synthesise(*topo::parse_synth("units=2 hosts=1 rails=2"));
    const auto lost = topo::losses(before, after);
    REQUIRE(lost.size() >= 1);
    CHECK(lost[0] == "2 hosts are not seen: n[003-004]");

    auto dead = before;
    dead.links.erase(dead.links.begin());
    CHECK(topo::losses(before, dead) ==
          std::vector<std::string>{"2 ports have lost their links: n001 mlx5_0/1, leaf-su1-r0/1"});
    CHECK(topo::losses(dead, before).empty());
}
