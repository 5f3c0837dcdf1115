// Faults of switches and of the cables between them.
#include "topo/export/export.hpp"
#include "topo/meeting.hpp"
#include "topo/names.hpp"
#include "unit/topo/fabrics.hpp"

#include <fmt/format.h>

#include <set>

namespace {

int find_switch(const topo::Fabric& fabric, std::string_view name) {
    for (std::size_t s = 0; s < fabric.switches.size(); ++s)
        if (fabric.switches[s].name == name) return static_cast<int>(s);
    FAIL("no " << name);
    return topo::none;
}

bool on(const topo::Link& link, int s) {
    return link.a.switch_ == s || link.b.switch_ == s;
}

// Cables between two switches, in the order of ports.
std::vector<topo::Link*> between(topo::Fabric& fabric, std::string_view a, std::string_view b) {
    const int one = find_switch(fabric, a), other = find_switch(fabric, b);
    std::vector<topo::Link*> found;
    for (auto& link : fabric.links)
        if (on(link, one) && on(link, other)) found.push_back(&link);
    return found;
}

topo::End& end_at(topo::Link& link, int s) {
    return link.a.switch_ == s ? link.a : link.b;
}

void add_cable(topo::Fabric& fabric, std::string_view a, std::uint8_t a_port, std::string_view b,
               std::uint8_t b_port) {
    topo::Link link = fabric.links.back();
    link.a = {topo::none, topo::none, find_switch(fabric, a), a_port};
    link.b = {topo::none, topo::none, find_switch(fabric, b), b_port};
    fabric.links.push_back(link);
    topo::derive(fabric);
}

// Pods whose spines are joined to those of the same number in other pods, without cores: Dragonfly+.
topo::Fabric spines_joined(const std::string& spec) {
    auto fabric = made(spec);
    std::erase_if(fabric.links, [&](const topo::Link& link) {
        const auto core = [&](const topo::End& end) {
            return end.switch_ != topo::none &&
                   fabric.switches[static_cast<std::size_t>(end.switch_)].tier == 2;
        };
        return core(link.a) || core(link.b);
    });
    const auto pods = fabric.pods.size();
    for (std::size_t a = 0; a < pods; ++a)
        for (std::size_t b = a + 1; b < pods; ++b)
            add_cable(fabric, fmt::format("spine-pod{}-1", a + 1), static_cast<std::uint8_t>(100 + b),
                      fmt::format("spine-pod{}-1", b + 1), static_cast<std::uint8_t>(100 + a));
    return fabric;
}

} // namespace

TEST_CASE("ports tell which of several cables to a spine is the crossed one", "[uplinks]") {
    auto fabric = made("units=4 hosts=8 rails=4 spines=2"); // four cables from a leaf to each spine
    const auto a = between(fabric, "leaf-su1-r1", "spine-pod1-1"),
               b = between(fabric, "leaf-su2-r2", "spine-pod1-2");
    REQUIRE(a.size() == 4);
    const int s1 = find_switch(fabric, "spine-pod1-1"), s2 = find_switch(fabric, "spine-pod1-2");
    std::swap(end_at(*a[2], s1), end_at(*b[1], s2));
    const int su1 = find_switch(fabric, "leaf-su1-r1"), su2 = find_switch(fabric, "leaf-su2-r2");
    const auto one = fmt::format("leaf-su1-r1/{}", end_at(*a[2], su1).port);
    const auto other = fmt::format("leaf-su2-r2/{}", end_at(*b[1], su2).port);
    topo::derive(fabric);
    const auto finding = only_finding(fabric);
    CHECK(finding.code == "uplink.crossed");
    CHECK(finding.ends[0] == one);
    CHECK(finding.ends[2] == other);
}

