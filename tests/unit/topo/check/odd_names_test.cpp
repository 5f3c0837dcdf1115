// Names that are missing, borne by two, or spelt in several ways: one finding about the name, which hides
// nothing else and invents nothing.
#include "topo/read/assemble.hpp"
#include "topo/read/ibnetdiscover.hpp"
#include "topo/synth/ibsim_net.hpp"
#include "unit/topo/fabrics.hpp"

#include <fmt/format.h>

namespace {

std::string net(const std::string& spec) {
    return topo::print_ibsim_net(made(spec));
}

// Every description that begins with `from`.
void describe(std::string& text, const std::string& from, const std::string& to) {
    const auto old = '"' + from, fresh = '"' + to;
    std::size_t found = 0;
    for (auto at = text.find(old); at != std::string::npos; at = text.find(old, at + fresh.size()), ++found)
        text.replace(at, old.size(), fresh);
    REQUIRE(found > 0);
}

topo::Fabric discovered(const std::string& text) {
    const auto raw = topo::parse_ibnetdiscover(text, "net");
    if (!raw) FAIL(raw.error().text);
    auto assembly = topo::assemble(*raw);
    if (!assembly) FAIL(assembly.error().text);
    return std::move(assembly->fabric);
}

void cut(topo::Fabric& fabric, std::string_view host, int rail) {
    const auto h = static_cast<int>(fabric.find_host(host).value());
    std::erase_if(fabric.links,
                  [&](const topo::Link& link) { return link.a.host == h && link.a.hca == rail; });
    topo::derive(fabric);
}

} // namespace

TEST_CASE("HCAs without a name are grouped to probable hosts and hide no dead cable", "[names]") {
    auto text = net("units=2 hosts=8 rails=4");
    for (const char* device : {"0", "1", "2", "3"})
        describe(text, std::string("n005 mlx5_") + device + '"',
                 "MT4129 ConnectX7   Mellanox Technologies\"");
    auto fabric = discovered(text);
    CHECK(fabric.units.size() == 2);
    CHECK_THAT(only_finding(fabric).evidence,
               Catch::EndsWith("by equal ports of their leaves 4 of them are probably 1 host (su1 port 5)"));
    cut(fabric, "n003", 1);
    cut(fabric, "n008", 3);
    CHECK(codes(fabric) == std::vector<std::string>{"host.rails", "host.rails", "name.missing"});
}

TEST_CASE("an HCA without a name is told beside the host that lacks it", "[names]") {
    auto text = net("units=2 hosts=8 rails=4");
    describe(text, "n003 mlx5_2\"", "MT4129 ConnectX7   Mellanox Technologies\"");
    auto fabric = discovered(text);
    CHECK_THAT(only_finding(fabric).evidence, Catch::EndsWith("it is probably n003 rail 2"));
    cut(fabric, "n006", 2); // on the same leaf
    CHECK(codes(fabric) == std::vector<std::string>{"host.rails", "name.missing"});
}

TEST_CASE("two hosts of one name are one finding", "[names]") {
    const bool same_unit = GENERATE(false, true);
    auto text = net("units=2 hosts=8 rails=4");
    describe(text, same_unit ? "n006 " : "n012 ", "n003 ");
    auto fabric = discovered(text);
    const auto finding = only_finding(fabric);
    CHECK(finding.code == "name.duplicate");
    CHECK(finding.ends.front() == "n003");
    CHECK(fabric.hosts[fabric.find_host("n003").value()].leaves ==
          fabric.units[0].leaves); // the one beside n002 and n004 keeps its rails
    CHECK_THAT(finding.evidence, Catch::Contains(same_unit ? "su1 (port 6 of its leaves)" : "su2 (port 4"));
    cut(fabric, "n001", 1);
    CHECK(codes(fabric) == std::vector<std::string>{"host.rails", "name.duplicate"});
}

