#include "check/net/tournament.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

using namespace check::net;

namespace {

// Pairs that met, each counted once however often it met, and in `met` how often hosts were busy. 0 when one
// meets itself, or somebody who meets another.
std::size_t pairs_of(std::uint32_t hosts, std::uint64_t& met) {
    const Tournament tournament(hosts);
    std::vector<bool> seen(static_cast<std::size_t>(hosts) * hosts);
    std::size_t pairs = 0;
    for (std::uint32_t round = 0; round < tournament.rounds(); ++round)
        for (std::uint32_t host = 0; host < hosts; ++host) {
            const auto other = tournament.opponent(round, host);
            if (!other) continue;
            if (*other == host || tournament.opponent(round, *other) != host) return 0;
            ++met;
            const auto at = static_cast<std::size_t>(host) * hosts + *other;
            pairs += host < *other && !seen[at];
            seen[at] = true;
        }
    return pairs;
}

} // namespace

TEST_CASE("in a tournament each pair meets exactly once and every host is busy") {
    for (std::uint32_t hosts = 2; hosts <= 65; ++hosts) {
        CAPTURE(hosts);
        std::uint64_t met = 0;
        const auto all = static_cast<std::size_t>(hosts) * (hosts - 1) / 2;
        CHECK(pairs_of(hosts, met) == all);
        CHECK(met == 2 * all); // no pair twice
        CHECK(Tournament(hosts).rounds() == (hosts % 2 == 0 ? hosts - 1 : hosts));
        // So many meetings in so few rounds leave nobody idle, or one host of an odd number.
        CHECK(met == static_cast<std::uint64_t>(Tournament(hosts).rounds()) * (hosts - hosts % 2));
    }
}

TEST_CASE("a tournament of 4,096 hosts needs 4,095 rounds") {
    std::uint64_t met = 0;
    CHECK(Tournament(4096).rounds() == 4095);
    CHECK(pairs_of(4096, met) == 4096ull * 4095 / 2);
    CHECK(met == 4096ull * 4095);
}

TEST_CASE("the pairs of a round are who meets whom") {
    for (std::uint32_t hosts = 0; hosts <= 9; ++hosts) {
        const Tournament tournament(hosts);
        std::set<std::pair<std::uint32_t, std::uint32_t>> met;
        for (std::uint32_t round = 0; round < tournament.rounds(); ++round)
            for (const auto& [a, b] : tournament.pairs(round)) {
                CHECK(a < b);
                CHECK(tournament.opponent(round, a) == b);
                CHECK(met.emplace(a, b).second);
            }
        CHECK(met.size() == hosts * (hosts - (hosts > 0 ? 1 : 0)) / 2);
    }
}

TEST_CASE("no pairs are made of one host or of none") {
    CHECK(Tournament(0).rounds() == 0);
    CHECK(Tournament(1).rounds() == 0);
}

TEST_CASE("some rounds are different ones, those of a seed always the same, fewer the beginning of more") {
    const auto few = some_rounds(1023, 6, 7), more = some_rounds(1023, 12, 7);
    CHECK(std::set<std::uint32_t>(more.begin(), more.end()).size() == 12);
    CHECK(*std::max_element(more.begin(), more.end()) < 1023);
    CHECK(std::equal(few.begin(), few.end(), more.begin()));
    CHECK(some_rounds(1023, 6, 8) != few);
    CHECK(some_rounds(5, 9, 1) == std::vector<std::uint32_t>{0, 1, 2, 3, 4});
    CHECK(some_rounds(5, 0, 1).size() == 5);
}
