#include "topo/diff/diff.hpp"

#include "topo/derive.hpp"
#include "topo/names.hpp"
#include "topo/synth/synth.hpp"
#include "unit/topo/shuffle.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <functional>

using topo::at;
using topo::Fabric;
using topo::Link;
using topo::none;

namespace {

Fabric make(const std::string& spec) {
    const auto parsed = topo::parse_synth(spec);
    if (!parsed) FAIL(parsed.error().text);
    auto fabric = topo::synthesise(*parsed);
    if (!fabric) FAIL(fabric.error().text);
    return std::move(*fabric);
}

using Texts = std::vector<std::string>;

Texts texts(const Fabric& before, const Fabric& after) {
    Texts all;
    for (const auto& change : topo::diff(before, after))
        all.push_back(fmt::format("{}: {}", change.code, change.text));
    return all;
}

Texts codes(const Fabric& before, const Fabric& after) {
    Texts all;
    for (const auto& change : topo::diff(before, after))
        all.push_back(change.code);
    return all;
}

std::string show(const Texts& texts) {
    return fmt::format("{}", fmt::join(texts, "\n"));
}

int host(const Fabric& fabric, std::string_view name) {
    return static_cast<int>(*fabric.find_host(name));
}
int switch_of(const Fabric& fabric, std::string_view name) {
    for (std::size_t s = 0; s < fabric.switches.size(); ++s)
        if (fabric.switches[s].name == name) return static_cast<int>(s);
    FAIL("no switch " << name);
    return none;
}
Link& link_of(Fabric& fabric, std::string_view name, int hca) {
    for (Link& link : fabric.links)
        if (link.a.host == host(fabric, name) && link.a.hca == hca) return link;
    FAIL("no link at " << name);
    return fabric.links.front();
}
Link& uplink_of(Fabric& fabric, std::string_view leaf, int which) {
    for (Link& link : fabric.links)
        if (link.a.switch_ == switch_of(fabric, leaf) && which-- == 0) return link;
    FAIL("no uplink at " << leaf);
    return fabric.links.front();
}
std::uint8_t free_port(Fabric& fabric, int s) {
    int highest = 0;
    for (const Link& link : fabric.links)
        for (const topo::End* end : {&link.a, &link.b})
            if (end->switch_ == s) highest = std::max(highest, static_cast<int>(end->port));
    fabric.switches[at(s)].ports = std::max(fabric.switches[at(s)].ports, highest + 1);
    return static_cast<std::uint8_t>(highest + 1);
}
void move_to(Fabric& fabric, Link& link, std::string_view leaf) {
    const int s = switch_of(fabric, leaf);
    link.b = {none, none, s, free_port(fabric, s)};
}
void drop_host(Fabric& fabric, std::string_view name) {
    const int gone = host(fabric, name);
    std::erase_if(fabric.links, [&](const Link& link) { return link.a.host == gone; });
    for (Link& link : fabric.links)
        if (link.a.host > gone) --link.a.host;
    fabric.hosts.erase(fabric.hosts.begin() + gone);
}
void drop_switch(Fabric& fabric, std::string_view name) {
    const int gone = switch_of(fabric, name);
    std::erase_if(fabric.links,
                  [&](const Link& link) { return link.a.switch_ == gone || link.b.switch_ == gone; });
    for (Link& link : fabric.links)
        for (topo::End* end : {&link.a, &link.b})
            if (end->switch_ > gone) --end->switch_;
    fabric.switches.erase(fabric.switches.begin() + gone);
}
void swap_hosts(Fabric& fabric, std::string_view a, std::string_view b) {
    for (int rail = 0; rail < fabric.rails; ++rail)
        std::swap(link_of(fabric, a, rail).b, link_of(fabric, b, rail).b);
}
void swap_switches(Fabric& fabric, std::string_view a, std::string_view b) {
    const int s = switch_of(fabric, a), t = switch_of(fabric, b);
    for (Link& link : fabric.links)
        for (topo::End* end : {&link.a, &link.b})
            if (end->switch_ == s || end->switch_ == t) end->switch_ = end->switch_ == s ? t : s;
}

// One thing done to a fabric of 4 units of 4 hosts with 4 rails, and what people call it.
struct Mutation {
    std::string text;
    std::function<void(Fabric&)> apply;
};

const std::string spec = "pods=2 units=2 hosts=4 rails=4";

std::vector<Mutation> mutations() {
    const auto renamed_host = [](std::string_view old, std::string now) {
        return [=](Fabric& f) { f.hosts[at(host(f, old))].name = now; };
    };
    return {
        {"host.moved: n001 was moved from su1 (leaf-su1-r[0-3]) to su3 (leaf-su3-r[0-3])",
         [](Fabric& f) {
             for (int rail = 0; rail < 4; ++rail)
                 move_to(f, link_of(f, "n001", rail), fmt::format("leaf-su3-r{}", rail));
         }},
        {"host.swapped: n002 and n009 have changed places, with 4 cables each",
         [](Fabric& f) { swap_hosts(f, "n002", "n009"); }},
        {"host.renamed: n003 is now called m77, with the same HCAs", renamed_host("n003", "m77")},
        {"host.removed: n004 is gone: 4 HCAs, in su1", [](Fabric& f) { drop_host(f, "n004"); }},
        {"cable.moved: the cable of n005 mlx5_1/1 (rail 1) was moved from leaf-su2-r1/1 to leaf-su2-r2/9",
         [](Fabric& f) { move_to(f, link_of(f, "n005", 1), "leaf-su2-r2"); }},
        {"cable.port: the cable of n005 mlx5_3/1 (rail 3) was moved from leaf-su2-r3/1 to leaf-su2-r3/9, "
         "another "
         "port of the same switch",
         [](Fabric& f) { move_to(f, link_of(f, "n005", 3), "leaf-su2-r3"); }},
        {"cable.swapped: the cables of n006 mlx5_0/1 (rail 0) and n006 mlx5_1/1 (rail 1) were swapped: now "
         "on "
         "leaf-su2-r1/2 and leaf-su2-r0/2",
         [](Fabric& f) { std::swap(link_of(f, "n006", 0).b, link_of(f, "n006", 1).b); }},
        {"cable.rotated: the cables of n007 mlx5_0/1, n007 mlx5_1/1, n007 mlx5_2/1 were rotated: each is "
         "where the "
         "next one was",
         [](Fabric& f) {
             std::swap(link_of(f, "n007", 0).b, link_of(f, "n007", 1).b);
             std::swap(link_of(f, "n007", 1).b, link_of(f, "n007", 2).b);
         }},
        {"hca.replaced: n008: mlx5_2 (rail 2) was replaced: GUID 0x0000000000000077 instead of "
         "0x946dae0000080030",
         [](Fabric& f) {
             auto& hca = f.hosts[at(host(f, "n008"))].hcas[2];
             hca.guid = 0x77;
             hca.ports[0].guid = 0x78;
         }},
        {"switch.replaced: leaf-su3-r0 was replaced: GUID 0x0000000000000099 instead of 0x980300000000b000",
         [](Fabric& f) { f.switches[at(switch_of(f, "leaf-su3-r0"))].guid = 0x99; }},
        {"switch.renamed: leaf-su4-r1 is now called edge-7, with the same GUID",
         [](Fabric& f) { f.switches[at(switch_of(f, "leaf-su4-r1"))].name = "edge-7"; }},
        {"link.removed: the link leaf-su3-r2/5 - spine-pod2-1/9 is gone",
         [](Fabric& f) {
             auto& link = uplink_of(f, "leaf-su3-r2", 0);
             f.links.erase(f.links.begin() + (&link - f.links.data()));
         }},
        {"link.slow: the link n012 mlx5_0/1 - leaf-su3-r0/4: 4xHDR instead of 4xNDR",
         [](Fabric& f) { link_of(f, "n012", 0).mbps /= 2; }},
        {"link.narrow: the link n013 mlx5_0/1 - leaf-su4-r0/1: 1xNDR instead of 4xNDR",
         [](Fabric& f) {
             link_of(f, "n013", 0).mbps /= 4;
             link_of(f, "n013", 0).width = 1;
         }},
        {"link.down: the link n014 mlx5_0/1 - leaf-su4-r0/2: down instead of active",
         [](Fabric& f) { link_of(f, "n014", 0).state = topo::LinkState::down; }},
        {"link.slow: all 4 links of n015: 4xHDR instead of 4xNDR",
         [](Fabric& f) {
             for (int rail = 0; rail < 4; ++rail)
                 link_of(f, "n015", rail).mbps /= 2;
         }},
        {"hca.rail: n016 mlx5_3 is storage instead of rail 3",
         [](Fabric& f) {
             auto& hca = f.hosts[at(host(f, "n016"))].hcas[3];
             hca.role = topo::Role::storage;
             hca.rail = none;
         }},
    };
}

Fabric changed(const Fabric& from, const std::function<void(Fabric&)>& apply) {
    Fabric to = from;
    apply(to);
    topo::derive(to);
    return to;
}

} // namespace