// Two of eight were taken for leaves of another kind, and the sound end of the crossed pair alone was named.
TEST_CASE("two leaves that lack the same uplink are no kind of their own", "[uplinks]") {
    auto fabric = made("units=4 hosts=8 rails=2 spines=2"); // four cables from a leaf to each spine
    const int s1 = find_switch(fabric, "spine-pod1-1"), s2 = find_switch(fabric, "spine-pod1-2");
    auto* const moved = between(fabric, "leaf-su1-r0", "spine-pod1-1")[1];
    auto *const one = between(fabric, "leaf-su2-r0", "spine-pod1-1")[2], *const other =
                                                                             between(fabric, "leaf-su3-r1",
                                                                                     "spine-pod1-2")[2];
    std::set<std::string> wrong, named;
    for (const auto& [link, leaf] :
         {std::pair(moved, "leaf-su1-r0"), std::pair(one, "leaf-su2-r0"), std::pair(other, "leaf-su3-r1")})
        wrong.insert(fmt::format("{}/{}", leaf, end_at(*link, find_switch(fabric, leaf)).port));
    end_at(*moved, s1) = {topo::none, topo::none, s2, 60};
    std::swap(end_at(*one, s1), end_at(*other, s2));
    topo::derive(fabric);
    CHECK(codes(fabric) == std::vector<std::string>{"uplink.crossed", "uplink.wrong_spine"});
    for (const auto& finding : topo::check(fabric))
        for (const auto& end : finding.ends)
            if (end.starts_with("leaf")) named.insert(end);
    CHECK(named == wrong);
}

// The leaf had no cable more to any spine, as it lacked one to that spine, too.
TEST_CASE("a crossed uplink of a leaf that lacks another to the same spine", "[uplinks]") {
    auto fabric = made("units=4 hosts=8 rails=4 spines=2");
    const int s1 = find_switch(fabric, "spine-pod1-1"), s2 = find_switch(fabric, "spine-pod1-2");
    const int leaf = find_switch(fabric, "leaf-su1-r1"), other = find_switch(fabric, "leaf-su2-r2");
    auto* const a = between(fabric, "leaf-su1-r1", "spine-pod1-1")[2];
    auto* const b = between(fabric, "leaf-su2-r2", "spine-pod1-2")[1];
    const auto* const gone = between(fabric, "leaf-su1-r1", "spine-pod1-2")[0];
    std::swap(end_at(*a, s1), end_at(*b, s2));
    const std::set ends{fmt::format("leaf-su1-r1/{}", end_at(*a, leaf).port),
                        fmt::format("leaf-su2-r2/{}", end_at(*b, other).port)};
    fabric.links.erase(fabric.links.begin() + (gone - fabric.links.data()));
    topo::derive(fabric);
    CHECK(codes(fabric) == std::vector<std::string>{"uplink.crossed", "uplink.missing"});
    for (const auto& finding : topo::check(fabric))
        if (finding.code == "uplink.crossed") CHECK(std::set{finding.ends[0], finding.ends[2]} == ends);
}

TEST_CASE("the port of a missing uplink is told", "[uplinks]") {
    auto fabric = made("units=4 hosts=8 rails=4 spines=2");
    const auto victim = between(fabric, "leaf-su3-r0", "spine-pod1-2")[1];
    const int leaf = find_switch(fabric, "leaf-su3-r0");
    const auto port = end_at(*victim, leaf).port;
    std::erase_if(fabric.links, [&](const topo::Link& link) { return &link == victim; });
    topo::derive(fabric);
    CHECK_THAT(only_finding(fabric).evidence,
               Catch::EndsWith(fmt::format("(by its siblings' order of ports leaf-su3-r0/{})", port)));
}

TEST_CASE("a spine that is not there", "[uplinks]") {
    const std::string name = GENERATE("spine-pod1-2", "spine-pod1-4");
    auto fabric = made("pods=3 units=4 hosts=8 rails=4 spines=4");
    const int gone = find_switch(fabric, name);
    std::erase_if(fabric.links, [&](const topo::Link& link) { return on(link, gone); });
    fabric.switches[static_cast<std::size_t>(gone)].name = "spare";
    topo::derive(fabric);
    const auto finding = only_fault(fabric);
    CHECK(finding.code == "switch.missing");
    CHECK(finding.ends.front() == name);
}

