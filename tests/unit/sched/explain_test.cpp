#include "grid.hpp"
#include "oracle.hpp"
#include "sched/explain.hpp"

#include <catch2/catch.hpp>

#include <random>
#include <set>

using namespace sched;
using namespace sched_test;
using Hosts = std::vector<std::uint32_t>;

namespace {

// A fabric whose rails do not all meet: some HCAs missing or in a foreign leaf.
topo::Fabric rough(std::mt19937& random, int pods, int units, int hosts) {
    auto fabric = grid(pods, units, hosts);
    for (auto& host : fabric.hosts)
        for (auto& leaf : host.leaves) {
            if (random() % 12 == 0)
                leaf = topo::none;
            else if (random() % 12 == 0)
                leaf = static_cast<int>(random() % fabric.switches.size());
        }
    return fabric;
}

Snapshot some_busy(std::mt19937& random, std::size_t hosts) {
    Snapshot snapshot;
    for (std::size_t h = 0; h < hosts; ++h) {
        snapshot.states.push_back(random() % 3 == 0 ? HostState::busy : HostState::free);
        snapshot.health.push_back(random() % 4 == 0 ? 0.5F : 1.0F);
    }
    return snapshot;
}

// The best score of all sets of that many free hosts that lack one of these units at least.
std::optional<Terms> best_without(const topo::Fabric& fabric, const Snapshot& snapshot, const Hosts& chosen) {
    const Oracle oracle(fabric, snapshot);
    std::set<int> units;
    for (const auto h : chosen)
        units.insert(fabric.hosts[h].unit);
    std::optional<Terms> best;
    for (std::uint32_t set = 0; set < 1U << fabric.hosts.size(); ++set) {
        if (static_cast<std::size_t>(__builtin_popcount(set)) != chosen.size()) continue;
        Hosts hosts;
        std::set<int> here;
        bool free = true;
        for (std::uint32_t h = 0; h < fabric.hosts.size(); ++h) {
            if ((set >> h & 1) == 0) continue;
            hosts.push_back(h);
            here.insert(fabric.hosts[h].unit);
            free = free && snapshot.states[h] == HostState::free;
        }
        if (!free || std::includes(here.begin(), here.end(), units.begin(), units.end())) continue;
        const auto score = oracle.score(hosts);
        if (!best || score < *best) best = score;
    }
    return best;
}

Snapshot freed(Snapshot snapshot, const Hosts& hosts) {
    for (const auto h : hosts)
        snapshot.states[h] = HostState::free;
    return snapshot;
}

} // namespace

TEST_CASE("the runner-up is the best of all placements without one of the units chosen") {
    std::mt19937 random(9);
    int with = 0, needed = 0;
    for (int round = 0; round < 300; ++round) {
        const auto fabric = round % 2 == 0 ? grid(2, 2, 3) : rough(random, 2, 2, 3);
        const Placer placer(fabric);
        const auto snapshot = some_busy(random, fabric.hosts.size());
        Request request;
        request.nodes = 1 + random() % 8;
        const auto placement = placer.place(snapshot, request);
        if (!placement) continue;
        INFO("round " << round);
        const auto explanation =
            explain_placement(fabric, placer, snapshot, request, placement->hosts, explaining(placer));
        const auto best = best_without(fabric, snapshot, placement->hosts);
        REQUIRE(explanation.other.has_value() == best.has_value());
        CHECK(terms(explanation.chosen.score) == terms(placement->score));
        if (!best) {
            ++needed;
            CHECK(explanation.sentence.find("every placement needs") == 0);
            continue;
        }
        ++with;
        CHECK(terms(explanation.other->score) == *best);
        CHECK(explanation.decided == first_difference(explanation.chosen, *explanation.other));
        CHECK_FALSE(better(*explanation.other, explanation.chosen));
        CHECK_FALSE(explanation.other_is_better);
        REQUIRE(explanation.without.size() == 1);
        for (const auto h : explanation.other->hosts)
            CHECK(placer.index().unit_of[h] != explanation.without.front());
    }
    CHECK(with > 50);
    CHECK(needed > 10);
}

