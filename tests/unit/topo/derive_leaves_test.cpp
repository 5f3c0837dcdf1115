// Units, their leaves and pods against what was built: synthesise() says so itself, and nothing of derive()
// is asked what is right.
#include "topo/names.hpp"
#include "unit/topo/fabrics.hpp"

#include <fmt/format.h>

#include <map>
#include <random>
#include <set>

namespace {

// The link of a host's HCA of that rail.
topo::Link* cable(topo::Fabric& fabric, std::size_t host, int rail) {
    for (auto& link : fabric.links)
        if (link.a.host == static_cast<int>(host) && link.a.hca == rail) return &link;
    return nullptr;
}

void cut(topo::Fabric& fabric, std::size_t host, int rail) {
    const auto* gone = cable(fabric, host, rail);
    std::erase_if(fabric.links, [&](const topo::Link& link) { return &link == gone; });
}

void move(topo::Fabric& fabric, std::size_t host, int rail, int leaf, int port) {
    cable(fabric, host, rail)->b = {topo::none, topo::none, leaf, static_cast<std::uint8_t>(port)};
}

std::vector<topo::Finding> found_of(const topo::Fabric& fabric, std::string_view code) {
    auto findings = topo::check(fabric);
    std::erase_if(findings, [&](const topo::Finding& finding) { return finding.code != code; });
    return findings;
}

// Leaves of every unit and pods of every unit and switch, by name.
std::string shape(const topo::Fabric& fabric) {
    std::string text;
    for (const auto& unit : fabric.units) {
        text += topo::host_names(fabric, unit.hosts) + " in pod " + std::to_string(unit.pod) + ":";
        for (const int leaf : unit.leaves)
            text += " " + topo::switch_name(fabric, leaf);
        text += "\n";
    }
    for (const auto& s : fabric.switches)
        if (s.tier <= 1) text += s.name + " in pod " + std::to_string(s.pod) + "\n";
    return text;
}

} // namespace

// The only host with all rails was taken for the unit, and its one wrong cable for where the rail belongs.
TEST_CASE("a unit's leaf is where most of its hosts are, not where the best cabled one is", "[majority]") {
    const auto sound = made("pods=2 units=2 hosts=6 rails=8");
    auto fabric = sound;
    move(fabric, 0, 6, sound.units[2].leaves[6], 40);
    for (std::size_t h = 1; h < 6; ++h)
        cut(fabric, h, static_cast<int>(h) - 1);
    topo::derive(fabric);
    CHECK(shape(fabric) == shape(sound));
    const auto wrong = found_of(fabric, "hca.wrong_unit");
    REQUIRE(wrong.size() == 1);
    CHECK(wrong[0].ends.front() == "n001 mlx5_6/1");
    CHECK(wrong[0].fix == "move its cable to leaf-su1-r6");
    CHECK(found_of(fabric, "unit.cabling").empty());
    CHECK(found_of(fabric, "host.rails").size() == 5);
}

// Of two hosts each says another leaf: the one is full of hosts of another unit, the other hangs on the
// spines of the unit's other leaves.
TEST_CASE("of equally many hosts the leaf that is the unit's own decides", "[majority]") {
    const int rails = GENERATE(4, 8), stray = GENERATE(0, 1);
    const auto sound = made("pods=2 units=1 hosts=2 spines=2 rails=" + std::to_string(rails));
    auto fabric = sound;
    move(fabric, static_cast<std::size_t>(stray), 3, sound.units[1].leaves[3], 40);
    topo::derive(fabric);
    CHECK(shape(fabric) == shape(sound));
    CHECK(fabric.pods.size() == 2);
    const auto wrong = found_of(fabric, "hca.wrong_unit");
    REQUIRE(wrong.size() == 1);
    CHECK(wrong[0].ends.front() == (stray == 0 ? "n001 mlx5_3/1" : "n002 mlx5_3/1"));
    CHECK(wrong[0].fix == "move its cable to leaf-su1-r3");
}

// The second to be looked at shares two rails with the first, and was taken for a unit of its own.
TEST_CASE("hosts of one wrong cable each are of one unit, whichever is seen first", "[majority]") {
    const auto sound = made("units=4 hosts=3 rails=4");
    auto fabric = sound;
    const int first = GENERATE(0, 1, 2);
    const auto& leaves = sound.units[1].leaves;
    const auto host = [&](int n) { return static_cast<std::size_t>(3 + (first + n) % 3); };
    move(fabric, host(0), 1, leaves[2], 40);
    move(fabric, host(1), 2, leaves[1], 40);
    topo::derive(fabric);
    CHECK(shape(fabric) == shape(sound));
    CHECK(only_finding(fabric).code == "hca.swapped");
}

