#include "topo/read/carry_over.hpp"

#include "topo/fabric_json.hpp"
#include "topo/names.hpp"
#include "topo/read/roles.hpp"
#include "unit/topo/fabrics.hpp"
#include "unit/topo/shuffle.hpp"

namespace {

// As a discovery shows a fabric: without host facts and foreign fields, roles as they are guessed.
topo::Fabric rediscovered(topo::Fabric fabric) {
    fabric.extra.clear();
    for (auto& host : fabric.hosts) {
        host.gpus.clear();
        host.extra.clear();
        for (auto& hca : host.hcas) {
            hca.pci.clear();
            hca.numa = hca.gpu = topo::none;
            hca.extra.clear();
            for (auto& port : hca.ports)
                port.extra.clear();
        }
    }
    for (auto& s : fabric.switches)
        s.extra.clear();
    for (auto& link : fabric.links)
        link.extra.clear();
    topo::assign_roles(fabric);
    topo::derive(fabric);
    return fabric;
}

topo::Fabric known() {
    auto fabric = made("units=2 hosts=3 rails=4");
    fabric.extra = "\"site\":1";
    fabric.switches[0].extra = "\"rack\":7";
    fabric.links[3].extra = "\"cable\":\"c3\"";
    auto& host = fabric.hosts[2];
    host.extra = "\"bmc\":2";
    host.gpus = {{"0000:19:00.0", 0}, {"0000:3b:00.0", 1}};
    host.gpus[1].extra = "\"uuid\":\"g\"";
    host.hcas[1].pci = "0000:18:00.0";
    host.hcas[1].numa = 1;
    host.hcas[1].gpu = 3;
    host.hcas[1].extra = "\"fw\":9";
    host.hcas[1].ports[0].extra = "\"qsfp\":4";
    return fabric;
}

// "mlx5_0=2 mlx5_1=1": rails of a host by device.
std::string rails(const topo::Fabric& fabric, std::string_view name) {
    std::vector<std::string> said;
    for (const auto& hca : fabric.hosts[fabric.find_host(name).value()].hcas)
        said.push_back(hca.device + "=" + (hca.rail == topo::none ? "storage" : std::to_string(hca.rail)));
    std::sort(said.begin(), said.end());
    std::string all;
    for (const auto& one : said)
        all += (all.empty() ? "" : " ") + one;
    return all;
}

} // namespace

TEST_CASE("a discovery takes over all that it cannot see") {
    const auto before = known();
    const auto text = topo::print_fabric(before);
    for (unsigned seed = 0; seed < 5; ++seed) {
        auto now = shuffled(rediscovered(before), seed);
        CHECK(topo::print_fabric(now) != text);
        topo::carry_over(before, now);
        CHECK(topo::print_fabric(now) == text);
    }
}

TEST_CASE("what is taken over follows GUIDs, not names") {
    const auto before = known();
    auto now = rediscovered(before);
    for (auto& host : now.hosts)
        host.name = "rack9-" + host.name;
    for (auto& s : now.switches)
        s.name = "sw-" + s.name;
    topo::derive(now);
    topo::carry_over(before, now);
    CHECK(now.hosts[2].extra == before.hosts[2].extra);
    CHECK(now.hosts[2].gpus.size() == 2);
    CHECK(now.switches[0].extra == before.switches[0].extra);
    CHECK(now.links[3].extra == before.links[3].extra);
}

TEST_CASE("a replaced HCA starts anew, its host does not") {
    const auto before = known();
    auto now = rediscovered(before);
    now.hosts[2].hcas[1].guid = 0x77;
    topo::derive(now);
    topo::carry_over(before, now);
    CHECK(now.hosts[2].hcas[1].pci.empty());
    CHECK(now.hosts[2].hcas[1].extra.empty());
    CHECK(now.hosts[2].extra == before.hosts[2].extra);
}