TEST_CASE("a fabric does not differ from itself, in whatever order it was read") {
    const auto fabric = make(GENERATE("units=1 hosts=2 rails=1", "pods=2 units=4 hosts=8 rails=8",
                                      "pods=2 units=4 hosts=8 rails=8 faults=15"));
    CHECK(show(texts(fabric, fabric)).empty());
    for (unsigned seed = 0; seed < 3; ++seed)
        CHECK(show(texts(fabric, shuffled(fabric, seed))).empty());
    CHECK(show(texts(Fabric{}, Fabric{})).empty());
}

TEST_CASE("one thing that happened is one change, in the operator's words") {
    const auto fabric = make(spec);
    for (const auto& mutation : mutations())
        CHECK(show(texts(fabric, changed(fabric, mutation.apply))) == mutation.text);
}

TEST_CASE("undoing it is one change as well") {
    const auto fabric = make(spec);
    for (const auto& mutation : mutations()) {
        const auto back = texts(changed(fabric, mutation.apply), fabric);
        INFO(mutation.text << "\nundone:\n" << show(back));
        CHECK(back.size() == 1);
    }
}

TEST_CASE("fifteen things at random are fifteen changes, whatever the order of either file") {
    const auto fabric = make(spec);
    const auto seed = GENERATE(range(1U, 13U));
    std::mt19937 random(seed);
    auto chosen = mutations();
    std::shuffle(chosen.begin(), chosen.end(), random);
    chosen.resize(15);
    // Each is put down in the words of its own; one that speaks of a place another changed is left to codes.
    Texts expected;
    auto after = fabric;
    for (const auto& mutation : chosen) {
        expected.push_back(mutation.text.substr(0, mutation.text.find(':')));
        mutation.apply(after);
        topo::derive(after);
    }
    std::sort(expected.begin(), expected.end());
    INFO(show(texts(fabric, after)));
    CHECK(show(codes(fabric, after)) == show(expected));
    CHECK(show(texts(shuffled(fabric, seed), shuffled(after, seed + 1))) == show(texts(fabric, after)));
}

