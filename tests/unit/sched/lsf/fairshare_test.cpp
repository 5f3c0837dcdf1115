// Whose turn is next in a queue that users share.

#include "sched/lsf/fairshare.hpp"

#include <catch2/catch.hpp>

#include <random>

using sched::lsf::fair_order;
using sched::lsf::ShareAccount;
using sched::lsf::ShareGang;
using sched::lsf::Shares;

namespace {

ShareAccount account(std::vector<std::string> path, double shares, double priority,
                     std::uint64_t started = 0) {
    return {std::move(path), shares, priority, started};
}

std::vector<std::size_t> order(const Shares& shares, const std::vector<ShareGang>& gangs) {
    std::vector<std::size_t> found;
    for (const auto& turn : fair_order(shares, gangs))
        found.push_back(turn.gang);
    return found;
}

using Order = std::vector<std::size_t>;

} // namespace

TEST_CASE("the user of the larger priority comes first, whatever the list says") {
    const Shares shares{{account({"alice"}, 1, 0.05), account({"bob"}, 1, 0.333)}, {}, 3};
    CHECK(order(shares, {{"alice", 8}, {"bob", 8}}) == Order{1, 0});
    const auto turns = fair_order(shares, {{"alice", 8}, {"bob", 8}});
    CHECK(turns.at(0).priority == 0.333);
    CHECK(turns.at(1).priority == 0.05);
}

TEST_CASE("equal priorities leave the order of the list") {
    const Shares shares{{account({"alice"}, 1, 0.333), account({"bob"}, 1, 0.333)}, {}, 3};
    CHECK(order(shares, {{"bob", 8}, {"alice", 8}}) == Order{0, 1});
    CHECK(order(shares, {{"alice", 8}, {"bob", 8}}) == Order{0, 1});
    CHECK(order(shares, {}).empty());
}

TEST_CASE("a user with many gangs does not have all of them before another's first") {
    const Shares shares{{account({"alice"}, 1, 0.333), account({"bob"}, 1, 0.333)}, {}, 3};
    CHECK(order(shares, {{"alice", 8}, {"alice", 8}, {"alice", 8}, {"bob", 8}, {"bob", 8}}) ==
          Order{0, 3, 1, 4, 2});
    // One with twice the shares has two for each of the other's.
    const Shares unequal{{account({"alice"}, 2, 0.667), account({"bob"}, 1, 0.333)}, {}, 3};
    CHECK(order(unequal, {{"alice", 8}, {"alice", 8}, {"alice", 8}, {"alice", 8}, {"bob", 8}, {"bob", 8}}) ==
          Order{0, 4, 1, 2, 5, 3});
}

TEST_CASE("what a user was given since the shares were read counts as his") {
    const Shares shares{{account({"alice"}, 1, 0.333), account({"bob"}, 1, 0.3)}, {}, 3};
    CHECK(order(shares, {{"alice", 8}, {"bob", 8}}) == Order{0, 1});
    CHECK(order(shares, {{"alice", 8}, {"alice", 8, true}, {"bob", 8}}) == Order{2, 0});
    // What the reading counted is in the priority already.
    const Shares later{{account({"alice"}, 1, 0.333, 8), account({"bob"}, 1, 0.3)}, {}, 3};
    CHECK(order(later, {{"alice", 8}, {"alice", 8, true}, {"bob", 8}}) == Order{0, 2});
    // An engine that does not say what it counted is taken to have counted all.
    auto silent = shares;
    for (auto& one : silent.accounts)
        one.started.reset();
    CHECK(order(silent, {{"alice", 8}, {"alice", 8, true}, {"bob", 8}}) == Order{0, 2});
}

TEST_CASE("groups are compared first, their users only with each other") {
    const Shares shares{{account({"physics"}, 1, 0.1), account({"biology"}, 1, 0.333),
                         account({"physics", "alice"}, 10, 3.333), account({"biology", "bob"}, 1, 0.05),
                         account({"biology", "carol"}, 1, 0.1)},
                        {},
                        3};
    CHECK(order(shares, {{"alice", 8}, {"bob", 8}, {"carol", 8}}) == Order{2, 0, 1});
    // What a member starts lowers the group: 1 / (3 + 3 * 8) is below 0.1.
    CHECK(order(shares, {{"carol", 8}, {"carol", 8}, {"alice", 8}}) == Order{0, 2, 1});
}

