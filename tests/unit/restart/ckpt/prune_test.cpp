#include "restart/ckpt/prune.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>

using namespace restart::ckpt;

namespace {

// Newest first, as they are listed.
std::vector<Id> listed(std::vector<Id> ids) {
    std::sort(ids.begin(), ids.end(), std::greater<>());
    return ids;
}

Pruning choose_whole(const std::vector<Id>& ids, const Id& newcomer, std::uint32_t base, unsigned keep) {
    return choose(listed(ids), newcomer, base, keep, [](const Id&) { return true; });
}

} // namespace

TEST_CASE("the newcomer and the newest behind it are kept") {
    const auto chosen = choose_whole({{0, 1}, {0, 2}, {0, 3}, {0, 4}}, {0, 4}, 0, 2);
    CHECK(chosen.remove == std::vector<Id>{{0, 1}, {0, 2}});
    CHECK(chosen.ahead.empty());
    CHECK(choose_whole({{0, 3}, {0, 4}}, {0, 4}, 0, 1).remove == std::vector<Id>{{0, 3}});
    CHECK(choose_whole({{0, 4}}, {0, 4}, 0, 1).remove.empty());
}

TEST_CASE("what has more steps, is another job's or of a later incarnation is never chosen") {
    const std::vector<Id> ids{{1, 7}, {2, 100}, {3, 90}, {3, 5}, {4, 1}};
    const auto chosen = choose_whole(ids, {3, 5}, 2, 1);
    CHECK(chosen.remove.empty());
    CHECK(chosen.ahead == std::vector<Id>{{2, 100}, {3, 90}});
    CHECK(chosen.others == std::vector<Id>{{1, 7}});
    CHECK(choose_whole(ids, {3, 90}, 2, 1).remove == std::vector<Id>{{3, 5}});
}

TEST_CASE("damaged ones do not count, and go only behind enough whole ones") {
    const auto ids = listed({{0, 1}, {0, 2}, {0, 3}, {0, 4}});
    const auto whole = [](const Id& id) { return id.step != 3; };
    CHECK(choose(ids, {0, 4}, 0, 2, whole).remove == std::vector<Id>{{0, 1}});
    CHECK(choose(ids, {0, 4}, 0, 1, whole).remove == std::vector<Id>{{0, 1}, {0, 2}, {0, 3}});
}

// Lives of jobs that resume, fail to resume, follow one another, and commit in any order.
TEST_CASE("whatever jobs do, the furthest of each job stays and the number kept has a bound") {
    std::mt19937 random(7);
    const auto below = [&](std::uint64_t n) { return random() % n; };
    for (int round = 0; round < 2000; ++round) {
        std::vector<Id> ids;
        std::uint32_t epoch = 0, base = 0;
        const auto keep = static_cast<unsigned>(1 + below(3));
        std::uint64_t step = 0;
        for (int life = 0; life < 6; ++life) {
            for (auto commits = below(6); commits > 0; --commits) {
                const Id newcomer{epoch, step += 1 + below(20)};
                if (std::find(ids.begin(), ids.end(), newcomer) != ids.end()) continue;
                ids.push_back(newcomer);
                const auto before = ids;
                for (const Id& gone : choose_whole(ids, newcomer, base, keep).remove) {
                    CHECK(gone.step <= newcomer.step);
                    CHECK(gone.epoch >= base);
                    CHECK(gone < newcomer);
                    std::erase(ids, gone);
                }
                const auto reached = [](const std::vector<Id>& of) {
                    return std::max_element(of.begin(), of.end(),
                                            [](auto& a, auto& b) { return a.step < b.step; })
                        ->step;
                };
                CHECK(reached(ids) == reached(before));
            }
            ++epoch;
            if (below(3) == 0) base = epoch;     // another job
            if (below(2) == 0) step = below(30); // did not resume, or from somewhere
        }
        CHECK(ids.size() <= keep * 6);
    }
}
