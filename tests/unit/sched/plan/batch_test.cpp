// Plans for several jobs: sound always, never worse than one after the other, and on tiny fabrics the best.
// Against an ILP: batch_ilp_test.py.
#include "../grid.hpp"

#include "sched/plan/batch.hpp"
#include "sched/score.hpp"
#include "unit/trials.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>

using namespace sched;
using sched_test::grid;

namespace {

Request of_nodes(std::uint32_t nodes) {
    Request request;
    request.nodes = nodes;
    return request;
}

Snapshot fragmented(const topo::Fabric& fabric, std::mt19937& random, unsigned busy_percent) {
    auto snapshot = Snapshot::all_free(fabric);
    for (auto& state : snapshot.states)
        if (random() % 100 < busy_percent) state = HostState::busy;
    return snapshot;
}

// The least sum of units + weight × pods when each job takes so many of the free hosts of each unit.
class Brute {
public:
    Brute(const PlacementIndex& index, const Snapshot& snapshot, std::vector<std::uint32_t> jobs)
        : index_(index), jobs_(std::move(jobs)), free_(index.units.size(), 0) {
        for (std::uint32_t h = 0; h < snapshot.states.size(); ++h)
            free_[index.unit_of[h]] += snapshot.states[h] == HostState::free ? 1 : 0;
        for (const auto& pod : index.pods)
            weight_ = std::max(weight_, pod.size);
    }
    std::uint64_t best() {
        place(0, 0, jobs_.front(), 0, {});
        return best_;
    }

private:
    void place(std::size_t job, std::uint32_t unit, std::uint32_t need, std::uint64_t cost,
               const std::vector<std::uint32_t>& pods) {
        if (cost >= best_) return;
        if (need == 0) {
            if (job + 1 == jobs_.size())
                best_ = cost;
            else
                place(job + 1, 0, jobs_[job + 1], cost, {});
            return;
        }
        if (unit == index_.units.size()) return;
        const auto pod = index_.units[unit].pod;
        for (auto take = std::min(need, free_[unit]); take > 0; --take) {
            auto with = pods;
            const bool fresh = std::find(pods.begin(), pods.end(), pod) == pods.end();
            if (fresh) with.push_back(pod);
            free_[unit] -= take;
            place(job, unit + 1, need - take, cost + 1 + (fresh ? weight_ : 0), with);
            free_[unit] += take;
        }
        place(job, unit + 1, need, cost, pods);
    }

    const PlacementIndex& index_;
    std::vector<std::uint32_t> jobs_, free_;
    std::uint32_t weight_ = 0;
    std::uint64_t best_ = ~std::uint64_t{0};
};

// No host twice, each job as place() would have it, and the cost is that of the placements.
void check_sound(const Placer& placer, const Snapshot& snapshot, const std::vector<Request>& jobs,
                 const plan::BatchPlan& plan) {
    REQUIRE(plan.placements.size() == jobs.size());
    REQUIRE(plan.refusals.size() == jobs.size());
    std::vector<int> taken(snapshot.states.size(), 0);
    std::uint64_t span = 0, unplaced = 0;
    for (std::size_t j = 0; j < jobs.size(); ++j) {
        CHECK(plan.placements[j].has_value() == plan.refusals[j].empty());
        if (!plan.placements[j]) {
            unplaced += jobs[j].nodes;
            continue;
        }
        const auto& placement = *plan.placements[j];
        CHECK(placement.hosts.size() >= jobs[j].nodes);
        CHECK(placement.hosts.size() <= std::max(jobs[j].nodes, jobs[j].most));
        for (const auto h : placement.hosts) {
            CHECK(++taken[h] == 1);
            CHECK(snapshot.states[h] == HostState::free);
            CHECK(std::count(jobs[j].excluded.begin(), jobs[j].excluded.end(), h) == 0);
        }
        const auto score = score_of(placer.index(), snapshot, jobs[j], placement.hosts);
        CHECK(score.units == placement.score.units);
        CHECK(score.pods == placement.score.pods);
        if (jobs[j].span == Span::unit) CHECK(score.units == 1);
        span += score.units + std::uint64_t{plan.pod_weight} * score.pods;
    }
    CHECK(plan.cost.span == span);
    CHECK(plan.cost.unplaced == unplaced);
}

} // namespace