TEST_CASE("cables that the tree has no place for", "[uplinks]") {
    SECTION("from leaf to leaf") {
        auto fabric = made("units=2 hosts=8 rails=4");
        add_cable(fabric, "leaf-su1-r1", 60, "leaf-su2-r3", 61);
        CHECK(fabric.tiers == 2);
        const auto finding = only_finding(fabric);
        CHECK(finding.code == "link.sideways");
        CHECK(finding.ends == std::vector<std::string>{"leaf-su1-r1/60", "leaf-su2-r3/61"});
    }
    SECTION("from leaf to core, which stays a core") {
        auto fabric = made("pods=2 units=4 hosts=16 rails=4");
        add_cable(fabric, "leaf-su1-r1", 60, "core-1", 100);
        between(fabric, "leaf-su1-r1", "core-1")[0]->mbps /= 2; // nor is it called slow
        CHECK(fabric.tiers == 3);
        const auto finding = only_finding(fabric);
        CHECK(finding.code == "uplink.more");
        CHECK(finding.ends == std::vector<std::string>{"leaf-su1-r1/60", "core-1/100"});
    }
    SECTION("from spine to spine of a pod, where spines of pods are joined") {
        auto fabric = made("pods=4 units=4 hosts=16 rails=4 globals=1");
        add_cable(fabric, "spine-pod1-1", 100, "spine-pod1-2", 100);
        const auto finding = only_fault(fabric);
        CHECK(finding.code == "link.sideways");
        CHECK(finding.ends == std::vector<std::string>{"spine-pod1-1/100", "spine-pod1-2/100"});
    }
    SECTION("a loop") {
        auto fabric = made("units=2 hosts=8 rails=4");
        add_cable(fabric, "leaf-su1-r1", 60, "leaf-su1-r1", 61);
        CHECK(only_finding(fabric).code == "link.loop");
    }
    SECTION("between planes, from leaf to leaf and from leaf to spine") {
        auto fabric = made("units=2 hosts=8 rails=4 planes=2");
        add_cable(fabric, "leaf-su1-p1-r1", 60, "leaf-su2-p2-r1", 60);
        CHECK(only_finding(fabric).code == "link.between_networks");
        fabric = made("units=2 hosts=8 rails=4 planes=2");
        add_cable(fabric, "leaf-su1-p1-r1", 60, "spine-pod1-p2-1", 60);
        CHECK(only_finding(fabric).code == "uplink.more");
    }
}

TEST_CASE("a switch all of whose links are slow or narrow is one finding", "[links]") {
    auto fabric = made("units=4 hosts=16 rails=4");
    SECTION("a spine") {
        const int s = find_switch(fabric, "spine-pod1-2");
        for (auto& link : fabric.links)
            if (on(link, s)) link.mbps /= 2;
        const auto finding = only_fault(fabric);
        CHECK(finding.code == "switch.slow");
        CHECK(finding.ends == std::vector<std::string>{"spine-pod1-2"});
    }
    SECTION("a leaf") {
        const int s = find_switch(fabric, "leaf-su2-r3");
        for (auto& link : fabric.links)
            if (on(link, s)) {
                link.mbps /= 2;
                link.width = 2;
            }
        CHECK(only_fault(fabric).code == "switch.narrow");
    }
}

TEST_CASE("half of a unit with two rails swapped is one finding", "[cabling]") {
    auto fabric = made("units=2 hosts=8 rails=4");
    const std::size_t wrong = GENERATE(3U, 4U);
    for (std::size_t h = 8 - wrong; h < 8; ++h) {
        std::vector<topo::Link*> cables;
        for (auto& link : fabric.links)
            if (link.a.host == static_cast<int>(h) && (link.a.hca == 1 || link.a.hca == 2))
                cables.push_back(&link);
        std::swap(cables[0]->b, cables[1]->b);
    }
    topo::derive(fabric);
    const auto finding = only_finding(fabric);
    CHECK(finding.code == "unit.cabling");
    const bool tie = finding.evidence.find("cannot tell which half is right") != std::string::npos;
    CHECK(tie == (wrong == 4));
}

TEST_CASE("spines that are joined to spines have one root and no findings", "[tiers]") {
    const auto fabric = spines_joined("pods=4 units=2 hosts=8 rails=2 spines=1");
    CHECK(fabric.tiers == 2);
    CHECK(fabric.pods.size() == 4);
    for (const auto& finding : topo::check(fabric))
        CHECK(finding.severity == topo::Severity::info);
    for (const auto format : {topo::Format::slurm_tree, topo::Format::lsf}) {
        const auto text = topo::export_fabric(fabric, format, {});
        REQUIRE(text);
        CHECK_THAT(text->text, Catch::Contains("fabric"));
    }
}