TEST_CASE("what the discovery knows itself is not overwritten") {
    const auto before = known();
    auto now = rediscovered(before);
    now.hosts[2].hcas[1].numa = 0;
    now.hosts[2].gpus = {{"0000:3b:00.0", 0}};
    topo::carry_over(before, now);
    CHECK(now.hosts[2].hcas[1].numa == 0);
    CHECK(now.hosts[2].hcas[1].pci == "0000:18:00.0");
    REQUIRE(now.hosts[2].gpus.size() == 1);
    CHECK(now.hosts[2].gpus[0].extra == "\"uuid\":\"g\"");
}

TEST_CASE("roles and rails that someone decided are kept") {
    auto before = known();
    std::swap(before.hosts[0].hcas[0].rail, before.hosts[0].hcas[2].rail);
    before.hosts[1].hcas[3].role = topo::Role::storage;
    before.hosts[1].hcas[3].rail = topo::none;
    topo::derive(before);
    auto now = rediscovered(before);
    CHECK(rails(now, "n001") == "mlx5_0=0 mlx5_1=1 mlx5_2=2 mlx5_3=3");
    SECTION("by GUID") {
        topo::carry_over(before, now);
        CHECK(rails(now, "n001") == "mlx5_0=2 mlx5_1=1 mlx5_2=0 mlx5_3=3");
        CHECK(rails(now, "n002") == "mlx5_0=0 mlx5_1=1 mlx5_2=2 mlx5_3=storage");
        CHECK(topo::parse_fabric(topo::print_fabric(now), "f"));
    }
    SECTION("and a new HCA gets the rail that is left") {
        for (auto& hca : now.hosts[0].hcas)
            if (hca.device == "mlx5_2") hca.guid = 0x77;
        topo::carry_over(before, now);
        CHECK(rails(now, "n001") == "mlx5_0=2 mlx5_1=1 mlx5_2=0 mlx5_3=3");
        CHECK(topo::parse_fabric(topo::print_fabric(now), "f"));
    }
    SECTION("unless rules decide") {
        topo::carry_over(before, now, false);
        CHECK(rails(now, "n001") == "mlx5_0=0 mlx5_1=1 mlx5_2=2 mlx5_3=3");
    }
}

TEST_CASE("a host that has lost HCAs stays what it was") {
    auto before = made("pods=1 units=4 hosts=8 rails=8 halved=1");
    SECTION("by the earlier file: one of a name of its own") {
        before.hosts[3].name = "visitor";
        topo::derive(before);
        auto now = before;
        for (const auto* device : {"mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"})
            remove_hca(now, "visitor", device);
        now = rediscovered(now);
        CHECK(rails(now, "visitor") == "mlx5_4=storage mlx5_5=storage mlx5_6=storage mlx5_7=storage");
        carry_over(before, now);
        CHECK(rails(now, "visitor") == "mlx5_4=4 mlx5_5=5 mlx5_6=6 mlx5_7=7");
        CHECK(now.hosts[now.find_host("visitor").value()].unit == 0);
    }
    SECTION("by the hosts beside it, without a file: half the rails of the others, and one less") {
        for (auto& host : before.hosts)
            host.name = (host.unit == 3 ? "half" : "full") + host.name.substr(1);
        topo::derive(before);
        auto now = before;
        remove_hca(now, "half030", "mlx5_2");
        now = rediscovered(now);
        CHECK(rails(now, "half030") == "mlx5_0=0 mlx5_1=1 mlx5_3=3");
        const auto finding = topo::check(now).front();
        CHECK(finding.code == "host.rails");
        CHECK(finding.ends.front() == "half030");
    }
    SECTION("a service host that has lost one does not become a compute host") {
        before.hosts[3].name = "login";
        topo::derive(before);
        for (const auto* device : {"mlx5_4", "mlx5_5", "mlx5_6", "mlx5_7"})
            remove_hca(before, "login", device);
        before = rediscovered(before);
        auto now = before;
        remove_hca(now, "login", "mlx5_1");
        now = rediscovered(now);
        carry_over(before, now);
        CHECK(rails(now, "login") == "mlx5_0=storage mlx5_2=storage mlx5_3=storage");
    }
}
