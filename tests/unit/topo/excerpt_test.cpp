#include "topo/excerpt.hpp"

#include "unit/folder.hpp"
#include "base/file.hpp"
#include "unit/topo/fabrics.hpp"
#include "topo/fabric_json.hpp"
#include "topo/names.hpp"

#include <catch2/catch.hpp>

#include <fstream>
#include <tuple>

namespace {

// What a task asks of its host: HCAs, their working links, which of them share leaves.
std::vector<std::tuple<std::string, int, std::string, std::uint32_t, std::string>>
view_of(const topo::Fabric& fabric, const std::string& name) {
    std::vector<std::tuple<std::string, int, std::string, std::uint32_t, std::string>> all;
    const auto index = fabric.find_host(name);
    REQUIRE(index);
    for (const auto& hca : fabric.hosts[*index].hcas)
        for (const auto& port : hca.ports)
            all.emplace_back(hca.device, hca.rail, hca.pci,
                             port.link == topo::none ? 0 : fabric.links[topo::at(port.link)].mbps,
                             topo::switch_name(fabric, port.leaf));
    return all;
}

topo::Fabric excerpt(const std::string& text, std::string_view host) {
    auto fabric = topo::parse_excerpt(text, host, "f.json");
    if (!fabric) FAIL(fabric.error().text);
    return std::move(fabric->fabric);
}

std::string refusal(const std::string& text, std::string_view host = "n001") {
    const auto fabric = topo::parse_excerpt(text, host, "f.json");
    return fabric ? "" : fabric.error().text;
}

} // namespace

TEST_CASE("excerpt: a host is as the whole file has it") {
    for (const char* spec : {"pods=2 units=2 hosts=3 rails=8 gpus=8",
                             "units=2 hosts=2 rails=4 storage=2 gpus=4", "units=1 hosts=2 rails=2"}) {
        INFO(spec);
        const auto whole = made(spec);
        const auto text = topo::print_fabric(whole);
        for (const auto& host : whole.hosts) {
            const auto part = excerpt(text, host.name);
            REQUIRE(part.hosts.size() == 1);
            CHECK(view_of(part, host.name) == view_of(whole, host.name));
            CHECK(part.hosts[0].gpus.size() == host.gpus.size());
            CHECK(part.links.size() == host.hcas.size());
        }
    }
}

TEST_CASE("excerpt: a host that is not there is no host") {
    const auto text = topo::print_fabric(made("units=1 hosts=4 rails=2"));
    CHECK(excerpt(text, "n1").hosts.empty());
    CHECK(excerpt(text, "leaf-su1-r0").hosts.empty());
    CHECK(excerpt(text, "mlx5_0").hosts.empty());
    CHECK(excerpt(R"({"railyard_fabric":1,"switches":[],"hosts":[],"links":[]})", "n001").hosts.empty());
}

TEST_CASE("excerpt: any way to write JSON will do") {
    const std::string text = R"( { "note" : "a \"brace\" } in [ a string\\" , "links":[ {"state":"active",
      "extra":{"ends":[["0x9",1]]}, "ends" : [ [ "0xA" , 1 ] , [ "00b" , 2 ] ] }, {"ends":[["0xc",1],["0xb",3]]} ,
      {"ends":[["0xa",2],["0xc",2]]}],
      "hosts":[{"hcas":[{"guid":"c","rail":0,"ports":[{"port":1},{"port":2}]}],"name":"n002"},
               {"hcas":[{"guid":"0x0a","rail":0,"device":"mlx5_0","ports":[{"port":1},{"port":2}]}],
                "name":"n001","rack":{"row":"n002"}}],
      "switches":[{"guid":"0xB","name":"leaf","ports":8}],"railyard_fabric":1 } )";
    const auto part = excerpt(text, "n001");
    REQUIRE(part.hosts.size() == 1);
    REQUIRE(part.links.size() == 1); // the cable to the other host leads out
    CHECK(part.hosts[0].hcas[0].ports[0].link == 0);
    CHECK(part.switches.size() == 1);
}

