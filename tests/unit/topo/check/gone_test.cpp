// Switches and units that are not seen at all: what is left of a fabric agrees with itself, and names, free
// ports and other parts tell.
#include "unit/topo/fabrics.hpp"

#include <set>

namespace {

bool names(const topo::Finding& finding, std::string_view end) {
    return std::find(finding.ends.begin(), finding.ends.end(), end) != finding.ends.end();
}

} // namespace

// It was not named, or named as one that another plane lacks, or not found: its siblings of other names have
// its number, and others of its own name those beside it.
TEST_CASE("the name of a spine or core that is not there", "[gone]") {
    const auto [spec, name] =
        GENERATE(std::pair("pods=2 units=4 hosts=16 rails=4 planes=2", "core-p2-8"),
                 std::pair("pods=2 units=4 hosts=16 rails=4 planes=2", "core-p1-1"),
                 std::pair("pods=2 units=4 hosts=16 rails=4 planes=2 cores=4", "core-p2-4"),
                 std::pair("pods=2 units=2 hosts=8 rails=4 planes=2 cores=1", "core-p1-1"),
                 std::pair("pods=2 units=2 hosts=8 rails=4 planes=2 cores=1", "core-p2-1"),
                 std::pair("pods=2 units=4 hosts=8 rails=8 spines=64", "spine-pod1-33"),
                 std::pair("pods=2 units=4 hosts=8 rails=8 spines=64", "spine-pod2-64"),
                 std::pair("pods=3 units=4 hosts=16 rails=4 spines=16 oversub=2", "spine-pod2-16"));
    auto fabric = made(spec);
    remove_switch(fabric, name);
    const auto finding = only_fault(fabric);
    CHECK(finding.code == "switch.missing");
    CHECK(finding.ends.front() == name);
}

// A unit of two rails that lacks one was taken for one of another make, and of HCAs with two ports nothing
// was compared.
TEST_CASE("a leaf that is not there is named", "[gone]") {
    const auto [spec, name] =
        GENERATE(std::pair("units=4 hosts=16 rails=4", "leaf-su2-r1"),
                 std::pair("units=4 hosts=16 rails=4", "leaf-su4-r3"),
                 std::pair("pods=2 units=4 hosts=16 rails=2", "leaf-su3-r1"),
                 std::pair("pods=2 units=4 hosts=16 rails=2", "leaf-su3-r0"),
                 std::pair("units=4 hosts=16 rails=4 planes=2", "leaf-su1-p2-r1"),
                 std::pair("units=4 hosts=16 rails=4 planes=2", "leaf-su2-p1-r3"),
                 std::pair("units=8 hosts=16 rails=2 ports=2 leaves=1", "leaf-su3-p2-0"));
    auto fabric = made(spec);
    remove_switch(fabric, name);
    const auto finding = only_fault(fabric);
    CHECK(finding.code == "unit.rails");
    CHECK(names(finding, name));
}

// Each was named as the other, where the number of the unit is the last one.
TEST_CASE("leaves of two units that are not there have their own names", "[gone]") {
    auto fabric = made("units=5 hosts=8 rails=4");
    for (auto& one : fabric.switches) // leaf-su1-r2 is leaf-r2-su1
        if (one.name.starts_with("leaf-"))
            one.name = "leaf-" + one.name.substr(9) + '-' + one.name.substr(5, 3);
    topo::derive(fabric);
    remove_switch(fabric, "leaf-r2-su1");
    remove_switch(fabric, "leaf-r3-su4");
    std::vector<std::string> ends;
    for (const auto& finding : topo::check(fabric))
        if (finding.code == "unit.rails") ends.insert(ends.end(), finding.ends.begin(), finding.ends.end());
    CHECK(ends == std::vector<std::string>{"su1", "leaf-r2-su1", "su4", "leaf-r3-su4"});
}

// Half of its rails were taken for how the unit is made.
TEST_CASE("two of four leaves that are not there are named", "[gone]") {
    auto fabric = made("units=4 hosts=8 rails=4");
    remove_switch(fabric, "leaf-su2-r1");
    remove_switch(fabric, "leaf-su2-r2");
    const auto finding = only_fault(fabric);
    CHECK(finding.code == "unit.rails");
    CHECK(finding.ends == std::vector<std::string>{"su2", "leaf-su2-r1", "leaf-su2-r2"});
}

// The one cable that was left of the rail made its wrong leaf the rail's.
TEST_CASE("a leaf that is not there beside two exchanged cables", "[gone]") {
    auto fabric = made("units=4 hosts=8 rails=4");
    topo::Link* one = nullptr;
    for (auto& link : fabric.links) {
        if (link.a.host != 10 || (link.a.hca != 1 && link.a.hca != 2)) continue;
        if (one == nullptr)
            one = &link;
        else
            std::swap(one->b, link.b);
    }
    remove_switch(fabric, "leaf-su2-r1");
    const auto findings = topo::check(fabric);
    CHECK(std::any_of(findings.begin(), findings.end(), [](const topo::Finding& f) {
        return f.code == "unit.rails" && names(f, "leaf-su2-r1");
    }));
    for (const auto& finding : findings)
        CHECK(finding.code != "leaf.rails");
}

