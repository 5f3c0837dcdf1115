#include "topo/derive.hpp"
#include "unit/topo/fabrics.hpp"
#include "unit/topo/shuffle.hpp"

#include <fmt/format.h>

#include <map>

namespace {

std::string only_text(const topo::Fabric& fabric) {
    return only_finding(fabric).text;
}

using Code = std::pair<const char*, const char*>; // fault, the code it is found as
const std::vector<Code> faults{{"rails_swapped", "hca.swapped"},
                               {"hosts_swapped", "hca.swapped"},
                               {"rails_rotated", "hca.rotated"},
                               {"wrong_rail", "hca.wrong_rail"},
                               {"wrong_unit", "hca.wrong_unit"},
                               {"on_spine", "hca.on_spine"},
                               {"dead_hca", "host.rails"},
                               {"narrow_link", "link.narrow"},
                               {"slow_link", "link.slow"},
                               {"uplink_missing", "uplink.missing"},
                               {"uplinks_crossed", "uplink.crossed"},
                               {"uplink_narrow", "link.narrow"},
                               {"name_duplicate", "name.duplicate"},
                               {"name_missing", "name.missing"},
                               {"switch_name", "name.duplicate"},
                               {"host_missing", "host.missing"}};

} // namespace

TEST_CASE("hosts of an NVLink domain in other units than most of it are one finding") {
    auto fabric = made("units=2 hosts=4 rails=2 domains=2");
    CHECK(codes(fabric).empty());
    fabric.hosts[0].domain = "nvl3"; // with n005 and n006 of the other unit
    topo::derive(fabric);
    CHECK(only_finding(fabric).code == "host.domain");
    CHECK(only_text(fabric) ==
          "n001 is in NVLink domain nvl3 as n[005-006], but in su1 where those are in su2; "
          "correct the domain in the fabric file, or move the host's cables to the leaves "
          "of its rack");
    fabric.hosts[1].domain = "nvl3"; // two of each unit: it is taken for the first one's
    topo::derive(fabric);
    CHECK(only_finding(fabric).ends == std::vector<std::string>{"n005", "n006"});
}

TEST_CASE("a sound fabric has no findings") {
    const auto spec =
        GENERATE("units=2 hosts=8 rails=8", "units=1 hosts=4 rails=4", "pods=2 units=4 hosts=32",
                 "pods=1 hosts=1 rails=1", "units=3 hosts=5 rails=3 spines=3",
                 "pods=3 units=2 hosts=4 rails=1 spines=2", "units=2 hosts=3 rails=2");
    INFO(spec);
    CHECK(codes(made(spec)).empty());
}

TEST_CASE("every planted fault is found as itself and as nothing else") {
    REQUIRE(faults.size() == topo::fault_count);
    for (const auto& [fault, code] : faults)
        for (int seed = 1; seed <= 10; ++seed) {
            INFO(fault << " seed " << seed);
            CHECK(codes(made(fmt::format("units=2 hosts=8 rails=8 faults={} seed={}", fault, seed))) ==
                  std::vector<std::string>{code});
        }
}

TEST_CASE("sixteen faults at once are sixteen findings") {
    std::vector<std::string> expected;
    for (const auto& [fault, code] : faults)
        expected.emplace_back(code);
    std::sort(expected.begin(), expected.end());
    for (const char* spec :
         {"units=2 hosts=16 rails=8", "pods=2 units=2 hosts=16 rails=8", "units=2 hosts=20 rails=4"})
        for (int seed = 1; seed <= 10; ++seed) {
            INFO(spec << " seed " << seed);
            CHECK(codes(made(fmt::format("{} faults=16 seed={}", spec, seed))) == expected);
        }
}

TEST_CASE("order does not change what is found") {
    for (int seed = 1; seed <= 5; ++seed) {
        const auto fabric = made(fmt::format("units=2 hosts=16 rails=8 faults=16 seed={}", seed));
        const auto texts = [](const topo::Fabric& of) {
            std::vector<std::string> list;
            for (const auto& finding : topo::check(of))
                list.push_back(finding.text);
            return list;
        };
        CHECK(texts(shuffled(fabric, static_cast<unsigned>(seed))) == texts(fabric));
    }
}

TEST_CASE("names do not change what is found") {
    const auto fabric = made("units=2 hosts=16 rails=8 faults=12 seed=3"); // the faults that are not of names
    auto renamed = fabric;
    for (auto& host : renamed.hosts)
        host.name = fmt::format("rack{}", 9999 - *fabric.find_host(host.name));
    for (auto& s : renamed.switches)
        s.name = fmt::format("sw-{:x}", s.guid * 0x9E3779B97F4A7C15U);
    topo::derive(renamed);
    CHECK(renamed.units.size() == fabric.units.size());
    CHECK(codes(renamed) == codes(fabric));
}