TEST_CASE("each fault that synth plants is one change") {
    const auto before = make("pods=2 units=4 hosts=8 rails=8");
    const std::vector<std::pair<const char*, const char*>> faults{
        {"rails_swapped", "cable.swapped"},   {"hosts_swapped", "cable.swapped"},
        {"rails_rotated", "cable.rotated"},   {"wrong_rail", "cable.moved"},
        {"wrong_unit", "cable.moved"},        {"on_spine", "cable.moved"},
        {"dead_hca", "hca.removed"},          {"narrow_link", "link.narrow"},
        {"slow_link", "link.slow"},           {"uplink_missing", "link.removed"},
        {"uplinks_crossed", "cable.swapped"}, {"uplink_narrow", "link.narrow"},
        {"name_duplicate", "hca.renamed"},    {"name_missing", "hca.nameless"},
        {"switch_name", "switch.renamed"}};
    Texts all;
    for (const auto& [fault, code] : faults) {
        for (int seed = 1; seed < 4; ++seed) {
            const auto after =
                make(fmt::format("pods=2 units=4 hosts=8 rails=8 faults={} seed={}", fault, seed));
            INFO(fault << "\n" << show(texts(before, after)));
            CHECK(codes(before, after) == Texts{code});
        }
        all.emplace_back(code);
    }
    std::sort(all.begin(), all.end());
    for (int seed = 1; seed < 9; ++seed)
        CHECK(codes(before, make(fmt::format("pods=2 units=4 hosts=8 rails=8 faults=15 seed={}", seed))) ==
              all);
}