TEST_CASE("an HCA under the name of another host's is one finding", "[names]") {
    auto text = net("units=2 hosts=8 rails=4");
    describe(text, "n012 mlx5_1\"", "n003 mlx5_0\"");
    auto fabric = discovered(text);
    const auto finding = only_finding(fabric);
    CHECK(finding.code == "name.duplicate");
    CHECK(finding.ends.front() == "n003");
    CHECK_THAT(finding.evidence,
               Catch::EndsWith("are described as n003 mlx5_0 (0x946dae0000030010 on leaf-su1-r0/3, "
                               "0x946dae00000c0020 on leaf-su2-r1/4)"));
    for (auto& link : fabric.links) // what else is found there says which of the two it is
        if (link.a.host == static_cast<int>(fabric.find_host("n003").value()) && link.a.hca == 0)
            link.mbps /= 4, link.width = 1;
    const auto findings = topo::check(fabric);
    CHECK(std::any_of(findings.begin(), findings.end(), [](const topo::Finding& f) {
        return f.code == "link.narrow" && f.ends[0] == "n003 mlx5_0 (0x946dae0000030010)/1" &&
               f.ends[1] == "leaf-su1-r0/3";
    }));
}

TEST_CASE("of many switches of one name the first few are listed", "[names]") {
    auto fabric = made("units=2 hosts=8 rails=8");
    for (auto& one : fabric.switches)
        one.name = "MF0";
    topo::derive(fabric);
    const auto finding = only_finding(fabric);
    CHECK(finding.ends.size() == fabric.switches.size() + 1);
    CHECK_THAT(finding.evidence, Catch::EndsWith("0x9803000000008000, …)"));
}

TEST_CASE("localhost names no host", "[names]") {
    auto text = net("units=2 hosts=8 rails=4");
    describe(text, "n005 ", "localhost ");
    describe(text, "n012 ", "localhost.localdomain ");
    const auto fabric = discovered(text);
    const auto finding = only_finding(fabric);
    CHECK(finding.code == "name.missing");
    CHECK_THAT(finding.evidence, Catch::Contains("8 of them are probably 2 hosts (su1 port 5, su2 port 4)"));
    CHECK_FALSE(fabric.find_host("localhost"));
}

TEST_CASE("a host's name with its domain and in capitals is the host's name", "[names]") {
    auto text = net("units=2 hosts=8 rails=4");
    describe(text, "n005 mlx5_2\"", "n005.example.org mlx5_2\"");
    describe(text, "n006 mlx5_0\"", "N006 mlx5_0\"");
    const auto fabric = discovered(text);
    CHECK(fabric.hosts.size() == 16);
    const auto finding = only_finding(fabric);
    CHECK(finding.code == "name.spelling");
    CHECK(finding.ends == std::vector<std::string>{"n005", "n006"});
    CHECK_THAT(finding.evidence, Catch::EndsWith("n005.example.org mlx5_2, N006 mlx5_0"));
}

TEST_CASE("HCA-3 is mlx5_2", "[names]") {
    auto text = net("units=2 hosts=8 rails=4");
    describe(text, "n005 mlx5_2\"", "n005 HCA-3\"");
    const auto fabric = discovered(text);
    CHECK(codes(fabric).empty());
    CHECK(fabric.hosts[4].hcas[2].rail == 2);
}

TEST_CASE("switches of one name are told apart by GUID", "[names]") {
    auto fabric = made("units=2 hosts=8 rails=4");
    for (auto& s : fabric.switches)
        s.name = "Quantum-2 Mellanox Technologies";
    topo::Link* one = nullptr;
    for (auto& link : fabric.links) {
        if (link.a.host != 2 || link.a.hca > 1) continue;
        if (one == nullptr)
            one = &link;
        else
            std::swap(one->b, link.b);
    }
    topo::derive(fabric);
    const auto findings = topo::check(fabric);
    REQUIRE(findings.size() == 2);
    CHECK(findings[0].code == "hca.swapped");
    CHECK(findings[0].ends[1] != findings[0].ends[3]);
    CHECK_THAT(findings[0].ends[1], Catch::StartsWith("Quantum-2 Mellanox Technologies (0x9803"));
}