TEST_CASE("a Dragonfly+ is made by a word", "[tiers]") {
    auto fabric = made("pods=4 units=2 hosts=8 rails=2 spines=4 globals=2");
    CHECK(fabric.tiers == 2);
    CHECK(fabric.pods.size() == 4);
    CHECK(between(fabric, "spine-pod1-3", "spine-pod4-3").size() == 2);
    CHECK(codes(fabric).empty());
    const auto tree = topo::export_fabric(fabric, topo::Format::slurm_tree, {});
    REQUIRE(tree);
    CHECK_THAT(tree->text, Catch::Contains("fabric"));
    CHECK_FALSE(topo::synthesise(*topo::parse_synth("pods=2 globals=1 cores=2")));
    CHECK_FALSE(topo::synthesise(*topo::parse_synth("pods=1 globals=1")));
}

TEST_CASE("a link between pods that is gone is one finding with both ends", "[tiers]") {
    auto fabric = spines_joined("pods=4 units=2 hosts=8 rails=2 spines=4");
    for (const int spine : {2, 3, 4}) // as the first of each pod
        for (int a = 1; a <= 4; ++a)
            for (int b = a + 1; b <= 4; ++b)
                add_cable(fabric, fmt::format("spine-pod{}-{}", a, spine), static_cast<std::uint8_t>(100 + b),
                          fmt::format("spine-pod{}-{}", b, spine), static_cast<std::uint8_t>(100 + a));
    CHECK(codes(fabric).empty());
    const auto* gone = between(fabric, "spine-pod2-3", "spine-pod4-3").front();
    fabric.links.erase(fabric.links.begin() + (gone - fabric.links.data()));
    topo::derive(fabric);
    const auto finding = only_finding(fabric);
    CHECK(finding.code == "link.global");
    CHECK(finding.ends == std::vector<std::string>{"spine-pod2-3", "spine-pod4-3", "pod4"});
    CHECK(finding.evidence ==
          "spine-pod2-3 has 0 links to pod4 and spine-pod4-3 as many to pod2, where the other "
          "spines of pod2 have 1");
}

TEST_CASE("rails that never meet are told", "[whole]") {
    const auto finding = only_finding(made("units=2 hosts=4 rails=4 spines=8"));
    CHECK(finding.code == "rails.apart");
    CHECK(finding.severity == topo::Severity::info);
    CHECK(finding.ends == std::vector<std::string>{"rails 0, 2", "rails 1, 3"});
}

TEST_CASE("where rails meet is always told", "[whole]") {
    const auto told = [](const topo::Fabric& fabric) {
        return topo::rails_meeting_text(topo::rails_meeting(fabric));
    };
    CHECK(told(made("units=2 hosts=4 rails=8")) == "rails 0-7 meet at the spines");
    CHECK(told(made("pods=2 units=4 hosts=8 rails=2")) == "rails 0,1 meet at the spines");
    CHECK(told(made("units=2 hosts=4 rails=4 spines=8")) ==
          "rails 0,2 | 1,3 meet at the spines, those of different groups never");
    CHECK(told(made("units=2 hosts=4 rails=4 spines=16")) == "rails 0-3 never meet");
    CHECK(told(made("units=1 hosts=4 rails=4")) == "rails 0-3 never meet");
    CHECK(told(made("units=1 hosts=4 rails=4 leaves=1")) == "rails 0-3 meet at the leaves");
    CHECK(told(made("units=4 hosts=4 rails=4 leaves=2")) ==
          "rails 0,2 | 1,3 meet at the leaves, 0-3 at the spines");
    CHECK(told(made("units=2 hosts=4 rails=1")).empty());
    SECTION("spines of a rail each that a core joins, and that a single cable joins") {
        auto fabric = made("pods=2 units=2 hosts=4 rails=2 spines=8");
        CHECK(told(fabric) == "rails 0,1 meet in the core");
        std::erase_if(fabric.links, [&](const topo::Link& link) {
            const auto core = [&](const topo::End& end) {
                return end.switch_ != topo::none && fabric.switches[topo::at(end.switch_)].tier == 2;
            };
            return core(link.a) || core(link.b);
        });
        topo::derive(fabric);
        CHECK(told(fabric) == "rails 0,1 never meet");
        std::vector<int> spines;
        for (int s = 0; topo::at(s) < fabric.switches.size(); ++s)
            if (fabric.switches[topo::at(s)].tier == 1) spines.push_back(s);
        for (std::size_t s = 1; s < spines.size(); ++s) {
            const auto port = static_cast<std::uint8_t>(100 + s);
            fabric.links.push_back(fabric.links.back());
            fabric.links.back().a = {topo::none, topo::none, spines[s - 1], port};
            fabric.links.back().b = {topo::none, topo::none, spines[s], static_cast<std::uint8_t>(port + 64)};
        }
        topo::derive(fabric);
        CHECK(told(fabric) == "rails 0,1 meet only by a detour");
    }
}