TEST_CASE("names do not matter to what is found") {
    const auto rename = [](Fabric fabric) {
        for (auto& h : fabric.hosts)
            h.name = "x" + h.name.substr(1) + "-gpu";
        for (auto& s : fabric.switches)
            s.name = "sw" + s.name;
        topo::derive(fabric);
        return fabric;
    };
    const auto before = make("pods=2 units=4 hosts=8 rails=8"),
               after = make("pods=2 units=4 hosts=8 rails=8 faults=13");
    CHECK(codes(rename(before), rename(after)) == codes(before, after));
}

TEST_CASE("a host that moves with its only HCA is reported with its rail") {
    const auto before = make("units=2 hosts=2 rails=1");
    CHECK(show(texts(before,
                     changed(before, [](Fabric& f) { move_to(f, link_of(f, "n001", 0), "leaf-su2-r0"); }))) ==
          "host.moved: n001 (rail 0) was moved from su1 (leaf-su1-r0) to su2 (leaf-su2-r0)");
}

TEST_CASE("three hosts that went round are one change") {
    const auto before = make(spec);
    const auto after = changed(before, [](Fabric& f) {
        swap_hosts(f, "n001", "n005");
        swap_hosts(f, "n005", "n009");
    });
    CHECK(codes(before, after) == Texts{"host.swapped"});
}

TEST_CASE("two leaves that were mounted in each other's place are one change") {
    const auto before = make(spec);
    CHECK(show(texts(before,
                     changed(before, [](Fabric& f) { swap_switches(f, "leaf-su1-r0", "leaf-su1-r1"); }))) ==
          "switch.swapped: leaf-su1-r0 and leaf-su1-r1 have changed places: 8 cables of each end where the "
          "other's did");
}

TEST_CASE("a replaced switch is known by its name or else by its cables") {
    const auto before = make(spec);
    CHECK(show(texts(before, changed(before,
                                     [](Fabric& f) {
                                         auto& leaf = f.switches[at(switch_of(f, "leaf-su3-r0"))];
                                         leaf.guid = 0x99;
                                         leaf.name = "Quantum Mellanox Technologies";
                                     }))) ==
          "switch.replaced: Quantum Mellanox Technologies was replaced: GUID 0x0000000000000099 instead of "
          "0x980300000000b000; the old one was leaf-su3-r0");
    CHECK(
        show(texts(before, changed(before,
                                   [](Fabric& f) {
                                       const int leaf = switch_of(f, "leaf-su3-r0");
                                       f.switches[at(leaf)].guid = 0x99;
                                       std::swap(link_of(f, "n009", 0).b.port, link_of(f, "n010", 0).b.port);
                                       std::swap(link_of(f, "n011", 0).b.port, link_of(f, "n012", 0).b.port);
                                   }))) ==
        "switch.replaced: leaf-su3-r0 was replaced: GUID 0x0000000000000099 instead of 0x980300000000b000; 4 "
        "cables are on other ports than before");
}

TEST_CASE("cables plugged into a switch in another order are one change") {
    const auto before = make(spec);
    CHECK(
        show(texts(before, changed(before,
                                   [](Fabric& f) {
                                       std::swap(link_of(f, "n009", 0).b.port, link_of(f, "n010", 0).b.port);
                                       std::swap(link_of(f, "n011", 0).b.port, link_of(f, "n012", 0).b.port);
                                   }))) ==
        "switch.recabled: leaf-su3-r0: 4 cables are on other ports of it; they lead where they led before");
}