TEST_CASE("two hosts of one name whose devices are named in two ways", "[names]") {
    auto text = net("units=4 hosts=8 rails=2");
    describe(text, "n012 mlx5_0\"", "n012 HCA-1\"");
    describe(text, "n012 mlx5_1\"", "n012 HCA-2\"");
    SECTION("the same devices") {
        describe(text, "n012 ", "n003 ");
    }
    SECTION("others") {
        describe(text, "n003 mlx5_0\"", "n003 mlx5_4\"");
        describe(text, "n003 mlx5_1\"", "n003 mlx5_10\"");
        describe(text, "n012 ", "n003 ");
    }
    const auto fabric = discovered(text);
    const auto findings = topo::check(fabric);
    REQUIRE(!findings.empty());
    CHECK(findings.front().code == "name.duplicate");
    CHECK(findings.front().ends.front() == "n003");
    CHECK(findings.front().ends.size() == 3);
    for (const auto& finding : findings)
        CHECK(finding.code != "host.missing");
}

TEST_CASE("HCAs without a name on a leaf that rails share are one host each", "[names]") {
    auto text = net("units=4 hosts=8 rails=2 ports=2 leaves=1");
    SECTION("both HCAs of a host") {
        describe(text, "n005 mlx5_0\"", "MT4129 ConnectX7   Mellanox Technologies\"");
        describe(text, "n005 mlx5_1\"", "MT4129 ConnectX7   Mellanox Technologies\"");
        CHECK_THAT(only_finding(discovered(text)).evidence, Catch::Contains("2 of them are probably 1 host"));
    }
    SECTION("one") {
        describe(text, "n005 mlx5_0\"", "MT4129 ConnectX7   Mellanox Technologies\"");
        CHECK_THAT(only_finding(discovered(text)).evidence, Catch::EndsWith("it is probably n005 rail 0"));
    }
}

TEST_CASE("an HCA without a name is held to its leaf's speed", "[names]") {
    auto text = net("units=4 hosts=8 storage=2 rate=4xHDR");
    for (const char* host : {"n003", "n012"}) // most HCAs without a name are compute HCAs
        for (int i = 0; i < 10; ++i)
            describe(text, std::string(host) + " mlx5_" + std::to_string(i) + '"',
                     "MT4129 ConnectX7   Mellanox Technologies\"");
    for (const auto& finding : topo::check(discovered(text)))
        CHECK(finding.code != "link.slow");
}

// It was a rail of its own, which all other hosts of the unit lacked.
TEST_CASE("a device that is named as on no other host is the one that its host lacks", "[names]") {
    auto text = net("units=2 hosts=8 rails=4");
    describe(text, "n003 mlx5_2\"", "n003 ibp12s0\"");
    const auto fabric = discovered(text);
    CHECK(fabric.rails == 4);
    CHECK(codes(fabric).empty());
}

TEST_CASE("an HCA whose description names no device is the one that its host lacks", "[names]") {
    auto text = net("units=2 hosts=8 rails=4");
    describe(text, "n003 mlx5_2\"", "n003\"");
    const auto fabric = discovered(text);
    CHECK(fabric.rails == 4);
    CHECK(codes(fabric).empty());
}