TEST_CASE("excerpt: a file is read in blocks, and gives what its text gives") {
    const test::Folder folder;
    const auto path = folder.path / "fabric.json";
    const auto read = [&](const std::string& text, std::string_view host) {
        std::ofstream(path, std::ios::trunc) << text;
        auto excerpt = topo::read_excerpt(path, host);
        if (!excerpt) FAIL(excerpt.error().text);
        return *std::move(excerpt);
    };
    auto text = topo::print_fabric(made("pods=1 units=4 hosts=40 rails=8 gpus=8")); // some ten blocks
    REQUIRE(text.size() > 300'000);
    // Blocks end in strings, behind backslashes and between elements, wherever they may.
    for (std::size_t shift = 0; shift < 700; shift += 7) {
        auto shifted = text;
        shifted.insert(1, "\"note\":\"" + std::string(shift, '\\') + (shift % 2 == 0 ? "" : "\\") + "\",");
        for (const char* host : {"n001", "n160"}) {
            const auto part = read(shifted, host);
            const auto whole = topo::parse_excerpt(shifted, host, "f.json");
            REQUIRE(whole);
            REQUIRE(topo::print_fabric(part.fabric) == topo::print_fabric(whole->fabric));
            REQUIRE(part.digest == whole->digest);
            REQUIRE(part.fabric.links.size() == 8);
        }
    }
    CHECK(read(text, "n001").digest == read(text, "n002").digest);
    const auto digest = read(text, "n001").digest;
    text.back() = ' ';
    CHECK(read(text, "n001").digest != digest);
    std::ofstream(path, std::ios::trunc) << text.substr(0, text.size() / 2);
    CHECK_FALSE(topo::read_excerpt(path, "n001"));
    std::ofstream(path, std::ios::trunc) << "{\"hosts\":[\"" << std::string(5'000'000, 'x') << "\"]}";
    CHECK_FALSE(topo::read_excerpt(path, "n001"));
    CHECK_FALSE(topo::read_excerpt(folder.path, "n001"));
    CHECK_FALSE(topo::read_excerpt(folder.path / "none", "n001"));
}

TEST_CASE("excerpt: it is kept beside until the file changes, and only in a folder of ours") {
    const test::Folder folder;
    const auto path = folder.path / "fabric.json";
    const auto run = (folder.path / "run").string();
    const auto write = [&](const char* spec) {
        REQUIRE(base::write_file(path, topo::print_fabric(made(spec))));
    };
    const auto hcas = [&](const std::string& host) {
        const auto kept = topo::kept_excerpt(path, host, run);
        REQUIRE(kept);
        CHECK(kept->digest == topo::read_excerpt(path, host)->digest);
        return kept->fabric.hosts.empty() ? 0 : kept->fabric.hosts[0].hcas.size();
    };
    write("units=1 hosts=2 rails=4");
    CHECK(hcas("n001") == 4);
    CHECK(std::filesystem::exists(run + "/fabric-n001"));
    CHECK(hcas("n001") == 4);
    CHECK(hcas("n009") == 0);
    write("units=1 hosts=2 rails=2");
    CHECK(hcas("n001") == 2);
    // A copy that is damaged, or of another version, is made anew.
    std::ofstream(run + "/fabric-n001", std::ios::app) << "x";
    CHECK(hcas("n001") == 2);
    CHECK(topo::kept_excerpt(path, "../../etc/passwd", run));
    CHECK_FALSE(std::filesystem::exists(folder.path / "etc"));
    std::filesystem::remove_all(run);
    std::filesystem::create_directory_symlink("/tmp", run);
    CHECK(hcas("n001") == 2);
    CHECK_FALSE(std::filesystem::exists("/tmp/fabric-n001"));
}

TEST_CASE("excerpt: text that does not close is refused, and so is what is wrong with the host itself") {
    const auto text = topo::print_fabric(made("units=1 hosts=2 rails=2"));
    const std::string whole =
        "f.json: is no whole JSON text in the form of fabric.json(5); railtopo check shows where";
    for (const std::size_t cut : {std::size_t{0}, std::size_t{1}, text.size() / 3, text.size() - 3}) {
        INFO(cut);
        CHECK(refusal(text.substr(0, cut)) == whole);
    }
    CHECK(refusal("[]") == whole);
    CHECK(refusal(R"({"hosts":[)") == whole);
    CHECK(refusal(R"({"hosts" "x"})") == whole);
    CHECK(refusal("{}") == "f.json: railyard_fabric: is missing");
    CHECK(refusal(R"({"railyard_fabric":1,"hosts":[{"name":"n001"}],"links":[],"switches":[]})") ==
          "f.json: hosts[0].hcas: is missing");
    auto future = text;
    future.replace(future.find("\"railyard_fabric\": 1") == future.npos
                       ? future.find("\"railyard_fabric\":1")
                       : future.find("\"railyard_fabric\": 1"),
                   text.find(',') - text.find("\"railyard_fabric\""), "\"railyard_fabric\":7");
    CHECK(refusal(future).find("this is version 7 of the file") != std::string::npos);
}
