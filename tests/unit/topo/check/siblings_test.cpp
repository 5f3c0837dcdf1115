// What is wrong with hosts, switches and GPUs beside their siblings.
#include "unit/topo/fabrics.hpp"

#include <fmt/format.h>

namespace {

void number_gpus(topo::Fabric& fabric) {
    for (auto& host : fabric.hosts) {
        for (auto& hca : host.hcas) {
            hca.gpu = hca.rail;
            hca.numa = hca.rail / 4;
            hca.pci = fmt::format("0000:{:02x}:00.0", hca.rail);
            host.gpus.push_back({fmt::format("0000:{:02x}:00.0", 0x80 + hca.rail), hca.rail / 4});
        }
    }
}

} // namespace

TEST_CASE("a missing host is reported by its number") {
    auto fabric = made("units=3 hosts=8 rails=4");
    SECTION("between others") {
        remove_host(fabric, "n013");
        const auto finding = only_finding(fabric);
        CHECK(finding.code == "host.missing");
        CHECK(finding.ends == std::vector<std::string>{"n013", "su2"});
        CHECK(finding.evidence ==
              "n013 is not seen: su2 (n[009-012,014-016]) has 7 hosts where other units have 8");
        CHECK(finding.fix == "look whether the host is powered, booted and cabled");
    }
    SECTION("the last of a unit, and the first") {
        remove_host(fabric, "n008");
        CHECK(only_finding(fabric).ends.front() == "n008");
        remove_host(fabric, "n017");
        REQUIRE(topo::check(fabric).size() == 2);
        CHECK(topo::check(fabric)[1].ends.front() == "n017");
    }
    SECTION("the last of all") {
        remove_host(fabric, "n024");
        CHECK(only_finding(fabric).ends.front() == "n024");
    }
    SECTION("the first of all") { // that of the next unit behind its own is taken
        remove_host(fabric, "n001");
        CHECK(only_finding(fabric).ends.front() == "n001");
    }
    SECTION("more than a quarter of a unit was never there") {
        for (const auto* name : {"n022", "n023", "n024"})
            remove_host(fabric, name);
        CHECK(only_finding(fabric).code == "unit.size");
        CHECK(only_finding(fabric).severity == topo::Severity::info);
    }
}

TEST_CASE("a number that no host ever had is nothing") {
    auto fabric = made("units=2 hosts=8 rails=4");
    for (auto& host : fabric.hosts)
        if (host.name > "n004") host.name = fmt::format("n{:03}", std::stoi(host.name.substr(1)) + 1);
    topo::derive(fabric);
    CHECK(codes(fabric).empty());
}

// One unit that is greater made hosts missing in all others.
TEST_CASE("units of unequal sizes whose hosts have no numbers in common lack none") {
    auto fabric = made("units=4 hosts=8 rails=4");
    for (const auto* gone : {"n016", "n023", "n024", "n032"})
        remove_host(fabric, gone);
    for (const auto* service : {"n001", "n009", "n017", "n025"})
        fabric.hosts[fabric.find_host(service).value()].name += "-login";
    topo::derive(fabric);
    CHECK(codes(fabric).empty());
}

TEST_CASE("in a single unit a gap in the numbers is reported") {
    auto fabric = made("units=1 hosts=8 rails=4");
    remove_host(fabric, "n005");
    CHECK(only_finding(fabric).evidence == "n005 is not seen: su1 is numbered around it");
}

TEST_CASE("GPUs far from the HCA of their rail") {
    auto fabric = made("units=2 hosts=4 rails=8");
    number_gpus(fabric);
    CHECK(codes(fabric).empty());
    SECTION("by the nearest GPU") {
        std::swap(fabric.hosts[2].hcas[1].gpu, fabric.hosts[2].hcas[6].gpu);
        const auto finding = only_finding(fabric);
        CHECK(finding.code == "gpu.far");
        CHECK(finding.ends == std::vector<std::string>{"n003", "mlx5_1", "mlx5_6"});
        CHECK(
            finding.evidence ==
            "n003: mlx5_1 (rail 1) is nearest GPU 6, not GPU 1, mlx5_6 (rail 6) is nearest GPU 1, not GPU 6");
    }
    SECTION("by NUMA node where the nearest is not reported") {
        for (auto& hca : fabric.hosts[5].hcas)
            hca.gpu = topo::none;
        CHECK(codes(fabric).empty());
        fabric.hosts[5].hcas[7].numa = 0;
        CHECK(only_finding(fabric).evidence == "n006: mlx5_7 (rail 7) is on NUMA node 0, GPU 7 on 1");
    }
    SECTION("all hosts alike are one finding") {
        for (auto& host : fabric.hosts)
            std::swap(host.hcas[0].gpu, host.hcas[1].gpu);
        const auto finding = only_finding(fabric);
        CHECK(finding.ends.front() == "n[001-008]");
        CHECK(finding.fix == "number the rails by their nearest GPUs");
    }
    SECTION("fewer rails than GPUs share them") {
        auto four = made("units=2 hosts=4 rails=4");
        for (auto& host : four.hosts)
            for (int g = 0; g < 8; ++g) {
                host.gpus.push_back({fmt::format("0000:{:02x}:00.0", g), g / 4});
                host.hcas[static_cast<std::size_t>(g / 2)].gpu = g;
            }
        CHECK(codes(four).empty());
        four.hosts[0].hcas[3].gpu = 5;
        CHECK_THAT(only_finding(four).evidence, Catch::EndsWith("is nearest GPU 5, not GPUs 6-7"));
    }
}

