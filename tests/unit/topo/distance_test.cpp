#include "topo/distance.hpp"

#include "fabrics.hpp"
#include "topo/names.hpp"

#include <deque>
#include <random>

namespace {

// Slow and simple: a walk from every leaf, over the links as they stand.
int slow_distance(const topo::Fabric& fabric, int from, int to) {
    std::vector<int> links(fabric.switches.size(), -1);
    std::deque<int> queue{from};
    links[topo::at(from)] = 0;
    while (!queue.empty()) {
        const int here = queue.front();
        queue.pop_front();
        for (const auto& link : fabric.links)
            for (const auto& [one, other] :
                 {std::pair(link.a.switch_, link.b.switch_), std::pair(link.b.switch_, link.a.switch_)}) {
                if (one != here || other == topo::none || link.state == topo::LinkState::down) continue;
                if (links[topo::at(other)] != -1) continue;
                links[topo::at(other)] = links[topo::at(here)] + 1;
                queue.push_back(other);
            }
    }
    return links[topo::at(to)] == -1 ? topo::none : (links[topo::at(to)] + 1) / 2;
}

} // namespace

TEST_CASE("distance classes are the tiers of a regular tree") {
    const auto fabric = made("pods=2 units=2 hosts=2 rails=2");
    const topo::Distances distances(fabric);
    CHECK(distances.hosts(0, 0, 1) == 0);
    CHECK(distances.hosts(0, 1, 1) == 0); // the same unit
    CHECK(distances.hosts(0, 2, 1) == 1); // the same pod
    CHECK(distances.hosts(0, 4, 1) == 2); // another pod
    CHECK(distances.hosts(0, 4, 2) == topo::none);
    CHECK(distances.hosts(0, 4, topo::none) == topo::none);
}

TEST_CASE("rails and planes that never meet have no distance") {
    const auto rails = made("units=2 hosts=2 rails=2 spines=4");
    REQUIRE(rails.islands.size() == 2);
    const topo::Distances by_rail(rails);
    CHECK(by_rail.hosts(0, 2, 0) == 1);
    CHECK(by_rail.leaves(rails.units[0].leaves[0], rails.units[1].leaves[1]) == topo::none);

    auto planes = made("units=2 hosts=2 rails=2 planes=2");
    REQUIRE(planes.islands.size() == 2);
    CHECK(topo::Distances(planes).hosts(0, 2, 0) == 1);
    // Without its first ports a host still meets the others in the second plane.
    for (auto& link : planes.links)
        if (link.a.host == 0 && link.a.port == 1) link.state = topo::LinkState::down;
    std::erase_if(planes.links, [](const topo::Link& link) { return link.state == topo::LinkState::down; });
    topo::derive(planes);
    CHECK(topo::Distances(planes).hosts(0, 1, 0) == 0);
}

TEST_CASE("distances of irregular fabrics are as a plain walk has them") {
    for (const char* spec : {"pods=2 units=2 hosts=2 rails=3", "units=3 hosts=2 rails=4 spines=4",
                             "pods=3 units=1 hosts=3 rails=2"})
        for (unsigned seed = 0; seed < 6; ++seed) {
            auto fabric = made(spec);
            std::mt19937 random(seed);
            std::vector<std::size_t> uplinks;
            for (std::size_t l = 0; l < fabric.links.size(); ++l)
                if (fabric.links[l].a.host == topo::none && fabric.links[l].b.host == topo::none)
                    uplinks.push_back(l);
            for (std::size_t i = 0; i < uplinks.size() / 3; ++i) { // dead and crossed cables
                auto& link = fabric.links[uplinks[random() % uplinks.size()]];
                if (random() % 2 == 0)
                    link.state = topo::LinkState::down;
                else
                    std::swap(link.b, fabric.links[uplinks[random() % uplinks.size()]].b);
            }
            topo::derive(fabric);
            const topo::Distances distances(fabric);
            INFO(spec << " seed " << seed);
            for (int a = 0; a < static_cast<int>(fabric.switches.size()); ++a)
                for (int b = 0; b < static_cast<int>(fabric.switches.size()); ++b)
                    if (fabric.switches[topo::at(a)].tier == 0 && fabric.switches[topo::at(b)].tier == 0)
                        CHECK(distances.leaves(a, b) == slow_distance(fabric, a, b));
        }
}
