// The storage network is checked as the compute network is.
#include "topo/names.hpp"
#include "topo/read/assemble.hpp"
#include "topo/read/ibnetdiscover.hpp"
#include "topo/synth/ibsim_net.hpp"
#include "unit/topo/fabrics.hpp"

namespace {

// The host's first storage cable.
topo::Link& storage_cable(topo::Fabric& fabric, std::string_view host) {
    const auto h = static_cast<int>(fabric.find_host(host).value());
    for (auto& link : fabric.links)
        if (link.a.host == h && link.a.hca == 4) return link;
    FAIL("no storage");
    return fabric.links.front();
}

// As it is discovered when storage runs at the compute network's rate.
topo::Fabric alike(topo::Fabric fabric) {
    for (auto& link : fabric.links)
        link.mbps = 400000;
    const auto raw = topo::parse_ibnetdiscover(topo::print_ibsim_net(fabric), "net");
    if (!raw) FAIL(raw.error().text);
    auto assembly = topo::assemble(*raw);
    if (!assembly) FAIL(assembly.error().text);
    return std::move(assembly->fabric);
}

std::size_t storage_hcas(const topo::Fabric& fabric) {
    std::size_t count = 0;
    for (const auto& host : fabric.hosts)
        for (const auto& hca : host.hcas)
            count += hca.role == topo::Role::storage ? 1 : 0;
    return count;
}

topo::Fabric stored() {
    return made("units=4 hosts=16 rails=4 storage=1 radix=32"); // three storage leaves under a spine
}

} // namespace

TEST_CASE("storage: a sound network has no findings", "[storage]") {
    CHECK(codes(stored()).empty());
    CHECK(codes(made("units=4 hosts=16 rails=4 storage=2")).empty());
}

TEST_CASE("storage: a dead HCA, a narrow link, a missing uplink", "[storage]") {
    auto fabric = stored();
    SECTION("dead") {
        const auto victim = storage_cable(fabric, "n010").a;
        std::erase_if(fabric.links, [&](const topo::Link& link) { return link.a == victim; });
        topo::derive(fabric);
        const auto finding = only_finding(fabric);
        CHECK(finding.code == "host.storage");
        CHECK(finding.ends.front() == "n010");
        CHECK(finding.severity == topo::Severity::error);
    }
    SECTION("narrow") {
        storage_cable(fabric, "n010").width = 1;
        storage_cable(fabric, "n010").mbps /= 4;
        CHECK(only_finding(fabric).code == "link.narrow");
    }
    SECTION("slow") {
        storage_cable(fabric, "n010").mbps /= 2;
        CHECK(only_finding(fabric).code == "link.slow");
    }
    SECTION("an uplink") {
        const auto up = std::find_if(fabric.links.begin(), fabric.links.end(), [&](const topo::Link& link) {
            return link.a.switch_ != topo::none &&
                   fabric.switches[static_cast<std::size_t>(link.a.switch_)].name.starts_with("storage-leaf");
        });
        REQUIRE(up != fabric.links.end());
        fabric.links.erase(up);
        topo::derive(fabric);
        CHECK(only_finding(fabric).code == "uplink.missing");
    }
}

// It was an error for each HCA of each host.
TEST_CASE("storage: hosts beside each other that lack the same are one finding", "[storage]") {
    auto fabric = made("units=8 hosts=16 rails=4 storage=2");
    for (const char* device : {"mlx5_4", "mlx5_5"})
        for (const char* host : {"n017", "n018", "n019", "n020", "n021"})
            remove_hca(fabric, host, device);
    const auto finding = only_finding(fabric);
    CHECK(finding.code == "host.storage");
    CHECK(finding.ends == std::vector<std::string>{"n[017-021]"});
    CHECK_THAT(finding.evidence, Catch::Contains("mlx5_4, mlx5_5"));
}

TEST_CASE("storage: cables on wrong leaves and in the compute network", "[storage]") {
    auto fabric = stored();
    topo::Link& cable = storage_cable(fabric, "n010");
    SECTION("another leaf of storage") {
        cable.b = {topo::none, topo::none, storage_cable(fabric, "n050").b.switch_, 60};
        topo::derive(fabric);
        const auto finding = only_finding(fabric);
        CHECK(finding.code == "hca.wrong_leaf");
        CHECK_THAT(finding.fix, Catch::EndsWith("storage-leaf-1"));
    }
    SECTION("a leaf of the compute network") {
        cable.b = {topo::none, topo::none, fabric.units[0].leaves[2], 60};
        topo::derive(fabric);
        const auto finding = only_finding(fabric);
        CHECK(finding.code == "hca.wrong_leaf");
        CHECK_THAT(finding.evidence, Catch::EndsWith("a leaf of the compute network"));
    }
    SECTION("exchanged with a cable of the compute network") {
        for (auto& link : fabric.links)
            if (link.a.host == cable.a.host && link.a.hca == 1) std::swap(link.b, cable.b);
        topo::derive(fabric);
        CHECK(only_finding(fabric).code == "hca.swapped");
    }
}

