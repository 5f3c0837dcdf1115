// Switches and units that are not seen at all: what is left of a fabric agrees with itself, and names, free
// ports and other parts tell.
#include "unit/topo/fabrics.hpp"

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
