// Fabrics of every shape: units, rails and findings as they must be, made directly and as a discovery of
// their net file shows them, and the same under any order and any names.
#include "topo/read/assemble.hpp"
#include "topo/read/ibnetdiscover.hpp"
#include "topo/read/roles.hpp"
#include "topo/synth/ibsim_net.hpp"
#include "unit/topo/fabrics.hpp"
#include "unit/topo/shuffle.hpp"

#include <fmt/format.h>

#include <map>
#include <random>
#include <set>

namespace {

struct Shape {
    const char* what;
    const char* spec;
    std::size_t hosts, units, pods, islands;
    int rails, tiers;
    std::vector<std::string> findings;
};

const std::vector<Shape> shapes{
    {"Blue Vela's pod", "units=4 hosts=32", 128, 4, 1, 1, 8, 2, {}},
    {"three tiers with cores",
     "pods=2 units=2 hosts=8 rails=4 oversub=2",
     32,
     4,
     2,
     1,
     4,
     3,
     {"tier.oversubscribed"}},
    {"two planes", "units=2 hosts=8 rails=4 planes=2", 16, 2, 1, 2, 4, 2, {}},
    {"two planes with cores", "pods=2 units=2 hosts=4 rails=2 planes=2", 16, 4, 2, 2, 2, 3, {}},
    {"rails that never meet", "units=2 hosts=4 rails=4 spines=16", 8, 2, 1, 4, 4, 2, {"rails.apart"}},
    {"Vela-like: two two-port NICs on a pair of leaves",
     "units=4 hosts=16 rails=2 ports=2 leaves=1 rate=4xEDR",
     64,
     4,
     1,
     1,
     2,
     2,
     {}},
    {"unequal hosts", "units=4 hosts=8 rails=4 halved=1", 32, 4, 1, 1, 4, 2, {"rails.unequal"}},
    {"storage on a network of its own", "units=2 hosts=8 rails=4 storage=1", 16, 2, 1, 2, 4, 2, {}},
    {"storage sharing the compute leaves",
     "units=2 hosts=8 rails=4 storage=1 sharing=1 rate=4xHDR",
     16,
     2,
     1,
     1,
     4,
     2,
     {"leaf.storage", "leaf.storage"}},
    {"GPUs that are reported", "units=2 hosts=4 rails=8 gpus=8", 8, 2, 1, 1, 8, 2, {}},
    {"more GPUs than rails", "units=2 hosts=4 rails=4 gpus=8", 8, 2, 1, 1, 4, 2, {}},
};

topo::Fabric discovered(const topo::Fabric& fabric) {
    const auto raw = topo::parse_ibnetdiscover(topo::print_ibsim_net(fabric), "net");
    if (!raw) FAIL(raw.error().text);
    auto assembly = topo::assemble(*raw);
    if (!assembly) FAIL(assembly.error().text);
    CHECK(assembly->missing.empty());
    return std::move(assembly->fabric);
}

// Units as sets of hosts, by the GUIDs of their first HCAs.
std::set<std::set<topo::Guid>> units_of(const topo::Fabric& fabric) {
    std::set<std::set<topo::Guid>> units;
    for (const auto& unit : fabric.units) {
        std::set<topo::Guid> members;
        for (const auto h : unit.hosts)
            for (const auto& hca : fabric.hosts[h].hcas)
                members.insert(hca.guid);
        units.insert(members);
    }
    return units;
}

std::map<topo::Guid, int> rails_of(const topo::Fabric& fabric) {
    std::map<topo::Guid, int> rails;
    for (const auto& host : fabric.hosts)
        for (const auto& hca : host.hcas)
            rails[hca.guid] = hca.rail;
    return rails;
}

// The same fabric under other names: hosts exchange theirs, switches get new ones.
topo::Fabric renamed(const topo::Fabric& from, unsigned seed) {
    auto fabric = from;
    std::mt19937 random(seed);
    std::vector<std::string> names;
    for (const auto& host : fabric.hosts)
        if (!host.name.starts_with("0x")) names.push_back(host.name);
    std::shuffle(names.begin(), names.end(), random);
    for (auto& host : fabric.hosts) {
        if (host.name.starts_with("0x")) continue;
        host.name = names.back();
        names.pop_back();
    }
    for (auto& s : fabric.switches)
        s.name = fmt::format("sw-{:08x}-{:x}", random(), s.guid);
    topo::derive(fabric);
    return fabric;
}

} // namespace

