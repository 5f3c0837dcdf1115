#include "topo/fabric_json.hpp"

#include "topo/synth/synth.hpp"
#include "unit/topo/shuffle.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace {

topo::Fabric small() {
    auto fabric = *topo::synthesise(*topo::parse_synth("units=2 hosts=2 rails=2 rate=4xHDR"));
    fabric.source = "a \"test\"";
    fabric.hosts[0].hcas[1].pci = "0000:18:00.0";
    fabric.hosts[0].hcas[1].numa = 1;
    fabric.hosts[0].hcas[1].gpu = 3;
    fabric.hosts[0].hcas[1].ports[0].lid = 65535;
    fabric.hosts[0].gpus = {{"0000:19:00.0", 0}, {"0000:3b:00.0", topo::none}};
    return fabric;
}

// The error for the small fabric's text with one piece replaced.
std::string with_piece(std::string_view piece, std::string_view other) {
    auto text = topo::print_fabric(small());
    const auto found = text.find(piece);
    REQUIRE(found != std::string::npos);
    text.replace(found, piece.size(), other);
    const auto fabric = topo::parse_fabric(text, "f.json");
    return fabric ? "accepted" : fabric.error().text;
}

} // namespace

TEST_CASE("a fabric file reads back to the same bytes") {
    const auto text = topo::print_fabric(small());
    const auto fabric = topo::parse_fabric(text, "f.json");
    REQUIRE(fabric);
    CHECK(topo::print_fabric(*fabric) == text);
    CHECK(fabric->source == "a \"test\"");
    CHECK(fabric->hosts[0].hcas[1].pci == "0000:18:00.0");
    CHECK(fabric->hosts[0].hcas[1].gpu == 3);
    REQUIRE(fabric->hosts[0].gpus.size() == 2);
    CHECK(fabric->hosts[0].gpus[0].numa == 0);
    CHECK(fabric->hosts[0].gpus[1].pci == "0000:3b:00.0");
    CHECK(fabric->hosts[0].gpus[1].numa == topo::none);
    CHECK(fabric->hosts[1].gpus.empty());
    CHECK(fabric->units.size() == 2);
    CHECK(fabric->find_host("n003") == 2U);
    CHECK_FALSE(fabric->find_host("n005"));
    CHECK(fabric->links[0].mbps == 200000);
}

TEST_CASE("fields of a newer writer are kept at every level") {
    auto text = topo::print_fabric(small());
    const auto put = [&](std::string_view behind, std::string_view members) {
        const auto found = text.find(behind);
        REQUIRE(found != std::string::npos);
        text.insert(found + behind.size(), members);
    };
    put("\"source\":\"a \\\"test\\\"\",", "\"site\":\"bl\u00e4\\u0001\",");
    put("\"name\":\"leaf-su1-r0\",", "\"slot\":[1,{\"u\":null}],");
    put("\"name\":\"n001\",", "\"rack\":{\"row\":[1,2]},\"bmc\":\"10.0.0.1\",");
    put("\"device\":\"mlx5_0\",", "\"firmware\":\"28.39\",");
    put("{\"port\":1,", "\"cable\":\"MT2310\",");
    put("{\"pci\":\"0000:19:00.0\",", "\"uuid\":\"GPU-1\",");
    put("\"width\":4,", "\"length_m\":2.5,\"optics\":true,");
    const auto fabric = topo::parse_fabric(text, "f.json");
    REQUIRE(fabric);
    CHECK(fabric->extra == "\"site\":\"bl\u00e4\\u0001\"");
    CHECK(fabric->switches[0].extra == "\"slot\":[1,{\"u\":null}]");
    CHECK(fabric->hosts[0].extra == "\"rack\":{\"row\":[1,2]},\"bmc\":\"10.0.0.1\"");
    CHECK(fabric->hosts[0].hcas[0].extra == "\"firmware\":\"28.39\"");
    CHECK(fabric->hosts[0].hcas[0].ports[0].extra == "\"cable\":\"MT2310\"");
    CHECK(fabric->hosts[0].gpus[0].extra == "\"uuid\":\"GPU-1\"");
    CHECK(fabric->links[0].extra == "\"length_m\":2.5E0,\"optics\":true");
    const auto again = topo::print_fabric(*fabric);
    CHECK(topo::print_fabric(*topo::parse_fabric(again, "f.json")) == again);
    for (unsigned seed = 0; seed < 5; ++seed) // order moves no field to another object
        CHECK(topo::print_fabric(shuffled(*fabric, seed)) == again);
}