// Where neither numbers, ports nor sizes say more than the cables.
TEST_CASE("a host torn between two units by its cables alone is decided by their sizes, or told as undecided",
          "[majority]") {
    auto fabric = made("units=4 hosts=8 rails=2");
    for (std::size_t h = 0; h < fabric.hosts.size(); ++h)
        fabric.hosts[h].name =
            fmt::format("{}{}", static_cast<char>('a' + h / 8), static_cast<char>('a' + h % 8));
    topo::derive(fabric);
    const auto [mine, other] = GENERATE(table<std::size_t, std::size_t>({{1, 3}, {3, 1}}));
    const int rail = GENERATE(0, 1);
    const auto host = 8 * mine + 3;
    SECTION("where its unit is one short, it is decided") {
        move(fabric, host, rail, fabric.units[other].leaves[topo::at(rail)], 40);
        topo::derive(fabric);
        CHECK(fabric.hosts[host].unit == static_cast<int>(mine));
        CHECK(fabric.hosts[host].other_unit == topo::none);
        const auto finding = only_finding(fabric);
        CHECK(finding.code == "hca.wrong_unit");
        CHECK(finding.ends.front() == fmt::format("{} mlx5_{}/1", fabric.hosts[host].name, rail));
    }
    SECTION("where both are, it is not") {
        const auto& there = fabric.units[other].leaves;
        move(fabric, host, rail, there[topo::at(rail)], 40);
        for (const int r : {0, 1})
            cut(fabric, 8 * other + 5, r);
        topo::derive(fabric);
        const auto& torn = fabric.hosts[host];
        CHECK(std::set{torn.unit, torn.other_unit} == std::set{1, 3});
        const auto wrong = found_of(fabric, "hca.wrong_unit");
        REQUIRE(wrong.size() == 1);
        CHECK(wrong[0].ends.size() == 4);
        CHECK(wrong[0].ends[0] == torn.name + " mlx5_0/1");
        CHECK(wrong[0].ends[2] == torn.name + " mlx5_1/1");
        CHECK_THAT(wrong[0].evidence, Catch::Contains("cables cannot tell in which of the two it is"));
        CHECK_THAT(wrong[0].fix, Catch::Contains("let a plan"));
    }
}

// Each host has at most one fault, so that nobody is torn between units; a rail's right leaf keeps more hosts
// than any wrong one.
TEST_CASE("units, leaves and pods are what was built, in spite of a fault of each host", "[majority]") {
    for (unsigned seed = 0; seed < 300; ++seed) {
        std::mt19937 random(seed);
        const auto upto = [&](std::size_t n) { return random() % n; };
        const auto pods = 1 + upto(3), units = 1 + upto(3), hosts = 3 + upto(4);
        const auto sound = made(fmt::format("pods={} units={} hosts={} rails=8", pods, units, hosts));
        auto fabric = sound;
        std::map<std::pair<int, int>, std::size_t> right;          // unit, rail
        std::map<std::pair<int, int>, std::map<int, int>> strayed; // to which leaves
        std::string planted;
        std::map<int, int> next_port;
        for (std::size_t h = 0; h < sound.hosts.size(); ++h) {
            const int unit = sound.hosts[h].unit, rail = static_cast<int>(upto(8));
            auto [kept, fresh] = right.try_emplace({unit, rail}, hosts);
            const auto& away = sound.units[upto(sound.units.size())];
            const int leaf = away.leaves[topo::at(rail)];
            const bool same = &away == &sound.units[topo::at(unit)];
            const auto most = static_cast<std::size_t>(strayed[{unit, rail}][leaf]) + 1;
            if (upto(3) != 0 || kept->second <= most + 1) continue;
            --kept->second;
            if (same) {
                cut(fabric, h, rail);
            } else {
                ++strayed[{unit, rail}][leaf];
                move(fabric, h, rail, leaf, 40 + next_port[leaf]++);
            }
            planted += fmt::format("{} rail {} {}\n", sound.hosts[h].name, rail, same ? "cut" : "moved");
        }
        topo::derive(fabric);
        INFO("seed " << seed << ", " << pods << " pods, " << units << " units, " << hosts << " hosts\n"
                     << planted);
        REQUIRE(shape(fabric) == shape(sound));
    }
}
