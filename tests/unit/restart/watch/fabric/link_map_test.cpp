#include "restart/watch/fabric/link_map.hpp"

#include "topo/synth/synth.hpp"

#include <catch2/catch.hpp>

using namespace restart;

namespace {

topo::Fabric made(const char* text) {
    return *topo::synthesise(*topo::parse_synth(text));
}

} // namespace

TEST_CASE("every link of a file is found at both of its ports, and no other is") {
    const auto file = made("pods=2 units=2 hosts=4 rails=4");
    const LinkMap map(file);
    CHECK(map.links().size() == file.links.size());
    for (std::size_t i = 0; i < map.links().size(); ++i)
        for (std::size_t side = 0; side < 2; ++side) {
            const auto& end = map.links()[i].ends[side];
            CHECK(map.find(end.node, end.port) == std::pair(i, side));
        }
    CHECK_FALSE(map.find(map.links()[0].ends[0].node, 200));
    CHECK_FALSE(map.find(12, 1));
}

TEST_CASE("hosts behind a link are those whose traffic it carries") {
    const auto file = made("pods=2 units=2 hosts=4 rails=4");
    const LinkMap map(file);
    for (std::size_t i = 0; i < map.links().size(); ++i) {
        const auto& link = map.links()[i];
        const auto names = link.ends[0].device + " " + link.ends[1].device;
        INFO(names);
        if (link.ends[0].host != topo::none || link.ends[1].host != topo::none) {
            CHECK(map.hosts_of(i) == link.ends[link.ends[0].host == topo::none ? 1 : 0].device);
            CHECK_FALSE(link.unit.empty());
        } else if (names.find("leaf-su1") != std::string::npos) {
            CHECK(map.hosts_of(i) == "n[001-004]");
            CHECK(link.rail >= 0);
        } else if (names.find("leaf") == std::string::npos) {
            CHECK((map.hosts_of(i) == "n[001-008]" || map.hosts_of(i) == "n[009-016]"));
        }
    }
}

TEST_CASE("a file without GUIDs has no links to judge") {
    auto file = made("units=1 hosts=2 rails=2");
    for (auto& host : file.hosts)
        for (auto& hca : host.hcas)
            hca.guid = 0;
    for (auto& one : file.switches)
        one.guid = 0;
    CHECK(LinkMap(file).links().empty());
    CHECK(LinkMap(topo::Fabric()).links().empty());
}

TEST_CASE("a list of hosts that do not fold is cut to what a report carries") {
    auto file = made("units=1 hosts=32 rails=1");
    for (std::size_t i = 0; i < file.hosts.size(); ++i)
        file.hosts[i].name = std::string(40, static_cast<char>('a' + i % 26)) + (i % 2 == 0 ? "x" : "y");
    auto& leaf = file.links[0];
    const topo::End end = leaf.a.switch_ != topo::none ? leaf.a : leaf.b;
    file.switches.push_back({.guid = 0x9803000000099990, .name = "spine"});
    file.links.push_back({end, {topo::none, topo::none, static_cast<int>(file.switches.size()) - 1, 1}});
    file.links.back().a.port = 60;
    const LinkMap map(file);
    const auto hosts = map.hosts_of(map.links().size() - 1);
    CHECK_FALSE(hosts.empty());
    CHECK(hosts.size() <= 1000);
}