TEST_CASE("a batch is as good as every way to share the units", "[sched][plan]") {
    std::mt19937 random(5);
    for (int round = 0; round < test::trials(80); ++round) {
        INFO("round " << round);
        const auto fabric = grid(2, 2, 5, 1);
        const Placer placer(fabric);
        const auto snapshot = fragmented(fabric, random, 30);
        auto free = static_cast<std::uint32_t>(
            std::count(snapshot.states.begin(), snapshot.states.end(), HostState::free));
        std::vector<Request> jobs;
        std::vector<std::uint32_t> sizes;
        for (int j = 0; j < 4 && free > 0; ++j) {
            const auto nodes = std::min(free, 1 + static_cast<std::uint32_t>(random() % 5));
            free -= nodes;
            sizes.push_back(nodes);
            jobs.push_back(of_nodes(nodes));
        }
        const auto plan = plan::plan_batch(placer, snapshot, jobs);
        check_sound(placer, snapshot, jobs, plan);
        CHECK(plan.cost.unplaced == 0);
        CHECK(plan.cost.span == Brute(placer.index(), snapshot, sizes).best());
    }
}

TEST_CASE("a job that would be served first gives way to one that has no choice", "[sched][plan]") {
    // Units of 4 and 3 free: the 3 fits both, the 4 one only.
    const auto fabric = grid(1, 2, 4);
    const Placer placer(fabric);
    auto snapshot = Snapshot::all_free(fabric);
    snapshot.states[7] = HostState::busy;
    auto picky = of_nodes(3), large = of_nodes(4);
    picky.required = {0};
    large.span = Span::unit;
    const auto plan = plan::plan_batch(placer, snapshot, {of_nodes(3), large});
    CHECK(plan.cost.unplaced == 0);
    CHECK(plan.placements[0]->hosts == std::vector<std::uint32_t>{4, 5, 6});
    const auto clash = plan::plan_batch(placer, snapshot, {picky, large});
    CHECK(clash.cost.unplaced == 3); // the larger one runs
    CHECK(clash.refusals[0] == "n1 is required but is busy");
}

TEST_CASE("batches are sound and deterministic, whatever they ask", "[sched][plan]") {
    std::mt19937 random(9);
    for (int round = 0; round < 40; ++round) {
        INFO("round " << round);
        const auto fabric = grid(3, 3, 8);
        const Placer placer(fabric);
        const auto snapshot = fragmented(fabric, random, 40);
        std::vector<Request> jobs;
        for (int j = 0; j < 8; ++j) {
            auto request = of_nodes(1 + static_cast<std::uint32_t>(random() % 8));
            if (random() % 4 == 0) request.span = Span::unit;
            if (random() % 4 == 0) request.most = request.nodes + 2;
            if (random() % 4 == 0) request.excluded = {static_cast<std::uint32_t>(random() % 72)};
            if (random() % 4 == 0 && request.nodes % 2 == 0) request.segment = 2;
            if (request.segment == 2) request.most = 0;
            jobs.push_back(request);
        }
        const plan::BatchEffort effort{static_cast<std::uint64_t>(round), 200};
        const auto plan = plan::plan_batch(placer, snapshot, jobs, effort);
        check_sound(placer, snapshot, jobs, plan);
        const auto again = plan::plan_batch(placer, snapshot, jobs, effort);
        CHECK(again.cost == plan.cost);
        for (std::size_t j = 0; j < jobs.size(); ++j)
            if (plan.placements[j]) CHECK(again.placements[j]->hosts == plan.placements[j]->hosts);
    }
}

TEST_CASE("no jobs, one job, and jobs that cannot run at all", "[sched][plan]") {
    const auto fabric = grid(1, 2, 4);
    const Placer placer(fabric);
    const auto snapshot = Snapshot::all_free(fabric);
    CHECK(plan::plan_batch(placer, snapshot, {}).cost == plan::BatchCost{});
    const auto one = plan::plan_batch(placer, snapshot, {of_nodes(3)});
    CHECK(one.placements[0]->hosts == placer.place(snapshot, of_nodes(3))->hosts);
    const auto none = plan::plan_batch(placer, snapshot, {of_nodes(9), of_nodes(0), of_nodes(2)});
    CHECK(!none.placements[0]);
    CHECK(!none.placements[1]);
    CHECK(none.placements[2]);
    CHECK(none.cost.unplaced == 9);
}