TEST_CASE("an allocation is compared with what would be chosen now, its own hosts counted free") {
    std::mt19937 random(10);
    int improvable = 0, best_there_is = 0;
    for (int round = 0; round < 300; ++round) {
        const auto fabric = grid(2, 2, 3);
        const Placer placer(fabric);
        const auto snapshot = some_busy(random, fabric.hosts.size());
        Hosts hosts;
        for (std::uint32_t h = 0; h < fabric.hosts.size(); ++h)
            if (random() % 4 == 0) hosts.push_back(h);
        if (hosts.empty()) continue;
        Request request;
        request.nodes = static_cast<std::uint32_t>(hosts.size());
        request.span = random() % 2 == 0 ? Span::unit : Span::any; // not what these hosts may have
        const auto all = freed(snapshot, hosts);
        const Oracle oracle(fabric, all);
        const auto explanation =
            explain_allocation(fabric, placer, snapshot, request, hosts, explaining(placer));
        auto any = request;
        any.span = Span::any;
        INFO("round " << round);
        CHECK(terms(explanation.chosen.score) == oracle.score(hosts));
        CHECK(explanation.other_is_better == (*oracle.best(any) < oracle.score(hosts)));
        if (explanation.other_is_better) {
            ++improvable;
            CHECK(terms(explanation.other->score) == *oracle.best(any));
            CHECK(explanation.sentence.find(" would be better now, for ") != std::string::npos);
        } else {
            ++best_there_is;
            CHECK(explanation.other.has_value() == best_without(fabric, all, hosts).has_value());
        }
    }
    CHECK(improvable > 50);
    CHECK(best_there_is > 10);
}

TEST_CASE("what decided is said in a sentence") {
    const auto fabric = grid(1, 3, 4);
    const Placer placer(fabric);
    auto snapshot = Snapshot::all_free(fabric);
    Request request;
    request.nodes = 2;
    snapshot.states[0] = HostState::busy;
    auto explanation = explain_placement(fabric, placer, snapshot, request,
                                         placer.place(snapshot, request)->hosts, explaining(placer));
    CHECK(explanation.sentence ==
          "better than n[5-6], the best without su1, for fewer wholly free units broken "
          "up (0, there 1)");
    CHECK(explanation.decided == Term::broken_units);
    REQUIRE(explanation.terms.size() == 7);
    CHECK(explanation.terms[0].text == "all nodes in one unit");
    CHECK(explanation.terms[1].text == "in pod1");
    CHECK(explanation.terms[2].text == "su1 2");
    CHECK(explanation.terms[3].text == "2 of 2 rails meet within the unit");
    CHECK(explanation.terms[5].text == "no wholly free unit is broken up");
    CHECK(value_text(explanation.chosen, Term::left_over) == "1");

    snapshot.states[0] = HostState::free;
    explanation = explain_placement(fabric, placer, snapshot, request, {0, 1}, explaining(placer));
    CHECK(explanation.sentence == "as good as n[5-6], the best without su1");
    CHECK_FALSE(explanation.decided);

    request.nodes = 12;
    explanation = explain_placement(fabric, placer, snapshot, request, placer.place(snapshot, request)->hosts,
                                    explaining(placer));
    CHECK(explanation.sentence == "every placement needs all of these units");
    request.nodes = 2;
    request.required = {4};
    explanation = explain_placement(fabric, placer, snapshot, request, {4, 5}, explaining(placer));
    CHECK(explanation.sentence == "every placement needs this unit");

    explanation = explain_allocation(fabric, placer, snapshot, {}, {0, 4}, explaining(placer));
    CHECK(explanation.sentence ==
          "n[1-2] would be better now, for the smaller part (one unit, there one pod)");
}

TEST_CASE("of the hosts that a job had before those are counted that it keeps") {
    const auto fabric = grid(1, 2, 4);
    const Placer placer(fabric);
    const auto snapshot = Snapshot::all_free(fabric);
    Request request;
    request.nodes = 4;
    request.had = {4, 5, 6};
    const auto placement = placer.place(snapshot, request);
    REQUIRE(placement);
    const auto explanation =
        explain_placement(fabric, placer, snapshot, request, placement->hosts, explaining(placer));
    CHECK(explanation.decided == Term::moved);
    CHECK(explanation.sentence ==
          "better than n[1-4], the best without su2, for more of the nodes it had before (3, there 0)");
}

TEST_CASE("a gang of more units than are tried has a runner-up all the same") {
    const auto fabric = grid(4, 40, 1);
    const Placer placer(fabric);
    const auto snapshot = Snapshot::all_free(fabric);
    Request request;
    request.nodes = 120;
    const auto placement = placer.place(snapshot, request);
    const auto explanation =
        explain_placement(fabric, placer, snapshot, request, placement->hosts, explaining(placer));
    REQUIRE(explanation.other);
    CHECK(explanation.other->hosts.size() == 120);
}