// Their number alone was told: no host of the unit is known, so that there is no unit either.
TEST_CASE("a unit none of whose hosts has a name is told in hosts, and hides no fault", "[names]") {
    const auto [spec, evidence] = GENERATE(
        std::pair("units=3 hosts=8 rails=4",
                  "32 of them, all that are on leaf-su2-r[0-3], are probably 8 hosts"),
        std::pair("units=3 hosts=8 rails=1 spines=2",
                  "8 of them, all that are on leaf-su2-r0, are probably 8 hosts"),
        std::pair("units=3 hosts=8 rails=4 planes=2",
                  "32 of them, all that are on leaf-su2-p1-r[0-3],leaf-su2-p2-r[0-3], are probably 8 "
                  "hosts"),
        std::pair("units=3 hosts=8 rails=2 ports=2 leaves=1",
                  "16 of them, all that are on leaf-su2-p1-0,leaf-su2-p2-0, are probably 8 hosts"));
    auto text = net(spec);
    for (int h = 9; h <= 16; ++h)
        describe(text, fmt::format("n{:03} ", h), "MT4129 ConnectX7   Mellanox Technologies ");
    auto fabric = discovered(text);
    CHECK(fabric.units.size() == 2);
    auto finding = only_finding(fabric);
    CHECK(finding.code == "name.missing");
    CHECK_THAT(finding.evidence, Catch::EndsWith(evidence));
    if (fabric.rails == 1) return; // a host without its only cable is not seen
    cut(fabric, "n003", 1);
    CHECK(codes(fabric) == std::vector<std::string>{"host.rails", "name.missing"});
}

// The unit alone was named: its hosts without a name may be any.
TEST_CASE("a missing host is named beside one without a name", "[names]") {
    const std::string spec = GENERATE("units=4 hosts=8 rails=4", "units=4 hosts=8 rails=2 leaves=1");
    auto text = net(spec);
    describe(text, "n013 ", "MT4129 ConnectX7   Mellanox Technologies ");
    const std::string gone = GENERATE("n009", "n012", "n014", "n016");
    auto fabric = discovered(text);
    remove_host(fabric, gone);
    CHECK(codes(fabric) == std::vector<std::string>{"host.missing", "name.missing"});
    for (const auto& finding : topo::check(fabric))
        if (finding.code == "host.missing") CHECK(finding.ends.front() == gone);
}

// It was taken for one of those without a name, which are a whole host.
TEST_CASE("a host of no name hides no dead cable where rails share a leaf", "[names]") {
    auto text = net("units=4 hosts=8 rails=2 leaves=1");
    describe(text, "n013 ", "MT4129 ConnectX7   Mellanox Technologies ");
    auto fabric = discovered(text);
    cut(fabric, "n010", 1);
    CHECK(codes(fabric) == std::vector<std::string>{"host.rails", "name.missing"});
}

// Their number alone was told, where no unit is known.
TEST_CASE("a fabric none of whose hosts has a name is told in hosts, units and pods", "[names]") {
    const auto [spec, evidence] = GENERATE(
        std::pair("pods=2 units=2 hosts=8 rails=4",
                  "128 of them, all that are on leaf-su1-r[0-3], leaf-su2-r[0-3], leaf-su3-r[0-3], "
                  "leaf-su4-r[0-3], are probably 32 hosts in 4 units of 2 pods, by the numbers of these "
                  "leaves and equal ports there"),
        std::pair("units=2 hosts=8 rails=4 planes=2",
                  "64 of them, all that are on leaf-su1-p1-r[0-3],leaf-su1-p2-r[0-3], "
                  "leaf-su2-p1-r[0-3],leaf-su2-p2-r[0-3], are probably 16 hosts in 2 units of 1 pod, by "
                  "the numbers of these leaves and equal ports there"),
        std::pair("units=1 hosts=8 rails=4",
                  "32 of them, all that are on leaf-su1-r[0-3], are probably 8 hosts"),
        std::pair("units=4 hosts=8 rails=1 spines=2", // leaves may as well be rails
                  "; the names of their leaves do not tell of how many hosts they are"));
    auto text = net(spec);
    describe(text, "n0", "MT4129 ConnectX7   Mellanox Technologies ");
    const auto fabric = discovered(text);
    CHECK(fabric.units.empty());
    const auto finding = only_finding(fabric);
    CHECK(finding.code == "name.missing");
    CHECK_THAT(finding.evidence, Catch::EndsWith(evidence));
}