TEST_CASE("storage at the compute network's rate is told from it", "[storage]") {
    struct Case {
        const char* words;
        int rails;
    };
    const auto one = GENERATE(Case{"units=4 hosts=8 rails=8 storage=1 radix=16", 8},
                              Case{"units=4 hosts=8 rails=8 storage=2 radix=16", 8},
                              Case{"units=4 hosts=8 rails=2 storage=1 radix=16", 2},
                              Case{"units=4 hosts=8 rails=2 storage=2 radix=16", 2},
                              Case{"pods=2 units=2 hosts=8 rails=4 storage=1 radix=16", 4},
                              Case{"units=1 hosts=16 rails=4 storage=1", 4},
                              Case{"units=1 hosts=16 rails=4 storage=2 radix=16", 4},
                              Case{"units=4 hosts=8 rails=4 planes=2 ports=2 storage=1 radix=16", 4},
                              Case{"units=4 hosts=8 rails=4 leaves=2 storage=2 radix=32", 4});
    CAPTURE(one.words);
    const auto fabric = made(one.words);
    const auto seen = alike(fabric);
    CHECK(seen.rails == one.rails);
    CHECK(storage_hcas(seen) == storage_hcas(fabric));
    CHECK(codes(seen) == codes(fabric));
}

TEST_CASE("storage at the compute network's rate is told from it in spite of a cable between the two",
          "[storage]") {
    auto fabric = made("units=4 hosts=8 rails=4 storage=1 radix=16");
    auto link = fabric.links.back();
    const auto find = [&](std::string_view name) {
        for (int s = 0; topo::at(s) < fabric.switches.size(); ++s)
            if (fabric.switches[topo::at(s)].name == name) return s;
        FAIL(name);
        return topo::none;
    };
    link.a = {topo::none, topo::none, find("leaf-su1-r2"), 60};
    link.b = {topo::none, topo::none, find("storage-leaf-1"), 60};
    fabric.links.push_back(link);
    fabric.switches[topo::at(link.a.switch_)].ports = fabric.switches[topo::at(link.b.switch_)].ports = 64;
    topo::derive(fabric);
    const auto seen = alike(fabric);
    CHECK(seen.rails == 4);
    CHECK(storage_hcas(seen) == storage_hcas(fabric));
    const auto findings = topo::check(seen);
    CHECK(std::any_of(findings.begin(), findings.end(), [](const topo::Finding& finding) {
        return finding.ends == std::vector<std::string>{"leaf-su1-r2/60", "storage-leaf-1/60"};
    }));
}

TEST_CASE("rails of networks of their own are no storage", "[storage]") {
    for (const auto* words :
         {"units=1 hosts=16 rails=8", "units=1 hosts=16 rails=4 spines=2",
          "units=4 hosts=8 rails=8 storage=2 sharing=1", "units=4 hosts=8 rails=2 leaves=1",
          "pods=2 units=2 hosts=8 rails=8", "units=4 hosts=8 rails=4 planes=2"}) {
        CAPTURE(words);
        const auto seen = alike(made(words));
        CHECK(storage_hcas(seen) == 0);
    }
}

// mlx5_4 and mlx5_5 were rails of them, too, which hung on leaves of storage.
TEST_CASE("hosts with half the rails count their storage HCAs from another number", "[storage]") {
    const auto fabric = alike(made("units=4 hosts=16 rails=8 halved=1 storage=2"));
    CHECK(storage_hcas(fabric) == 4 * 16 * 2);
    CHECK(codes(fabric) == std::vector<std::string>{"rails.unequal"});
}

// Their storage HCAs became rails: devices of these names were in both networks.
TEST_CASE("storage: a cable to the compute network, with hosts of half the rails", "[storage]") {
    auto fabric = made("pods=2 units=4 hosts=16 rails=4 halved=1 storage=1");
    const auto cables = GENERATE(1, 2); // beside each other
    const auto find = [&](std::string_view name) {
        const auto found = std::find_if(fabric.switches.begin(), fabric.switches.end(),
                                        [&](const auto& s) { return s.name == name; });
        return static_cast<int>(found - fabric.switches.begin());
    };
    const int storage = find("storage-leaf-2"), compute = find("leaf-su3-r1");
    for (int c = 0; c < cables; ++c) {
        topo::Link link = fabric.links.back();
        link.a = {topo::none, topo::none, storage, static_cast<std::uint8_t>(100 + c)};
        link.b = {topo::none, topo::none, compute, static_cast<std::uint8_t>(100 + c)};
        fabric.links.push_back(link);
    }
    for (const int s : {storage, compute})
        fabric.switches[topo::at(s)].ports = 110;
    topo::derive(fabric);
    fabric = alike(std::move(fabric));
    CHECK(storage_hcas(fabric) == fabric.hosts.size());
    std::vector<std::string> faults;
    for (const auto& finding : topo::check(fabric))
        if (finding.severity != topo::Severity::info) faults.push_back(finding.code);
    CHECK(faults == std::vector<std::string>(topo::at(cables), "link.between_networks"));
}