TEST_CASE("the NVLink domain of a host is kept, and hosts of one name are one domain") {
    const auto text = [](std::string_view domain) {
        return fmt::format("{{\"railyard_fabric\":1,\n\"source\":\"\",\n\"switches\":[],\n\"hosts\":[\n"
                           "  {{\"name\":\"a\",\"domain\":\"rack 7\",\"hcas\":[]}},\n"
                           "  {{\"name\":\"b\",\"hcas\":[]}},\n"
                           "  {{\"name\":\"c\",\"domain\":{},\"hcas\":[]}}],\n\"links\":[]}}\n",
                           domain);
    };
    const auto fabric = topo::parse_fabric(text("\"rack 7\""), "f");
    REQUIRE(fabric);
    REQUIRE(fabric->domains.size() == 1);
    CHECK(fabric->domains[0].name == "rack 7");
    CHECK(fabric->domains[0].hosts == std::vector<std::uint32_t>{0, 2});
    CHECK(fabric->domains[0].unit == topo::none);
    CHECK(fabric->hosts[1].domain_index == topo::none);
    CHECK(topo::print_fabric(*fabric) == text("\"rack 7\""));
    CHECK(topo::parse_fabric(text("7"), "f").error().text == "f: hosts[2].domain: a string is wanted");
    CHECK(topo::parse_fabric(text("\"\""), "f").error().text == "f: hosts[2].domain: must not be empty");
}

TEST_CASE("a wrong fabric file is refused with the field") {
    CHECK(with_piece("\"railyard_fabric\":1", "\"railyard_fabric\":\"1\"") ==
          "f.json: railyard_fabric: a whole number is wanted");
    CHECK_THAT(with_piece("\"railyard_fabric\":1", "\"railyard_fabric\":2"),
               Catch::Contains("this is version 2 of the file"));
    CHECK(with_piece("\"railyard_fabric\":1", "\"x\":1") == "f.json: railyard_fabric: is missing");
    CHECK(with_piece("\"name\":\"n002\"", "\"name\":7") == "f.json: hosts[1].name: a string is wanted");
    CHECK(with_piece("\"name\":\"n002\"", "\"name\":\"\"") == "f.json: hosts[1].name: must not be empty");
    CHECK(with_piece("\"name\":\"n002\"", "\"name\":\"n001\"") ==
          "f.json: hosts[1]: host \"n001\" stands twice");
    CHECK(with_piece("\"rail\":1", "\"rail\":0") == "f.json: hosts[0].hcas[1]: rail 0 stands twice");
    CHECK(with_piece("\"rail\":1", "\"rail\":1024") ==
          "f.json: hosts[0].hcas[1].rail: 1024 is not between 0 and 1023");
    CHECK(with_piece("\"rail\":1", "\"rail\":null") == "f.json: hosts[0].hcas[1].rail: is missing");
    CHECK(with_piece("\"rail\":1", "\"role\":\"storage\"") == "accepted");
    CHECK(with_piece("\"rail\":1", "\"role\":\"disk\"") ==
          "f.json: hosts[0].hcas[1].role: \"disk\" is not one of compute, storage");
    CHECK_THAT(with_piece("\"guid\":\"0x98", "\"guid\":\"0y98"),
               Catch::StartsWith("f.json: switches[0].guid: \"0y98"));
    CHECK_THAT(with_piece("[\"0x98", "[\"0x99"),
               Catch::Contains("links[0].ends[1]: 0x99") && Catch::Contains("neither an HCA nor a switch"));
    CHECK_THAT(with_piece(",1],[", ",2],["),
               Catch::Contains("links[0].ends[0]: ") && Catch::Contains("has no port 2"));
    CHECK_THAT(with_piece("\"links\":[", "\"links\":[7,"),
               Catch::StartsWith("f.json: links[0]: an object is wanted"));
    CHECK_THAT(with_piece("\"lid\":65535", "\"lid\":65536"),
               Catch::StartsWith("f.json: hosts[0].hcas[1].ports[0].lid: 65536"));
    CHECK_THAT(with_piece("\"hosts\":[", "\"hosts\":7,\"x\":["),
               Catch::StartsWith("f.json: hosts: an array is wanted"));
    CHECK(topo::parse_fabric("[]", "f.json").error().text == "f.json: top level: an object is wanted");
    CHECK_THAT(topo::parse_fabric("{\"railyard", "f.json").error().text,
               Catch::StartsWith("f.json: line 1, column"));

    // A link that stands twice uses its ports twice.
    const auto text = topo::print_fabric(small());
    const auto first = text.find("\n", text.find("\"links\"")) + 1;
    const auto line = text.substr(first, text.find('\n', first) + 1 - first);
    auto twice = text;
    twice.insert(first, line);
    CHECK_THAT(topo::parse_fabric(twice, "f.json").error().text,
               Catch::Contains("links[1].ends[0]: port 1 of") && Catch::Contains("in two links"));
}

TEST_CASE("every cut of a fabric file is refused") {
    const auto text = topo::print_fabric(small());
    for (std::size_t length = 0; length + 1 < text.size(); ++length)
        CHECK_FALSE(topo::parse_fabric(text.substr(0, length), "f"));
}
