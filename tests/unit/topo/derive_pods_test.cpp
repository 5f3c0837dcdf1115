// Pods where leaves are cabled to each other instead of to spines.
#include "topo/export/export.hpp"
#include "topo/names.hpp"
#include "unit/topo/fabrics.hpp"

#include <fmt/format.h>

namespace {

std::vector<topo::Finding> found_of(const topo::Fabric& fabric, std::string_view code) {
    auto findings = topo::check(fabric);
    std::erase_if(findings, [&](const topo::Finding& finding) { return finding.code != code; });
    return findings;
}

// Hosts of one HCA each on leaves, and cables between these: "0-1" of so many.
topo::Fabric joined_leaves(const std::vector<std::pair<int, int>>& pairs, int leaves, int hosts) {
    topo::Fabric fabric;
    std::vector<int> next(static_cast<std::size_t>(leaves), 1);
    for (int s = 0; s < leaves; ++s) {
        auto& one = fabric.switches.emplace_back();
        one.guid = 100 + static_cast<topo::Guid>(s);
        one.name = "leaf" + std::to_string(s);
        one.ports = 40;
    }
    const auto end_of = [&](int s) {
        return topo::End{topo::none, topo::none, s, static_cast<std::uint8_t>(next[topo::at(s)]++)};
    };
    for (int h = 0; h < leaves * hosts; ++h) {
        auto& host = fabric.hosts.emplace_back();
        host.name = fmt::format("n{:03}", h + 1);
        auto& hca = host.hcas.emplace_back();
        hca.guid = 1000 + static_cast<topo::Guid>(h);
        hca.device = "mlx5_0";
        hca.rail = 0;
        hca.ports.emplace_back();
        fabric.links.push_back(
            {{h, 0, topo::none, 1}, end_of(h / hosts), 4, 200000, topo::LinkState::active});
    }
    for (const auto& [a, b] : pairs)
        for (int i = 0; i < 4; ++i) {
            const auto one = end_of(a), other = end_of(b);
            fabric.links.push_back({one, other, 4, 200000, topo::LinkState::active});
        }
    topo::derive(fabric);
    return fabric;
}

} // namespace

TEST_CASE("leaves that are cabled to each other are one pod, and told", "[pods]") {
    const auto tree = [](const topo::Fabric& fabric) {
        return topo::export_fabric(fabric, topo::Format::slurm_tree, {})->text;
    };
    const auto pair = joined_leaves({{0, 1}}, 2, 8), ring = joined_leaves({{0, 1}, {1, 2}, {2, 0}}, 3, 8),
               star = joined_leaves({{0, 2}, {1, 2}, {3, 2}}, 4, 8);
    for (const auto* fabric : {&pair, &ring, &star}) {
        CHECK(fabric->tiers == 1);
        CHECK(fabric->units.size() == fabric->switches.size());
        CHECK(fabric->pods.size() == 1);
        const auto finding = only_finding(*fabric);
        CHECK(finding.code == "leaf.joined");
        CHECK(finding.severity == topo::Severity::info);
    }
    CHECK_THAT(tree(pair), Catch::Contains("SwitchName=pod1 Switches=leaf[0-1]\n"));
    CHECK_THAT(tree(ring), Catch::EndsWith("SwitchName=pod1 Switches=leaf[0-2]\n"));
    CHECK(only_finding(ring).evidence == "leaf[0-2] are cabled to each other, by 12 cables");
    CHECK(only_finding(star).evidence ==
          "leaf[0-3] are cabled to each other, by 12 cables, all on leaf2, a spine that carries hosts");
}

TEST_CASE("eight servers on a spine are of its pod", "[pods]") {
    auto fabric = made("units=4 hosts=8 rails=1 spines=2");
    const auto spine = std::find_if(fabric.switches.begin(), fabric.switches.end(),
                                    [](const auto& s) { return s.name == "spine-pod1-1"; });
    std::uint8_t port = 40;
    for (auto& link : fabric.links) // and the leaf that they were on has none
        if (link.a.host != topo::none && link.a.host < 8)
            link.b = {topo::none, topo::none, static_cast<int>(spine - fabric.switches.begin()), port++};
    topo::derive(fabric);
    CHECK(fabric.units.size() == 4);
    CHECK(fabric.pods.size() == 1);
    const auto told = found_of(fabric, "leaf.joined");
    REQUIRE(told.size() == 1);
    CHECK_THAT(told[0].evidence, Catch::EndsWith("all on spine-pod1-1, a spine that carries hosts"));
}

TEST_CASE("leaves that nothing joins stay pods, and one cable beside spines is still a stray", "[pods]") {
    CHECK(joined_leaves({}, 2, 8).pods.size() == 2);
    auto fabric = made("pods=2 units=1 hosts=8 rails=1 spines=2"); // all leaves of it
    REQUIRE(fabric.pods.size() == 2);
    topo::Link link = fabric.links.back();
    link.a = {topo::none, topo::none, fabric.units[0].leaves[0], 60};
    link.b = {topo::none, topo::none, fabric.units[1].leaves[0], 60};
    fabric.links.push_back(link);
    topo::derive(fabric);
    CHECK(fabric.pods.size() == 2);
    CHECK(found_of(fabric, "link.sideways").size() == 1);
    CHECK(found_of(fabric, "leaf.joined").empty());
}

// The unit with the stray cable came first, and was taken for the pod of all that lead to that spine.
TEST_CASE("a stray cable to a spine of another pod makes them no pod", "[pods]") {
    const auto* spec = GENERATE("pods=4 units=2 hosts=8 rails=2 spines=4 globals=1",
                                "pods=4 units=2 hosts=4 rails=1 spines=4 globals=1");
    auto fabric = made(spec);
    const auto find = [&](std::string_view name) {
        const auto found = std::find_if(fabric.switches.begin(), fabric.switches.end(),
                                        [&](const topo::Switch& s) { return s.name == name; });
        return static_cast<int>(found - fabric.switches.begin());
    };
    topo::Link link = fabric.links.back();
    link.a = {topo::none, topo::none, find("leaf-su1-r0"), 60};
    link.b = {topo::none, topo::none, find("spine-pod3-1"), 100};
    fabric.links.push_back(link);
    topo::derive(fabric);
    CHECK(fabric.pods.size() == 4);
    CHECK(found_of(fabric, "uplink.more").size() == 1);
}
