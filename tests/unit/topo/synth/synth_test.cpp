#include "topo/synth/synth.hpp"

#include <catch2/catch.hpp>

#include <set>

namespace {
topo::Fabric make(std::string_view spec) {
    const auto parsed = topo::parse_synth(spec);
    REQUIRE(parsed);
    auto fabric = topo::synthesise(*parsed);
    REQUIRE(fabric);
    return std::move(*fabric);
}
} // namespace

TEST_CASE("synth makes what its words say") {
    struct Case {
        const char* spec;
        std::size_t hosts, units, pods, switches;
        int rails, tiers;
    };
    const auto c = GENERATE(Case{"pods=1 units=2 hosts=8 rails=8", 16, 2, 1, 18, 8, 2},
                            Case{"units=4 hosts=32", 128, 4, 1, 48, 8, 2}, // Blue Vela's pod
                            Case{"pods=2 units=4 hosts=32", 256, 8, 2, 160, 8, 3},
                            Case{"pods=1 units=1 hosts=4 rails=2", 4, 1, 1, 2, 2, 1}, // rail-only
                            Case{"pods=3 units=2 hosts=4 rails=1 spines=2", 24, 6, 3, 13, 1, 3},
                            Case{"pods=1 units=1 hosts=1 rails=1", 1, 1, 1, 1, 1, 1},
                            Case{"units=3 hosts=32 oversub=4", 96, 3, 1, 27, 8, 2});
    const auto fabric = make(c.spec);
    INFO(c.spec);
    CHECK(fabric.hosts.size() == c.hosts);
    CHECK(fabric.units.size() == c.units);
    CHECK(fabric.pods.size() == c.pods);
    CHECK(fabric.switches.size() == c.switches);
    CHECK(fabric.rails == c.rails);
    CHECK(fabric.tiers == c.tiers);
    for (const auto& unit : fabric.units) {
        CHECK(unit.hosts.size() * c.units == c.hosts);
        for (const auto h : unit.hosts)
            CHECK(fabric.hosts[h].leaves == unit.leaves);
    }
}

TEST_CASE("synth puts so many hosts of a unit into each NVLink domain") {
    const auto fabric = make("pods=1 units=2 hosts=5 rails=2 domains=2");
    std::vector<std::string> domains;
    for (const auto& domain : fabric.domains) {
        domains.push_back(domain.name + " " + fabric.units[static_cast<std::size_t>(domain.unit)].name);
        for (const auto h : domain.hosts)
            domains.back() += " " + fabric.hosts[h].name;
    }
    CHECK(domains == std::vector<std::string>{"nvl1 su1 n001 n002", "nvl2 su1 n003 n004", "nvl3 su1 n005",
                                              "nvl4 su2 n006 n007", "nvl5 su2 n008 n009", "nvl6 su2 n010"});
    CHECK(make("hosts=4").domains.empty());
    CHECK_THAT(topo::synthesise(*topo::parse_synth("hosts=4 domains=5")).error().text,
               Catch::Contains("domains=5: more than the 4 hosts of a unit"));
}

TEST_CASE("synth connects no port twice and gives each GUID once") {
    const auto fabric = make("pods=2 units=3 hosts=5 rails=4 oversub=2 prefix=gpu-");
    CHECK(fabric.hosts.front().name == "gpu-001");
    std::set<std::pair<std::uint64_t, int>> ports;
    std::set<std::uint64_t> guids;
    const auto guid = [&](const topo::End& end) {
        return end.switch_ != topo::none ? fabric.switches.at(static_cast<std::size_t>(end.switch_)).guid
                                         : fabric.hosts.at(static_cast<std::size_t>(end.host))
                                               .hcas.at(static_cast<std::size_t>(end.hca))
                                               .guid;
    };
    for (const auto& link : fabric.links) {
        CHECK(ports.emplace(guid(link.a), link.a.port).second);
        CHECK(ports.emplace(guid(link.b), link.b.port).second);
    }
    for (const auto& s : fabric.switches)
        CHECK(guids.insert(s.guid).second);
    for (const auto& host : fabric.hosts)
        for (const auto& hca : host.hcas)
            CHECK(guids.insert(hca.guid).second);
}

TEST_CASE("synth refuses a bad word by its name") {
    const auto said = [](std::string_view spec) {
        const auto parsed = topo::parse_synth(spec);
        if (!parsed) return parsed.error().text;
        const auto fabric = topo::synthesise(*parsed);
        REQUIRE_FALSE(fabric);
        return fabric.error().text;
    };
    CHECK(said("pods=1 hosts=0") == "synth: hosts=0: must be a number from 1 to 200");
    CHECK_THAT(said("host=8"), Catch::StartsWith("synth: host=8: unknown word"));
    CHECK_THAT(said("units"), Catch::StartsWith("synth: units: must be a number"));
    CHECK_THAT(said("rails=8x"), Catch::StartsWith("synth: rails=8x:"));
    CHECK_THAT(said("rails=99999999999999999999"), Catch::StartsWith("synth: rails=99999999999999999999:"));
    CHECK_THAT(said("prefix=a b"), Catch::StartsWith("synth: b: unknown word"));
    CHECK_THAT(said("prefix="), Catch::StartsWith("synth: prefix=:"));
    CHECK_THAT(said("rate=fast"), Catch::StartsWith("synth: rate=fast:"));
    CHECK_THAT(said("hosts=200"), Catch::Contains("254 ports"));
    CHECK_THAT(said("pods=1024 units=1024"), Catch::Contains("at most 131072"));
    CHECK_THAT(said("units=4 hosts=32 spines=1"), Catch::StartsWith("synth: spines=1:"));
    CHECK_THAT(said("planes=2 ports=3"),
               Catch::StartsWith("synth: ports=3: must be a multiple of planes, 2"));
    CHECK_THAT(said("rails=2 leaves=3"), Catch::StartsWith("synth: leaves=3: more than the 2 rails"));
    CHECK_THAT(said("units=2 halved=3"), Catch::StartsWith("synth: halved=3: more than the 2 units"));
    CHECK_THAT(said("rails=1 halved=1"), Catch::StartsWith("synth: halved=1: a single rail"));
    CHECK_THAT(said("pods=100 units=10 hosts=100 storage=8"),
               Catch::StartsWith("synth: storage=8: more storage leaves"));
}