// Every sound uplink of the leaf of storage was reported, or the uplinks that its siblings should have.
TEST_CASE("a cable between the compute and the storage network", "[uplinks]") {
    const auto [storage, compute] =
        GENERATE(std::pair("storage-leaf-1", "leaf-su1-r2"), std::pair("storage-leaf-1", "spine-pod1-1"),
                 std::pair("storage-spine", "leaf-su1-r2"), std::pair("storage-spine", "spine-pod1-1"));
    auto fabric = made("units=4 hosts=16 rails=8 storage=1"); // two leaves of storage
    add_cable(fabric, storage, 100, compute, 100);
    const auto finding = only_finding(fabric);
    CHECK(finding.code == "link.between_networks");
    CHECK(std::set(finding.ends.begin(), finding.ends.end()) ==
          std::set{fmt::format("{}/100", storage), fmt::format("{}/100", compute)});
}

// Of a core, of few spines, and of a leaf of storage that has no spine: not found, or with the uplinks that
// the spine of storage should have, or the leaf's speed.
TEST_CASE("a cable between the networks, whatever is at its ends", "[uplinks]") {
    const auto [spec, storage, compute] = GENERATE(
        std::tuple("pods=2 units=4 hosts=16 rails=4 storage=1", "storage-leaf-3", "core-1"),
        std::tuple("pods=2 units=4 hosts=16 rails=4 storage=1", "storage-spine", "core-1"),
        std::tuple("pods=2 units=4 hosts=16 rails=4 storage=1", "storage-spine", "leaf-su1-r0"),
        std::tuple("units=4 hosts=16 rails=2 storage=1", "storage-spine", "spine-pod1-1"),
        std::tuple("pods=4 units=4 hosts=16 rails=4 globals=1 storage=1", "storage-spine", "spine-pod1-1"),
        std::tuple("units=2 hosts=16 rails=4 storage=1", "storage-leaf-1", "leaf-su1-r0"),
        std::tuple("units=2 hosts=16 rails=4 storage=1", "storage-leaf-1", "spine-pod1-1"));
    auto fabric = made(spec);
    add_cable(fabric, storage, 100, compute, 120);
    for (auto* link : between(fabric, storage, compute))
        link->mbps /= 2;
    const auto finding = only_fault(fabric);
    CHECK(finding.code == "link.between_networks");
    CHECK(std::set(finding.ends.begin(), finding.ends.end()) ==
          std::set{fmt::format("{}/100", storage), fmt::format("{}/120", compute)});
}

// Each of its switches was reported: all others of their tier are faster.
TEST_CASE("a storage network may be slower than the compute network", "[links]") {
    auto fabric = made("units=8 hosts=16 rails=8 storage=1");
    std::set<int> storage;
    for (const char* name : {"storage-leaf-1", "storage-leaf-2", "storage-leaf-3", "storage-spine"})
        storage.insert(find_switch(fabric, name));
    for (auto& link : fabric.links)
        if (storage.contains(link.a.switch_) || storage.contains(link.b.switch_)) link.mbps = 200000;
    CHECK(codes(fabric).empty());
    for (auto& link : fabric.links)
        if (on(link, find_switch(fabric, "storage-leaf-2"))) link.mbps = 100000;
    CHECK(only_fault(fabric).ends == std::vector<std::string>{"storage-leaf-2"});
}

// The spines below it have no uplink left, so that no port and no number between their uplinks tells.
TEST_CASE("a core that is not there and was all that its spines led to", "[uplinks]") {
    auto fabric = made("pods=2 units=4 hosts=16 rails=4");
    const int gone = find_switch(fabric, "core-2");
    std::erase_if(fabric.links, [&](const topo::Link& link) { return on(link, gone); });
    fabric.switches[static_cast<std::size_t>(gone)].name = "spare";
    topo::derive(fabric);
    const auto finding = only_finding(fabric);
    CHECK(finding.code == "switch.missing");
    CHECK(finding.ends.front() == "core-2");
    CHECK_THAT(finding.evidence,
               Catch::Contains("spine-pod1-2, spine-pod2-2") || Catch::Contains("spine-pod1-2,spine-pod2-2"));
}
