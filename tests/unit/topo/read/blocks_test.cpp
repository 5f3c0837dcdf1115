#include "topo/read/blocks.hpp"

#include "topo/read/source.hpp"
#include "topo/synth/synth.hpp"

#include <catch2/catch.hpp>

namespace {

using Sentences = std::vector<std::string>;

topo::Fabric two_units() {
    const auto spec = topo::parse_synth("units=2 hosts=4 rails=2");
    REQUIRE(spec);
    auto made = topo::synthesise(*spec);
    REQUIRE(made);
    return *std::move(made);
}

Sentences take(topo::Fabric& fabric, std::string_view text) {
    const auto blocks = topo::read_blocks(text, "t");
    if (!blocks) FAIL(blocks.error().text);
    return topo::name_domains(fabric, *blocks);
}

Sentences domains(const topo::Fabric& fabric) {
    Sentences names;
    for (const auto& host : fabric.hosts)
        names.push_back(host.domain);
    return names;
}

} // namespace

TEST_CASE("blocks are domains of a fabric that has units; names are compared without a network's domain") {
    auto made = two_units();
    made.hosts[7].domain = "typed";
    CHECK(take(made, "BlockName=b1 Nodes=n[001-002]\nBlockName=b2 Nodes=n003.example.org,n004\n"
                     "BlockName=b3 Nodes=n[005-007]\nBlockSizes=2\n") ==
          Sentences{"in no block, and left as before: n008"});
    CHECK(domains(made) == Sentences{"b1", "b1", "b2", "b2", "b3", "b3", "b3", "typed"});
    CHECK(made.domains.size() == 4);
    CHECK(made.units.size() == 2);
}

TEST_CASE("blocks that no NVLink can join, and hosts that are in several, are told") {
    auto made = two_units();
    CHECK(take(made, "BlockName=b1 Nodes=n[001-005]\nBlockName=b2 Nodes=n[005-009]\n") ==
          Sentences{"in several blocks, of which the first is taken: n005",
                    "in a block, but not in the fabric: n009",
                    "a domain lies in several units, such as b1 in su1, su2: hosts that share NVLink "
                    "switches are in one; railtopo check names them"});
}

TEST_CASE("of several topologies the one with blocks that is the default is read") {
    const auto yaml = [](std::string_view is_default) {
        return "- topology: t\n  cluster_default: true\n  tree:\n    switches:\n    - switch: s\n      "
               "nodes: n[001-008]\n"
               "- topology: one\n  block:\n    block_sizes: [4]\n    blocks:\n    - block: b1\n      nodes: "
               "n[001-004]\n"
               "- topology: two\n  cluster_default: " +
               std::string(is_default) +
               "\n  block:\n    block_sizes: [2]\n    blocks:\n    - block: c1\n      nodes: n[001-002]\n";
    };
    auto made = two_units();
    CHECK(take(made, yaml("false")) ==
          Sentences{"t: topology one is read, not t, two", "in no block, and left as before: n[005-008]"});
    CHECK(made.hosts[0].domain == "b1");
    CHECK(take(made, yaml("true")).front() == "t: topology two is read, not t, one");
    CHECK(made.hosts[0].domain == "c1");
    const auto none =
        topo::read_blocks("- topology: t\n  tree:\n    switches:\n    - switch: s\n      nodes: n1\n", "t");
    REQUIRE_FALSE(none);
    CHECK(none.error().text == "t:1: no topology of it has blocks");
}