// Only descriptions say which leaf is whose rail's.
TEST_CASE("devices tell the rails of hosts that are all called localhost", "[names]") {
    auto text = net("units=1 hosts=8 rails=4");
    for (int h = 1; h <= 8; ++h)
        describe(text, fmt::format("n{:03} ", h), "localhost ");
    for (int r = 0; r < 4; ++r)
        describe(text, fmt::format("leaf-su1-r{}\"", r), fmt::format("sw{}\"", r + 1));
    CHECK_THAT(only_finding(discovered(text)).evidence,
               Catch::EndsWith("32 of them, all that are on sw[1-4], are probably 8 hosts"));
}

namespace {

// A fabric without any host's name, and places in it.
struct Unnamed {
    topo::Fabric fabric;

    explicit Unnamed(const std::string& spec) {
        auto text = net(spec);
        describe(text, "n0", "MT4129 ConnectX7   Mellanox Technologies ");
        fabric = discovered(text);
    }
    int named(std::string_view name) const {
        const auto found = std::find_if(fabric.switches.begin(), fabric.switches.end(),
                                        [&](const topo::Switch& one) { return one.name == name; });
        return static_cast<int>(found - fabric.switches.begin());
    }
    std::size_t link(std::string_view leaf, int port) const {
        const int s = named(leaf);
        const auto found =
            std::find_if(fabric.links.begin(), fabric.links.end(), [&](const topo::Link& link) {
                return (link.a.switch_ == s && link.a.port == port) ||
                       (link.b.switch_ == s && link.b.port == port);
            });
        return static_cast<std::size_t>(found - fabric.links.begin());
    }
    void cut(std::string_view leaf, int port) {
        fabric.links.erase(fabric.links.begin() + static_cast<std::ptrdiff_t>(link(leaf, port)));
        topo::derive(fabric);
    }
    void move(std::string_view leaf, int port, std::string_view to, int to_port) {
        topo::Link& cable = fabric.links[link(leaf, port)];
        (cable.a.switch_ == none ? cable.b : cable.a) = {none, none, named(to),
                                                         static_cast<std::uint8_t>(to_port)};
        topo::derive(fabric);
    }
    // What is found beside the names.
    topo::Finding fault() const {
        auto findings = topo::check(fabric);
        std::erase_if(findings, [](const topo::Finding& f) { return f.code == "name.missing"; });
        REQUIRE(findings.size() == 1);
        return findings.front();
    }
    static constexpr int none = topo::none;
};

} // namespace

// Nothing was found of the cables of such hosts.
TEST_CASE("faults of hosts without a name are found by the ports of their unit's leaves", "[names]") {
    Unnamed unnamed("pods=2 units=2 hosts=8 rails=4");
    SECTION("a dead cable") {
        unnamed.cut("leaf-su2-r1", 5);
        const auto finding = unnamed.fault();
        CHECK(finding.code == "host.rails");
        CHECK(finding.ends == std::vector<std::string>{"leaf-su2-r1/5"});
        CHECK_THAT(finding.evidence,
                   Catch::StartsWith("a host without a name on port 5 of leaf-su2-r[0,2-3]"));
    }
    SECTION("two of one host") {
        unnamed.cut("leaf-su2-r1", 5);
        unnamed.cut("leaf-su2-r3", 5);
        CHECK(unnamed.fault().ends == std::vector<std::string>{"leaf-su2-r1/5", "leaf-su2-r3/5"});
    }
    SECTION("a cable in a spine") {
        unnamed.move("leaf-su2-r1", 5, "spine-pod1-1", 60);
        const auto finding = unnamed.fault();
        CHECK(finding.code == "hca.on_spine");
        CHECK(finding.ends[1] == "spine-pod1-1/60");
        CHECK(finding.fix == "look whether its cable belongs in leaf-su2-r1/5");
    }
    SECTION("a cable in another unit's leaf") {
        unnamed.move("leaf-su2-r1", 5, "leaf-su1-r1", 60);
        const auto finding = unnamed.fault();
        CHECK(finding.code == "hca.wrong_unit");
        CHECK(finding.ends[1] == "leaf-su1-r1/60");
        CHECK(finding.ends[2] == "leaf-su2-r1/5");
    }
    SECTION("a cable in another rail's leaf") {
        unnamed.move("leaf-su2-r1", 5, "leaf-su2-r3", 60);
        CHECK(unnamed.fault().code == "hca.wrong_rail");
    }
    SECTION("a leaf that is not there") {
        remove_switch(unnamed.fabric, "leaf-su2-r1");
        const auto finding = unnamed.fault();
        CHECK(finding.code == "unit.rails");
        CHECK(finding.ends == std::vector<std::string>{"leaf-su2-r[0,2-3]", "leaf-su2-r1"});
    }
}