TEST_CASE("uplinks of spines are held to those of their siblings in other pods") {
    auto fabric = made("pods=3 units=2 hosts=8 rails=4 oversub=2");
    REQUIRE(codes(fabric) == std::vector<std::string>{"tier.oversubscribed"});
    std::vector<topo::Link*> up; // of spines
    for (auto& link : fabric.links) {
        if (link.a.switch_ == topo::none || link.b.switch_ == topo::none) continue;
        const auto tier = [&](const topo::End& end) {
            return fabric.switches[static_cast<std::size_t>(end.switch_)].tier;
        };
        if (tier(link.a) + tier(link.b) == 3) up.push_back(&link);
    }
    REQUIRE_FALSE(up.empty());
    SECTION("one missing") {
        const auto* victim = up[3];
        const auto a = victim->a, b = victim->b;
        std::erase_if(fabric.links, [&](const topo::Link& link) { return link.a == a && link.b == b; });
        topo::derive(fabric);
        CHECK(codes(fabric) == std::vector<std::string>{"tier.oversubscribed", "uplink.missing"});
    }
    SECTION("one narrow") {
        up[3]->width = 1;
        up[3]->mbps /= 4;
        CHECK(codes(fabric) == std::vector<std::string>{"link.narrow", "tier.oversubscribed"});
    }
}

TEST_CASE("each tier that is oversubscribed is one finding, in numbers") {
    const auto findings = topo::check(made("pods=2 units=2 hosts=12 rails=2 oversub=6"));
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].severity == topo::Severity::warning);
    CHECK(findings[0].evidence ==
          "most leaves have 6.00 times as much bandwidth below as above (8 of 8); all 8 "
          "together 38400 Gbit/s below and 6400 above");
}

TEST_CASE("hosts with half the rails are of another make") {
    auto fabric = made("units=2 hosts=8 rails=4");
    const auto cut = [](topo::Fabric& of, std::size_t from, std::size_t to) {
        std::erase_if(of.links, [&](const topo::Link& link) {
            return link.a.host >= static_cast<int>(from) && link.a.host < static_cast<int>(to) &&
                   link.a.hca >= 2;
        });
        for (auto h = from; h < to; ++h)
            of.hosts[h].hcas.resize(2);
        topo::derive(of);
    };
    SECTION("a whole unit") {
        cut(fabric, 8, 16);
        const auto findings = topo::check(fabric);
        REQUIRE(findings.size() == 2);
        CHECK(findings[0].evidence ==
              "2 switches (leaf-su2-r[2-3]) have uplinks as other leaves have, and no host");
        CHECK(findings[1].evidence == "hosts have unequal numbers of rails: 4 rails on 8 hosts (n[001-008]), "
                                      "2 rails on 8 hosts (n[009-016])");
        CHECK(findings[1].severity == topo::Severity::info);
    }
    SECTION("some hosts of a unit") {
        cut(fabric, 4, 8);
        CHECK(only_finding(fabric).code == "rails.unequal");
    }
    SECTION("a single host has lost them") {
        cut(fabric, 4, 5);
        CHECK(only_finding(fabric).code == "host.rails");
    }
}

TEST_CASE("two hosts of a unit that lost one of two rails are no hosts of another make") {
    auto fabric = made("units=2 hosts=16 rails=2");
    for (const auto* host : {"n003", "n011"})
        remove_hca(fabric, host, "mlx5_1");
    const auto finding = only_finding(fabric);
    CHECK(finding.code == "host.rails");
    CHECK(finding.ends.front() == "n[003,011]");
}
