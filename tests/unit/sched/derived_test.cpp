// Placement on fabrics that are derived from faulty cables, against an oracle that knows units and pods as
// they were built: where both took them from derive(), a wrong unit went unseen.
#include "oracle.hpp"
#include "topo/derive.hpp"
#include "topo/synth/synth.hpp"

#include <catch2/catch.hpp>

#include <random>

using namespace sched;
using namespace sched_test;

namespace {

topo::Fabric made(const std::string& words) {
    return *topo::synthesise(*topo::parse_synth(words));
}

// Cuts one cable of some hosts and moves one of others to that rail's leaf in another unit, each host and
// each rail of a unit once, but for cuts of different rails.
void plant(topo::Fabric& fabric, std::mt19937_64& random) {
    const auto upto = [&](std::uint64_t n) { return static_cast<std::size_t>(random() % n); };
    auto links = fabric.links;
    std::vector<int> moved(fabric.units.size(), topo::none); // the rail
    std::vector<std::size_t> gone;
    for (std::size_t u = 0; u < fabric.units.size(); ++u) {
        const auto& unit = fabric.units[u];
        for (std::size_t i = 0; i < unit.hosts.size(); ++i) {
            const int rail = static_cast<int>(upto(static_cast<std::uint64_t>(fabric.rails)));
            std::size_t l = 0;
            while (links[l].a.host != static_cast<int>(unit.hosts[i]) || links[l].a.hca != rail)
                ++l;
            const auto& away = fabric.units[upto(fabric.units.size())];
            if (moved[u] == topo::none && &away != &unit) {
                moved[u] = rail;
                links[l].b = {topo::none, topo::none, away.leaves[static_cast<std::size_t>(rail)],
                              static_cast<std::uint8_t>(50 + u)};
            } else if (rail != moved[u] && upto(2) == 0) {
                gone.push_back(l);
            }
        }
    }
    std::sort(gone.begin(), gone.end());
    for (auto l = gone.rbegin(); l != gone.rend(); ++l)
        links.erase(links.begin() + static_cast<std::ptrdiff_t>(*l));
    fabric.links = std::move(links);
    topo::derive(fabric);
}

// The faulty fabric with the units and pods of the sound one.
topo::Fabric as_built(topo::Fabric faulty, const topo::Fabric& sound) {
    faulty.units = sound.units;
    faulty.pods = sound.pods;
    for (std::size_t h = 0; h < sound.hosts.size(); ++h)
        faulty.hosts[h].unit = sound.hosts[h].unit;
    for (std::size_t s = 0; s < sound.switches.size(); ++s)
        faulty.switches[s].pod = sound.switches[s].pod;
    return faulty;
}

} // namespace

TEST_CASE("a gang on a fabric derived from faulty cables has the best place of the fabric as it was built") {
    std::mt19937_64 random(20261127);
    const auto upto = [&](std::uint64_t n) { return static_cast<std::uint32_t>(random() % n); };
    for (int round = 0; round < 300; ++round) {
        const auto pods = 1 + upto(2), units = 1 + upto(2);
        const auto hosts = 3 + upto(14 / (pods * units) - 2);
        const auto sound = made("pods=" + std::to_string(pods) + " units=" + std::to_string(units) +
                                " hosts=" + std::to_string(hosts) + " rails=8");
        auto faulty = sound;
        plant(faulty, random);
        const auto truth = as_built(faulty, sound);
        auto snapshot = Snapshot::all_free(faulty);
        for (auto& state : snapshot.states)
            if (upto(3) == 0) state = HostState::busy;
        Request request;
        request.nodes = 1 + upto(6);
        const Oracle oracle(truth, snapshot);
        const auto best = oracle.best(request);
        const auto placed = Placer(faulty).place(snapshot, request);
        INFO("round " << round << ": " << pods << " pods of " << units << " units of " << hosts << " hosts, "
                      << request.nodes << " nodes");
        REQUIRE(placed.has_value() == best.has_value());
        if (!best) continue;
        auto chosen = placed->hosts;
        std::sort(chosen.begin(), chosen.end());
        REQUIRE(oracle.score(chosen) == *best);
        REQUIRE(terms(placed->score) == *best);
    }
}