TEST_CASE("findings name both ends and the fix") {
    CHECK(only_text(made("units=2 hosts=8 rails=8 faults=rails_swapped seed=3")) ==
          "n011 mlx5_2 (rail 2) and n011 mlx5_3 (rail 3) are swapped: they hang on leaf-su2-r3/3 and "
          "leaf-su2-r2/3; swap the two "
          "cables");
    const auto findings = topo::check(made("units=2 hosts=8 rails=8 faults=wrong_unit seed=3"));
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].ends == std::vector<std::string>{"n011 mlx5_2/1", "leaf-su1-r2/17"});
    CHECK(findings[0].severity == topo::Severity::error);
    CHECK_THAT(findings[0].text, Catch::EndsWith("move its cable to leaf-su2-r2"));
}

TEST_CASE("faults of the whole are found") {
    SECTION("two parts that no link joins") {
        auto fabric = made("units=2 hosts=2 rails=2");
        std::erase_if(fabric.links, [](const topo::Link& link) { return link.a.switch_ != topo::none; });
        topo::derive(fabric);
        CHECK_THAT(only_text(fabric),
                   Catch::StartsWith("the fabric is in 2 parts that no link joins: n[001-002] | n[003-004]"));
    }
    SECTION("a unit without a rail") {
        auto fabric = made("units=3 hosts=2 rails=3");
        const auto dead = fabric.units[1].leaves[2];
        std::erase_if(fabric.links, [&](const topo::Link& link) {
            return link.a.switch_ == dead || link.b.switch_ == dead;
        });
        topo::derive(fabric);
        CHECK_THAT(only_text(fabric), Catch::StartsWith("su2 (n[003-004]) has no rail 2"));
    }
    SECTION("a leaf that carries two rails") {
        auto fabric = made("units=1 hosts=4 rails=4");
        const auto to = fabric.units[0].leaves[0], from = fabric.units[0].leaves[1];
        std::uint8_t port = 20;
        for (auto& link : fabric.links)
            if (link.b.switch_ == from) link.b = {topo::none, topo::none, to, port++};
        topo::derive(fabric);
        CHECK_THAT(only_text(fabric), Catch::StartsWith("leaf-su1-r0 carries rails 0, 1 of su1"));
    }
    SECTION("a cable of two in another unit") {
        auto fabric = made("units=2 hosts=4 rails=2");
        for (auto& link : fabric.links)
            if (link.a.host == 0 && link.a.hca == 0)
                link.b = {topo::none, topo::none, fabric.units[1].leaves[0], 30};
        topo::derive(fabric);
        CHECK_THAT(only_text(fabric), Catch::EndsWith("move its cable to leaf-su1-r0"));
    }
    SECTION("a link that is down, and one that is not active") {
        auto fabric = made("units=2 hosts=4 rails=4");
        fabric.links[0].state = topo::LinkState::down;
        fabric.links[5].state = topo::LinkState::init;
        CHECK(codes(fabric) == std::vector<std::string>{"link.down", "link.not_active"});
    }
    SECTION("hosts without facts where others have them") {
        auto fabric = made("units=1 hosts=4 rails=2");
        fabric.hosts[1].hcas[0].pci = "0000:18:00.0";
        CHECK_THAT(only_text(fabric), Catch::Contains("n[001,003-004]"));
    }
    SECTION("oversubscribed leaves are only information") {
        const auto findings = topo::check(made("units=2 hosts=8 rails=4 oversub=4"));
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].code == "tier.oversubscribed");
        CHECK(findings[0].severity == topo::Severity::info);
        CHECK_THAT(findings[0].text, Catch::Contains("4.00 times"));
    }
}

TEST_CASE("a scan that saw its own HCA alone is an error", "[whole]") {
    topo::Fabric fabric;
    auto& host = fabric.hosts.emplace_back();
    host.name = "n001";
    auto& hca = host.hcas.emplace_back();
    hca.guid = 1;
    hca.device = "mlx5_0";
    hca.ports.emplace_back();
    topo::derive(fabric);
    const auto finding = only_finding(fabric);
    CHECK(finding.code == "fabric.empty");
    CHECK(finding.severity == topo::Severity::error);
    CHECK(topo::check(topo::Fabric{}).empty());
}