TEST_CASE("a user of several groups is charged where the priority is largest") {
    const Shares shares{{account({"poor"}, 1, 0.01), account({"rich"}, 1, 0.5),
                         account({"poor", "alice"}, 9, 3), account({"rich", "alice"}, 1, 0.333),
                         account({"bob"}, 1, 0.3)},
                        {},
                        3};
    CHECK(order(shares, {{"bob", 8}, {"alice", 8}}) == Order{1, 0});
}

TEST_CASE("users without an account of their own") {
    SECTION("share their group's, in the order of the list") {
        const Shares shares{
            {account({"team"}, 4, 1.333), account({"bob"}, 1, 0.333)}, {{"team", {"alice", "carol"}}}, 3};
        CHECK(order(shares, {{"bob", 8}, {"carol", 8}, {"alice", 8}, {"carol", 8}}) == Order{1, 0, 2, 3});
    }
    SECTION("have the default's, each his own") {
        const Shares shares{{account({"default"}, 1, 0.2), account({"bob"}, 1, 0.1)}, {}, 3};
        CHECK(order(shares, {{"alice", 8}, {"alice", 8}, {"carol", 8}, {"bob", 8}}) == Order{0, 2, 3, 1});
    }
    SECTION("are one account together as others") {
        const Shares shares{{account({"others"}, 1, 0.2), account({"bob"}, 1, 0.1)}, {}, 3};
        CHECK(order(shares, {{"alice", 8}, {"carol", 8}, {"bob", 8}}) == Order{0, 2, 1});
    }
    SECTION("have one share that is not used") {
        const Shares shares{{account({"bob"}, 1, 0.332), account({"eve"}, 2, 0.334)}, {}, 3};
        CHECK(order(shares, {{"bob", 8}, {"alice", 8}, {"eve", 8}}) == Order{2, 1, 0});
    }
    SECTION("have the default of a group that has everybody") {
        const Shares shares{{account({"team"}, 4, 1), account({"team", "default"}, 1, 0.333),
                             account({"team", "bob"}, 1, 0.1)},
                            {{"team", {"all"}}},
                            3};
        CHECK(order(shares, {{"bob", 8}, {"alice", 8}, {"dave", 8}}) == Order{1, 2, 0});
    }
}

TEST_CASE("an account without shares comes last, and priorities that are shown as 0 are told apart by use") {
    const Shares shares{{account({"none"}, 0, 0), account({"alice"}, 1, 0), account({"bob"}, 1, 0)}, {}, 3};
    CHECK(order(shares, {{"none", 8}, {"alice", 800}, {"alice", 800}, {"bob", 800}}) == Order{1, 3, 2, 0});
    const Shares used{{account({"none"}, 0, 0), account({"alice"}, 1, 0.001)}, {}, 3};
    CHECK(order(used, {{"none", 8}, {"alice", 800}}) == Order{1, 0});
}

TEST_CASE("each gang has one turn, and each turn is that of the largest priority at that moment") {
    std::mt19937 random(20261123);
    const auto upto = [&](std::size_t n) { return random() % n; };
    for (int round = 0; round < 200; ++round) {
        Shares shares;
        const auto users = 1 + upto(5);
        std::vector<double> load(users);
        for (std::size_t u = 0; u < users; ++u) {
            const auto given = static_cast<double>(1 + upto(10));
            const auto priority = static_cast<double>(1 + upto(1000)) / 1000;
            shares.accounts.push_back(account({"u" + std::to_string(u)}, given, priority));
            load[u] = given / priority;
        }
        std::vector<ShareGang> gangs;
        for (auto n = upto(20); n > 0; --n)
            gangs.push_back({"u" + std::to_string(upto(users)), 1 + upto(16), upto(4) == 0});
        const auto user_of = [&](std::size_t gang) {
            return static_cast<std::size_t>(gangs[gang].user[1] - '0');
        };
        for (std::size_t g = 0; g < gangs.size(); ++g)
            if (gangs[g].started) load[user_of(g)] += 3 * static_cast<double>(gangs[g].slots);
        Order expected;
        std::vector<bool> taken(gangs.size());
        for (;;) {
            auto best = gangs.size();
            for (std::size_t g = 0; g < gangs.size(); ++g) {
                if (taken[g] || gangs[g].started) continue;
                const auto value = [&](std::size_t of) {
                    return shares.accounts[user_of(of)].shares / load[user_of(of)];
                };
                if (best == gangs.size() || value(g) > value(best) * (1 + 1e-12)) best = g;
            }
            if (best == gangs.size()) break;
            taken[best] = true;
            load[user_of(best)] += 3 * static_cast<double>(gangs[best].slots);
            expected.push_back(best);
        }
        CHECK(order(shares, gangs) == expected);
    }
}