TEST_CASE("units with half the rails were built so", "[gone]") {
    const auto fabric = made("pods=2 units=4 hosts=16 rails=2 halved=1");
    for (const auto& finding : topo::check(fabric))
        CHECK(finding.severity == topo::Severity::info);
}

// More than a quarter of the hosts lacked their storage HCAs, which was taken for how they are made.
TEST_CASE("a leaf of storage that is not there", "[gone]") {
    auto fabric = made("units=4 hosts=16 rails=4 storage=2"); // three leaves of storage
    remove_switch(fabric, "storage-leaf-2");
    const auto finding = only_fault(fabric);
    CHECK(finding.code == "host.storage");
    CHECK(finding.ends == std::vector<std::string>{"n[025-048]", "storage-leaf-2"});
}

// Each unit that is left has as many hosts as the others.
TEST_CASE("a unit that is not there is one finding with its hosts and leaves", "[gone]") {
    const auto rails = GENERATE(1, 4);
    auto fabric = made("units=6 hosts=8 spines=4 rails=" + std::to_string(rails));
    for (int h = 25; h <= 32; ++h)
        remove_host(fabric, "n0" + std::to_string(h));
    for (int r = 0; r < rails; ++r)
        remove_switch(fabric, "leaf-su4-r" + std::to_string(r));
    const auto finding = only_fault(fabric);
    CHECK(finding.code == "host.missing");
    CHECK(finding.ends.front() == "n[025-032]");
    CHECK(finding.ends.size() == 1 + static_cast<std::size_t>(rails));
    CHECK(finding.ends.back() == "leaf-su4-r" + std::to_string(rails - 1));
}

namespace {

// All hosts of a unit that has as many, and its leaves if they are gone, too.
void remove_unit(topo::Fabric& fabric, int unit, int hosts, bool leaves) {
    for (int h = (unit - 1) * hosts + 1; h <= unit * hosts; ++h)
        remove_host(fabric, (h < 10 ? "n00" : "n0") + std::to_string(h));
    const auto stem = "leaf-su" + std::to_string(unit) + '-';
    for (auto s = fabric.switches.size(); s-- > 0 && leaves;)
        if (fabric.switches[s].name.starts_with(stem)) remove_switch(fabric, fabric.switches[s].name);
}

} // namespace

// Only information told that leaves have no host.
TEST_CASE("a unit all of whose hosts are off is one finding", "[gone]") {
    const int unit = GENERATE(1, 3);
    auto fabric = made("units=6 hosts=8 spines=4 rails=4");
    remove_unit(fabric, unit, 8, false);
    const auto finding = only_fault(fabric);
    CHECK(finding.code == "host.missing");
    CHECK(finding.ends.front() == (unit == 1 ? "n[001-008]" : "n[017-024]"));
    CHECK_THAT(finding.evidence, Catch::Contains("-r[0-3] have no host: a whole unit"));
    CHECK(finding.fix == "look whether its hosts are powered");
}

// Of two units the numbers left out two names.
TEST_CASE("several units that are not there are one finding", "[gone]") {
    auto fabric = made("pods=3 units=2 hosts=8 rails=4");
    remove_unit(fabric, 3, 8, true);
    remove_unit(fabric, 4, 8, true);
    auto findings = topo::check(fabric);
    std::erase_if(findings, [](const topo::Finding& f) { return f.code != "host.missing"; });
    REQUIRE(findings.size() == 1);
    CHECK(findings.front().ends.front() == "n[017-032]");
    CHECK_THAT(
        findings.front().evidence,
        Catch::EndsWith("nor leaf-su3-r[0-3],leaf-su4-r[0-3]: 2 whole units, by the numbers of the others"));
}

TEST_CASE("a first unit that is not there is found by its free ports on the spines", "[gone]") {
    const std::string spec =
        GENERATE("units=6 hosts=8 spines=4 rails=4", "units=5 hosts=8 rails=4 planes=2",
                 "pods=2 units=4 hosts=8 rails=2", "units=5 hosts=8 rails=2 ports=2 leaves=1");
    auto fabric = made(spec);
    remove_unit(fabric, 1, 8, true);
    const auto finding = only_fault(fabric);
    CHECK(std::set<std::string>(finding.ends.begin(), finding.ends.end()).size() == finding.ends.size());
    CHECK(finding.code == "host.missing");
    CHECK(finding.ends.front() == "n[001-008]");
    CHECK_THAT(finding.evidence, Catch::EndsWith("and their ports on the spines are free"));
}

// Nothing tells that it should be there but a plan.
TEST_CASE("a fabric may begin and end with any unit", "[gone]") {
    auto fabric = made("units=6 hosts=8 spines=4 rails=4");
    SECTION("cabled from the first port of the spines") {
        remove_unit(fabric, 1, 8, true);
        for (auto& link : fabric.links)
            for (auto* end : {&link.a, &link.b})
                if (end->switch_ != topo::none &&
                    fabric.switches[static_cast<std::size_t>(end->switch_)].tier == 1)
                    end->port = static_cast<std::uint8_t>(end->port - 8);
        topo::derive(fabric);
    }
    SECTION("without the last unit") {
        remove_unit(fabric, 6, 8, true);
    }
    CHECK(codes(fabric).empty());
}