TEST_CASE("switches that come and go take their cables with them") {
    const auto before = make(spec);
    const auto after = changed(before, [](Fabric& f) { drop_switch(f, "leaf-su1-r2"); });
    CHECK(show(texts(before, after)) == "switch.removed: leaf-su1-r2 is gone, with 8 cables");
    CHECK(show(texts(after, before)) == "switch.added: leaf-su1-r2 is new, with 8 cables");
}

TEST_CASE("cables of a switch that is gone are reported where they lead to another now") {
    const auto before = make(spec);
    const auto after = changed(before, [](Fabric& f) {
        move_to(f, link_of(f, "n001", 2), "leaf-su1-r3");
        drop_switch(f, "leaf-su1-r2");
    });
    CHECK(show(texts(before, after)) ==
          "cable.moved: the cable of n001 mlx5_2/1 (rail 2) was moved from leaf-su1-r2/1 to leaf-su1-r3/9\n"
          "switch.removed: leaf-su1-r2 is gone, with 8 cables");
}

TEST_CASE("a host that gives way to another is reported beside it") {
    const auto before = make(spec);
    const auto after = changed(before, [](Fabric& f) {
        const auto places = [&] {
            std::vector<topo::End> ends;
            for (int rail = 0; rail < 4; ++rail)
                ends.push_back(link_of(f, "n005", rail).b);
            return ends;
        }();
        drop_host(f, "n005");
        topo::derive(f);
        for (int rail = 0; rail < 4; ++rail)
            link_of(f, "n001", rail).b = places[at(rail)];
    });
    CHECK(show(texts(before, after)) ==
          "host.moved: n001 was moved from su1 (leaf-su1-r[0-3]) to su2 (leaf-su2-r[0-3])\n"
          "host.removed: n005 is gone: 4 HCAs, in su2");
}

TEST_CASE("a machine under the name of another is a replaced host") {
    const auto before = make(spec);
    const auto after = changed(before, [](Fabric& f) {
        for (auto& hca : f.hosts[at(host(f, "n005"))].hcas)
            hca.guid += 0x5000'0000U;
    });
    CHECK(show(texts(before, after)) ==
          "host.replaced: n005: all 4 HCAs are others: this is another machine under the same name");
}

TEST_CASE("hosts that have exchanged their names are one change") {
    const auto before = make(spec);
    const auto after = changed(before, [](Fabric& f) { std::swap(f.hosts[0].name, f.hosts[7].name); });
    CHECK(show(texts(before, after)) ==
          "host.renamed: n001 and n008 have exchanged their names, not their HCAs");
}

TEST_CASE("a whole unit or pod that comes or goes is one change") {
    const auto before = make(spec);
    const auto without = [](Fabric& f, int unit) {
        for (int h = 1; h <= 4; ++h)
            drop_host(f, fmt::format("n{:03}", (unit - 1) * 4 + h)), topo::derive(f);
        for (int rail = 0; rail < 4; ++rail)
            drop_switch(f, fmt::format("leaf-su{}-r{}", unit, rail)), topo::derive(f);
    };
    const auto less = changed(before, [&](Fabric& f) { without(f, 2); });
    CHECK(show(texts(before, less)) ==
          "unit.removed: su2 is gone: 4 hosts n[005-008], and 4 switches leaf-su2-r[0-3]");
    CHECK(show(texts(less, before)) ==
          "unit.added: su2 is new: 4 hosts n[005-008], and 4 switches leaf-su2-r[0-3]");
    const auto half = changed(before, [&](Fabric& f) {
        without(f, 3);
        without(f, 4);
        while (true) {
            const auto spine = std::find_if(f.switches.begin(), f.switches.end(),
                                            [](const auto& s) { return s.name.starts_with("spine-pod2"); });
            if (spine == f.switches.end()) break;
            drop_switch(f, std::string(spine->name));
        }
    });
    const auto gone = texts(before, half);
    INFO(show(gone));
    REQUIRE(gone.size() == 1);
    CHECK(gone.front().starts_with("pod.removed: pod2 is gone: 2 units, 8 hosts n[009-016], and "));
}