TEST_CASE("fabrics of every shape have their units, rails and findings") {
    for (const auto& shape : shapes) {
        INFO(shape.what);
        const auto fabric = made(shape.spec);
        CHECK(fabric.hosts.size() == shape.hosts);
        CHECK(fabric.units.size() == shape.units);
        CHECK(fabric.pods.size() == shape.pods);
        CHECK(fabric.islands.size() == shape.islands);
        CHECK(fabric.rails == shape.rails);
        CHECK(fabric.tiers == shape.tiers);
        CHECK(codes(fabric) == shape.findings);
        for (const auto& s : fabric.switches) // no switch is left over but those of storage
            CHECK(((s.tier != topo::none && (s.pod != topo::none || s.tier > 1)) ||
                   s.name.starts_with("storage-")));

        const auto seen = discovered(fabric);
        CHECK(units_of(seen) == units_of(fabric));
        CHECK(rails_of(seen) == rails_of(fabric));
        CHECK(seen.tiers == fabric.tiers);
        CHECK(codes(seen) == shape.findings);
    }
}

TEST_CASE("order and names change neither units nor rails nor findings") {
    // Twelve kinds of faults among them; those that are of names are apart.
    std::vector<std::string> specs{"units=2 hosts=16 rails=8 faults=12",
                                   "pods=2 units=2 hosts=16 rails=8 faults=12 seed=5"};
    for (const auto& shape : shapes)
        if (shape.hosts <= 64) specs.emplace_back(shape.spec);
    for (const auto& spec : specs)
        for (unsigned seed = 1; seed <= 3; ++seed) {
            INFO(spec << " seed " << seed);
            const auto fabric = made(spec);
            auto other = shuffled(renamed(fabric, seed), seed);
            topo::assign_roles(other);
            topo::derive(other);
            CHECK(units_of(other) == units_of(fabric));
            CHECK(rails_of(other) == rails_of(fabric));
            CHECK(codes(other) == codes(fabric));
        }
}

TEST_CASE("cables of two-port HCAs are judged port by port") {
    auto fabric = made("units=2 hosts=8 rails=4 planes=2");
    const auto link_of = [&](std::string_view host, int hca, int port) -> topo::Link& {
        const auto h = static_cast<int>(fabric.find_host(host).value());
        for (auto& link : fabric.links)
            if (link.a.host == h && link.a.hca == hca && link.a.port == port) return link;
        FAIL("no such link");
        return fabric.links.front();
    };
    SECTION("ports of one HCA swapped") {
        std::swap(link_of("n003", 1, 1).b, link_of("n003", 1, 2).b);
        topo::derive(fabric);
        const auto finding = only_finding(fabric);
        CHECK(finding.code == "hca.swapped");
        CHECK(finding.ends == std::vector<std::string>{"n003 mlx5_1/1", "leaf-su1-p2-r1/3", "n003 mlx5_1/2",
                                                       "leaf-su1-p1-r1/3"});
    }
    SECTION("second ports of two rails swapped") {
        std::swap(link_of("n003", 1, 2).b, link_of("n003", 2, 2).b);
        topo::derive(fabric);
        CHECK(only_finding(fabric).evidence ==
              "n003 mlx5_1/2 (rail 1) and n003 mlx5_2/2 (rail 2) are swapped: they hang "
              "on leaf-su1-p2-r2/3 and leaf-su1-p2-r1/3");
    }
    SECTION("a second port on the leaf of the first") {
        const int plane = link_of("n003", 1, 1).b.switch_;
        link_of("n003", 1, 2).b = {topo::none, topo::none, plane, 60};
        topo::derive(fabric);
        CHECK(only_finding(fabric).evidence ==
              "n003 mlx5_1/2 (rail 1) hangs on leaf-su1-p1-r1/60, where port 1 of the HCA belongs");
    }
    SECTION("a second port without a link") {
        const auto end = link_of("n003", 1, 2).a;
        std::erase_if(fabric.links, [&](const topo::Link& link) { return link.a == end; });
        topo::derive(fabric);
        const auto finding = only_finding(fabric);
        CHECK(finding.code == "hca.port");
        CHECK(finding.ends == std::vector<std::string>{"n003 mlx5_1/2", "leaf-su1-p2-r1"});
    }
    SECTION("both ports without a link") {
        const auto host = link_of("n003", 1, 2).a.host;
        std::erase_if(fabric.links,
                      [&](const topo::Link& link) { return link.a.host == host && link.a.hca == 1; });
        topo::derive(fabric);
        CHECK(only_finding(fabric).code == "host.rails");
    }
}
