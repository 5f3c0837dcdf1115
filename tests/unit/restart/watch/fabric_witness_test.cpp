#include "restart/watch/fabric_witness.hpp"

#include "topo/synth/synth.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace restart;
using topo::LinkState;

namespace {

// A sweep of a fabric in which everything answers.
topo::RawFabric sweep_of(const topo::Fabric& fabric) {
    topo::RawFabric swept;
    const auto guid_of = [&](const topo::End& end) {
        return end.switch_ != topo::none ? fabric.switches[static_cast<std::size_t>(end.switch_)].guid
                                         : fabric.hosts[static_cast<std::size_t>(end.host)]
                                               .hcas[static_cast<std::size_t>(end.hca)]
                                               .guid;
    };
    for (const auto& host : fabric.hosts)
        for (const auto& hca : host.hcas) {
            topo::RawNode node;
            node.guid = hca.guid;
            swept.nodes.push_back(std::move(node));
        }
    for (const auto& sw : fabric.switches) {
        topo::RawNode node;
        node.kind = topo::RawNode::Kind::switch_;
        node.guid = sw.guid;
        swept.nodes.push_back(std::move(node));
    }
    const auto add = [&](const topo::End& at, const topo::End& to) {
        topo::RawPort port;
        port.number = at.port;
        port.state = LinkState::active;
        port.linked = true;
        port.peer = guid_of(to);
        port.peer_port = to.port;
        const auto guid = guid_of(at);
        std::find_if(swept.nodes.begin(), swept.nodes.end(), [&](const auto& n) {
            return n.guid == guid;
        })->seen.push_back(port);
    };
    for (const auto& link : fabric.links) {
        add(link.a, link.b);
        add(link.b, link.a);
    }
    return swept;
}

struct World {
    topo::Fabric file = *topo::synthesise(*topo::parse_synth("units=2 hosts=3 rails=2"));
    topo::RawFabric swept = sweep_of(file);

    topo::Guid hca(std::size_t host, std::size_t rail) const { return file.hosts[host].hcas[rail].guid; }
    void forget(topo::Guid guid) {
        std::erase_if(swept.nodes, [&](const auto& node) { return node.guid == guid; });
    }
    // The cable is out: the HCA is not reached, the leaf's port is down.
    void unplug(topo::Guid guid, LinkState leaf_says = LinkState::down) {
        forget(guid);
        for (auto& node : swept.nodes)
            for (auto& port : node.seen)
                if (port.linked && port.peer == guid) {
                    port.linked = false;
                    port.state = leaf_says;
                }
    }
    FabricReport testify() const { return restart::testify(file, swept); }
};

} // namespace

TEST_CASE("a whole fabric: nobody is named") {
    const auto report = World().testify();
    CHECK(report.hosts.empty());
    CHECK(report.hosts_seen == 6);
    CHECK(report.complete);
    CHECK(FabricReport::from_json(report.to_json()));
}

TEST_CASE("a host that lost one link, and one that lost all") {
    World world;
    world.unplug(world.hca(0, 1));
    world.unplug(world.hca(4, 0));
    world.unplug(world.hca(4, 1));
    const auto report = world.testify();
    CHECK(report.hosts == std::map<std::string, HostLinks>{{"n001", {1, 2}}, {"n005", {0, 2}}});
    CHECK(report.hosts_seen == 5);
    CHECK(report.complete);
}

TEST_CASE("links that one end shows down are named, hosts' and switches', in a partial sweep as well") {
    World world;
    world.unplug(world.hca(0, 1));
    const auto leaf = world.file.switches[static_cast<std::size_t>(world.file.hosts[0].leaves[0])];
    world.unplug(leaf.guid); // dead: its spines see their ports down, its hosts are not reached
    for (std::size_t host = 0; host < 3; ++host)
        world.forget(world.hca(host, 0));
    const auto report = world.testify();
    CHECK_FALSE(report.complete);
    std::size_t uplinks = 0, hosts = 0;
    for (const auto& link : report.links_down) {
        const bool of_leaf = link.a == leaf.name || link.b == leaf.name;
        const bool of_host = link.a == "n001" || link.b == "n001";
        CHECK((of_leaf || of_host));
        uplinks += of_leaf ? 1 : 0;
        hosts += of_host ? 1 : 0;
        if (of_host)
            CHECK((link.a == "n001" ? link.a_port : link.b_port) ==
                  world.file.hosts[0].hcas[1].device + ":1");
    }
    CHECK(hosts == 1);
    CHECK(uplinks > 0);
    const auto read = FabricReport::from_json(report.to_json());
    REQUIRE(read);
    CHECK(read->links_down == report.links_down);
}

TEST_CASE("a sweep that did not reach a leaf says nothing about its hosts") {
    World world;
    const auto leaf = world.file.switches[static_cast<std::size_t>(world.file.hosts[0].leaves[0])].guid;
    world.forget(leaf);
    for (std::size_t host = 0; host < 3; ++host)
        world.forget(world.hca(host, 0));
    const auto report = world.testify();
    CHECK(report.hosts.empty());
    CHECK_FALSE(report.complete);
}

TEST_CASE("a sweep that saw nothing but its own port testifies against nobody") {
    World world;
    world.swept.nodes.clear();
    const auto report = world.testify();
    CHECK(report.hosts.empty());
    CHECK(report.hosts_seen == 0);
    CHECK_FALSE(report.complete);
}

TEST_CASE("an HCA behind a port that is up but does not answer is not down") {
    World world;
    world.unplug(world.hca(0, 0), LinkState::active);
    world.unplug(world.hca(0, 1), LinkState::unknown);
    CHECK(world.testify().hosts.empty());
}

TEST_CASE("an HCA that moved to another port is up") {
    World world;
    const auto guid = world.hca(0, 0);
    for (auto& node : world.swept.nodes)
        for (auto& port : node.seen)
            if (port.linked && port.peer == guid) {
                port.linked = false;
                port.state = LinkState::down;
            }
    CHECK(world.testify().hosts.empty());
}

TEST_CASE("the log has what changed, hosts with the same news folded") {
    FabricReport sound, broken;
    sound.complete = broken.complete = true;
    for (const auto* host : {"n002", "n010", "n001"})
        broken.hosts[host] = {7, 8};
    broken.hosts["n004"] = {0, 8};
    CHECK(news(sound, broken) ==
          std::vector<std::string>{"n004: 0 of 8 links are up", "n[001-002,010]: 7 of 8 links are up"});
    CHECK(news(broken, broken).empty());
    auto partial = sound;
    partial.complete = false;
    CHECK(news(broken, partial).size() == 2);
    CHECK(news(broken, sound) == std::vector<std::string>{"n[001-002,004,010]: all links are up again"});
}

TEST_CASE("a file of units alone, or of names, has nothing that a sweep could miss") {
    World world;
    CHECK(has_links_to_see(world.file));
    for (auto& host : world.file.hosts)
        for (auto& hca : host.hcas)
            hca.guid = 0x0a00000000000000 | (hca.guid & 0xffffff);
    CHECK_FALSE(has_links_to_see(world.file));
    const auto report = testify(world.file, world.swept);
    CHECK(report.hosts.empty());
    CHECK_FALSE(report.complete); // it is no witness of anything
}
