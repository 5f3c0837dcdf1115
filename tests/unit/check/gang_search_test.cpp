#include "check/gang_search.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>

using namespace check;

namespace {

// A TEST DOUBLE of a gang: a thread for each member, which passes pieces round a ring as an all-reduce does.
// Each has a clock of its own that goes on by what a piece costs at the slower of both ends, so that what is
// reached is the same on every machine; the sums are real and are looked at.
class ThreadGang {
public:
    static constexpr int rails = 4;
    static constexpr double gbps = 100; // of a rail

    explicit ThreadGang(std::size_t members) : rates_(members) {
        for (auto& one : rates_)
            one.fill(gbps);
    }
    void slow(std::size_t member, int rail, double rate) {
        rates_[member][static_cast<std::size_t>(rail)] = rate;
    }
    int runs = 0;
    std::optional<std::size_t> dead; // a member that never answers

    base::Expected<double> run(const GangRun& asked) {
        ++runs;
        const auto n = asked.members.size();
        if (dead && std::find(asked.members.begin(), asked.members.end(), *dead) != asked.members.end())
            return base::Error{base::Code::unavailable, "no answer"};
        struct Piece {
            double sum, when;
        };
        struct Inbox {
            std::mutex lock;
            std::condition_variable filled;
            std::deque<Piece> pieces;
        };
        std::vector<Inbox> inboxes(n);
        std::vector<double> clocks(n), sums(n);
        std::vector<std::thread> threads;
        for (std::size_t i = 0; i < n; ++i)
            threads.emplace_back([&, i] {
                double clock = 0, sum = static_cast<double>(asked.members[i]), passing = sum;
                for (std::size_t step = 1; step < n; ++step) {
                    const auto next = (i + 1) % n;
                    clock += cost(asked.members[i], asked.members[next], asked.rail);
                    {
                        const std::lock_guard hold(inboxes[next].lock);
                        inboxes[next].pieces.push_back({passing, clock});
                    }
                    inboxes[next].filled.notify_one();
                    std::unique_lock hold(inboxes[i].lock);
                    inboxes[i].filled.wait(hold, [&] { return !inboxes[i].pieces.empty(); });
                    const auto piece = inboxes[i].pieces.front();
                    inboxes[i].pieces.pop_front();
                    passing = piece.sum;
                    sum += passing;
                    clock = std::max(clock, piece.when);
                }
                clocks[i] = clock;
                sums[i] = sum;
            });
        for (auto& one : threads)
            one.join();
        const double right = std::accumulate(asked.members.begin(), asked.members.end(), 0.0);
        for (const auto sum : sums)
            if (sum != right) return base::Error{base::Code::internal, "a sum is wrong"};
        return static_cast<double>(n - 1) / *std::max_element(clocks.begin(), clocks.end());
    }

private:
    // Of one unit: over one rail, or shared by all, where the slowest holds up the rest.
    double cost(std::size_t from, std::size_t to, std::optional<int> rail) const {
        double slowest = 0;
        for (int r = 0; r < rails; ++r) {
            if (rail && r != *rail) continue;
            const auto at = static_cast<std::size_t>(r);
            slowest = std::max(slowest, 1 / std::min(rates_[from][at], rates_[to][at]));
        }
        return rail ? slowest : slowest / rails;
    }

    std::vector<std::array<double, rails>> rates_;
};

GangVerdict search(ThreadGang& gang, std::size_t members) {
    const GangPlan plan{members, ThreadGang::rails, 0.9 * ThreadGang::gbps * ThreadGang::rails,
                        0.9 * ThreadGang::gbps};
    return find_slow(plan, [&](const GangRun& asked) { return gang.run(asked); });
}

} // namespace

TEST_CASE("a sound gang costs one run") {
    ThreadGang gang(16);
    const auto verdict = search(gang, 16);
    CHECK(verdict.slow.empty());
    CHECK(verdict.runs == 1);
    CHECK(gang.runs == 1);
}

TEST_CASE("one slow rail of one host is found in a logarithm of runs") {
    for (const std::size_t n : {2U, 3U, 8U, 33U, 64U})
        for (const std::size_t slow : {std::size_t{0}, n / 2, n - 1}) {
            ThreadGang gang(n);
            gang.slow(slow, 2, 60);
            const auto verdict = search(gang, n);
            CAPTURE(n, slow);
            if (n == 2) {
                CHECK(verdict.all); // nobody else is there to tell which
                continue;
            }
            CHECK(verdict.slow == std::vector{slow});
            CHECK(verdict.rails_of.at(slow) == std::vector{2});
            CHECK(verdict.runs <= 2 * std::ceil(std::log2(n)) + 4 + ThreadGang::rails);
        }
}

TEST_CASE("a rail that is slow for all is the rail's fault, and nobody's") {
    ThreadGang gang(8);
    for (std::size_t i = 0; i < 8; ++i)
        gang.slow(i, 1, 50);
    const auto verdict = search(gang, 8);
    CHECK(verdict.slow.empty());
    CHECK(verdict.all);
    CHECK(verdict.rails == std::vector{1});
}

TEST_CASE("a host that never answers is found as a slow one is") {
    ThreadGang gang(16);
    gang.dead = 11;
    const auto verdict = search(gang, 16);
    CHECK(verdict.slow == std::vector<std::size_t>{11});
    CHECK(verdict.rails_of.empty());
    CHECK(verdict.error == "no answer");
}

TEST_CASE("every set of slow members is found while two are sound") {
    for (std::size_t n = 3; n <= 8; ++n)
        for (unsigned set = 0; set < 1U << n; ++set) {
            std::vector<std::size_t> slow;
            for (std::size_t i = 0; i < n; ++i)
                if ((set >> i & 1) != 0) slow.push_back(i);
            const auto verdict = find_slow({n, 0, 1, 1}, [&](const GangRun& asked) {
                REQUIRE(asked.members.size() >= 2);
                REQUIRE(std::is_sorted(asked.members.begin(), asked.members.end()));
                for (const auto one : asked.members)
                    if ((set >> one & 1) != 0) return base::Expected<double>(0.5);
                return base::Expected<double>(1.0);
            });
            CAPTURE(n, set);
            if (slow.size() + 2 <= n)
                CHECK(verdict.slow == slow);
            else
                CHECK(verdict.all);
        }
}

TEST_CASE("slow all together, and nobody alone") {
    // As a switch that cannot carry all at once.
    const auto verdict = find_slow({16, 0, 1, 1}, [&](const GangRun& asked) {
        return base::Expected<double>(asked.members.size() > 8 ? 0.5 : 1.0);
    });
    CHECK(verdict.slow.empty());
    CHECK(verdict.together);
}

TEST_CASE("a member that is slow once is not named") {
    int beside = 0;
    const auto verdict = find_slow({4, 0, 1, 1}, [&](const GangRun& run) -> base::Expected<double> {
        if (run.members.size() == 4) return 0.5;
        const bool loaded = run.members == std::vector<std::size_t>{0, 3} && ++beside == 1;
        return loaded ? 0.5 : 1;
    });
    CHECK(beside == 2);
    CHECK(verdict.slow.empty());
    CHECK(verdict.together);
}