TEST_CASE("an HCA that moved to another host is reported once") {
    const auto before = make(spec);
    const auto after = changed(before, [](Fabric& f) { // n001's mlx5_3 takes the place of n002's
        auto &from = f.hosts[0].hcas, &to = f.hosts[1].hcas;
        to[3].guid = from[3].guid;
        std::erase_if(f.links, [](const Link& link) { return link.a.host == 0 && link.a.hca == 3; });
        from.pop_back();
    });
    CHECK(codes(before, after) == Texts{"hca.moved", "hca.removed"});
}

TEST_CASE("what one of the two fabrics does not know is no change") {
    const auto before = make(spec);
    const auto after = changed(before, [](Fabric& f) {
        f.source = "elsewhere";
        for (Link& link : f.links) {
            link.state = topo::LinkState::unknown;
            link.width = 0;
            link.mbps = 0;
        }
        for (auto& h : f.hosts) {
            h.gpus = {{"0000:19:00.0", 0}};
            for (auto& hca : h.hcas) {
                hca.pci = "0000:18:00.0";
                hca.numa = 0;
                hca.gpu = 0;
                for (auto& port : hca.ports) {
                    port.lid = 7;
                    port.guid = 1;
                }
            }
        }
    });
    CHECK(show(texts(before, after)).empty());
    CHECK(show(texts(after, before)).empty());
}

TEST_CASE("what hosts report about themselves is compared where both do") {
    auto before = make(spec);
    for (auto& h : before.hosts) {
        h.gpus = {{"0000:19:00.0", 0}, {"0000:3b:00.0", 1}};
        h.hcas[0].pci = "0000:18:00.0";
        h.hcas[0].numa = 0;
        h.hcas[0].gpu = 0;
    }
    CHECK(show(texts(before, changed(before, [](Fabric& f) { f.hosts[2].gpus.pop_back(); }))) ==
          "host.gpus: n003: 1 GPU instead of 2; gone: 0000:3b:00.0");
    CHECK(show(texts(before, changed(before,
                                     [](Fabric& f) {
                                         f.hosts[2].hcas[0].pci = "0000:1a:00.0";
                                         f.hosts[2].hcas[0].numa = 1;
                                     }))) == "host.facts: n003: mlx5_0 at 0000:1a:00.0 instead of "
                                             "0000:18:00.0; mlx5_0 in NUMA node 1 instead of 0");
}

TEST_CASE("a hundred faults are a hundred changes") {
    const std::string large = "pods=8 units=4 hosts=8 rails=8";
    CHECK(topo::diff(make(large), make(large + " faults=100")).size() == 100);
}

TEST_CASE("the same happening to many hosts is one change") {
    const auto before = make(spec);
    CHECK(show(texts(before, changed(before,
                                     [](Fabric& f) {
                                         for (auto& h : f.hosts)
                                             std::swap(h.hcas[0].rail, h.hcas[1].rail);
                                     }))) == "hca.rail: 2 HCAs of n[001-016] have other rails: mlx5_0 is "
                                             "rail 1 instead of rail 0, mlx5_1 is rail 0 instead of rail 1");
    CHECK(show(texts(before, make(spec + " rate=4xHDR"))) ==
          fmt::format("link.slow: all {} links: 4xHDR instead of 4xNDR", before.links.size()));
    CHECK(show(texts(before, changed(before, [](Fabric& f) {
                         const int leaf = switch_of(f, "leaf-su2-r1");
                         for (Link& link : f.links)
                             if (link.a.switch_ == leaf || link.b.switch_ == leaf) link.mbps /= 2;
                     }))) == "link.slow: all 8 links of leaf-su2-r1: 4xHDR instead of 4xNDR");
    CHECK(show(texts(before, changed(before, [](Fabric& f) {
                         const int leaf = switch_of(f, "leaf-su2-r1");
                         std::erase_if(f.links, [&](const Link& link) { return link.a.switch_ == leaf; });
                     }))) == "link.removed: 4 links between leaf-su2-r1 and spine-pod1-1 are gone");
}