TEST_CASE("a dead cable of a unit without names is found beside units that have them", "[names]") {
    auto text = net("units=3 hosts=8 rails=4");
    for (int h = 9; h <= 16; ++h)
        describe(text, fmt::format("n{:03} ", h), "MT4129 ConnectX7   Mellanox Technologies ");
    auto fabric = discovered(text);
    std::erase_if(fabric.links, [&](const topo::Link& link) {
        const auto on = [&](const topo::End& end) {
            return end.switch_ != topo::none && end.port == 3 &&
                   fabric.switches[static_cast<std::size_t>(end.switch_)].name == "leaf-su2-r2";
        };
        return on(link.a) || on(link.b);
    });
    topo::derive(fabric);
    CHECK(codes(fabric) == std::vector<std::string>{"host.rails", "name.missing"});
}

// It made the leaf one of its own unit, and the HCAs there those of its neighbours.
TEST_CASE("a cable in a leaf of a unit without names is in the wrong unit", "[names]") {
    auto text = net("units=3 hosts=8 rails=4");
    for (int h = 9; h <= 16; ++h)
        describe(text, fmt::format("n{:03} ", h), "MT4129 ConnectX7   Mellanox Technologies ");
    auto fabric = discovered(text);
    const auto leaf = std::find_if(fabric.switches.begin(), fabric.switches.end(),
                                   [](const topo::Switch& one) { return one.name == "leaf-su2-r1"; });
    for (auto& link : fabric.links)
        if (link.a.host == static_cast<int>(fabric.find_host("n003").value()) && link.a.hca == 1)
            link.b = {topo::none, topo::none, static_cast<int>(leaf - fabric.switches.begin()), 60};
    topo::derive(fabric);
    const auto findings = topo::check(fabric);
    REQUIRE(findings.size() == 2);
    CHECK(findings[0].code == "hca.wrong_unit");
    CHECK(findings[0].ends == std::vector<std::string>{"n003 mlx5_1/1", "leaf-su2-r1/60"});
    CHECK_THAT(findings[0].fix, Catch::EndsWith("leaf-su1-r1"));
    CHECK_THAT(findings[1].evidence,
               Catch::EndsWith("32 of them, all that are on leaf-su2-r[0-3], are probably 8 hosts"));
}

// The leaves that halved units do not have were taken for its own, and its hosts for missing.
TEST_CASE("a unit without names beside units of half the rails is not called missing", "[names]") {
    auto text = net("pods=2 units=4 hosts=8 rails=4 halved=1");
    for (int h = 9; h <= 16; ++h)
        describe(text, fmt::format("n{:03} ", h), "MT4129 ConnectX7   Mellanox Technologies ");
    for (const auto& finding : topo::check(discovered(text)))
        CHECK((finding.code == "name.missing" || finding.severity == topo::Severity::info));
}
