#include "sched/plan/batch.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace sched::plan {
namespace {

constexpr std::size_t most_taken_out = 4;          // jobs per round
constexpr double first_heat = 2, last_heat = 0.05; // in units of BatchCost::span
constexpr std::uint64_t settled = 400; // rounds after which no more improvement in fragmentation is expected

using Order = std::vector<std::size_t>;

class Planner {
public:
    Planner(const Placer& placer, const Snapshot& snapshot, const std::vector<Request>& jobs,
            const BatchEffort& effort)
        : placer_(placer), index_(placer.index()), before_(snapshot), jobs_(jobs), effort_(effort),
          random_(effort.seed) {
        for (const auto& pod : index_.pods)
            plan_.pod_weight = std::max(plan_.pod_weight, pod.size);
        free_before_ = free_by_unit(before_);
    }

    BatchPlan run() {
        for (const auto& job : jobs_) {
            auto placement = placer_.place(before_, job);
            plan_.alone.push_back(placement ? std::optional(placement->score) : std::nullopt);
            if (placement) alone_ += plan_.span_of(placement->score);
            alone_units_.push_back(placement ? units_of(*placement) : std::vector<std::uint32_t>());
            if (!placement) hopeless_ += job.nodes;
        }
        begin();
        improve();
        plan_.placements = std::move(best_);
        plan_.cost = best_cost_;
        plan_.refusals.resize(jobs_.size());
        const auto after = snapshot_with(plan_.placements);
        for (std::size_t j = 0; j < jobs_.size(); ++j)
            if (!plan_.placements[j])
                if (const auto refused = placer_.place(after, jobs_[j]); !refused)
                    plan_.refusals[j] = refused.error().text;
        return std::move(plan_);
    }

private:
    using Placements = std::vector<std::optional<Placement>>;

    std::uint64_t below(std::uint64_t end) { return random_() % end; }
    double fraction() { return static_cast<double>(random_() >> 11) * 0x1p-53; }

    std::vector<std::uint32_t> units_of(const Placement& placement) const {
        std::vector<std::uint32_t> units;
        for (const auto h : placement.hosts)
            units.push_back(index_.unit_of[h]);
        std::sort(units.begin(), units.end());
        units.erase(std::unique(units.begin(), units.end()), units.end());
        return units;
    }
    std::vector<std::uint32_t> free_by_unit(const Snapshot& snapshot) const {
        std::vector<std::uint32_t> free(index_.units.size(), 0);
        for (std::size_t h = 0; h < snapshot.states.size(); ++h)
            if (snapshot.states[h] == HostState::free && (snapshot.health.empty() || snapshot.health[h] > 0))
                ++free[index_.unit_of[h]];
        return free;
    }

    void give(Snapshot& snapshot, const Placement& placement) const {
        for (const auto h : placement.hosts)
            snapshot.states[h] = HostState::busy;
    }
    void give_back(Snapshot& snapshot, const Placement& placement) const {
        for (const auto h : placement.hosts)
            snapshot.states[h] = before_.states[h];
    }
    Snapshot snapshot_with(const Placements& placements) const {
        auto snapshot = before_;
        for (const auto& placement : placements)
            if (placement) give(snapshot, *placement);
        return snapshot;
    }

    // Places a job in the free hosts, occasionally excluding one of the units that have room.
    void place_one(Snapshot& snapshot, Placements& placements, std::size_t job, bool vary) {
        std::optional<std::uint32_t> without;
        if (vary && below(3) == 0 && !alone_units_[job].empty()) {
            const auto& units =
                below(2) == 0 && placements[job] ? units_of(*placements[job]) : alone_units_[job];
            without = units[below(units.size())];
        }
        placements[job].reset();
        if (without) {
            auto request = jobs_[job];
            const auto& unit = index_.units[*without];
            for (auto i = unit.first; i < unit.first + unit.size; ++i)
                request.excluded.push_back(index_.order[i]);
            if (auto placement = placer_.place(snapshot, request)) placements[job] = *std::move(placement);
        }
        if (!placements[job])
            if (auto placement = placer_.place(snapshot, jobs_[job])) placements[job] = *std::move(placement);
        if (placements[job]) give(snapshot, *placements[job]);
    }

    BatchCost cost_of(const Placements& placements, const Snapshot& after) const {
        BatchCost cost;
        std::vector<std::uint8_t> touched(index_.units.size(), 0);
        for (std::size_t j = 0; j < placements.size(); ++j) {
            if (!placements[j]) {
                cost.unplaced += jobs_[j].nodes;
                continue;
            }
            const auto& score = placements[j]->score;
            cost.span += plan_.span_of(score);
            cost.misaligned += score.misaligned_rails;
            cost.avoidance += static_cast<std::uint64_t>(std::llround(score.avoidance * 1000));
            for (const auto h : placements[j]->hosts)
                touched[index_.unit_of[h]] = 1;
        }
        const auto free = free_by_unit(after);
        for (std::size_t u = 0; u < free.size(); ++u) {
            if (touched[u] == 0) continue;
            cost.left_over += free[u];
            if (free_before_[u] == index_.units[u].size && free[u] > 0) ++cost.broken;
        }
        return cost;
    }

    void keep_if_best(const Placements& placements, const BatchCost& cost) {
        if (!best_.empty() && cost >= best_cost_) return;
        best_ = placements;
        best_cost_ = cost;
    }

    // One after the other: largest first, smallest first, in the given order.
    void begin() {
        Order standing(jobs_.size());
        std::iota(standing.begin(), standing.end(), std::size_t{0});
        auto descending = standing, ascending = standing;
        std::stable_sort(descending.begin(), descending.end(),
                         [&](auto a, auto b) { return jobs_[a].nodes > jobs_[b].nodes; });
        std::stable_sort(ascending.begin(), ascending.end(),
                         [&](auto a, auto b) { return jobs_[a].nodes < jobs_[b].nodes; });
        for (const auto& order : {descending, ascending, standing}) {
            Placements placements(jobs_.size());
            auto snapshot = before_;
            for (const auto job : order)
                place_one(snapshot, placements, job, false);
            keep_if_best(placements, cost_of(placements, snapshot));
        }
    }

    // Jobs to remove together: one that could do better, or any; those in its way; a few more.
    Order choose_jobs(const Placements& placements) {
        Order unhappy, chosen;
        for (std::size_t j = 0; j < jobs_.size(); ++j)
            if (plan_.alone[j] &&
                (!placements[j] || plan_.span_of(placements[j]->score) > plan_.span_of(*plan_.alone[j])))
                unhappy.push_back(j);
        const auto first =
            !unhappy.empty() && below(4) != 0 ? unhappy[below(unhappy.size())] : below(jobs_.size());
        chosen.push_back(first);
        Order in_the_way;
        for (std::size_t j = 0; j < jobs_.size(); ++j) {
            if (j == first || !placements[j]) continue;
            const auto mine = units_of(*placements[j]);
            const bool meets = std::any_of(mine.begin(), mine.end(), [&](auto unit) {
                return std::binary_search(alone_units_[first].begin(), alone_units_[first].end(), unit);
            });
            if (meets) in_the_way.push_back(j);
        }
        const auto count = 1 + below(std::min(most_taken_out, jobs_.size()));
        while (chosen.size() < count) {
            const bool near = !in_the_way.empty() && below(2) == 0;
            const auto next = near ? in_the_way[below(in_the_way.size())] : below(jobs_.size());
            if (std::find(chosen.begin(), chosen.end(), next) == chosen.end())
                chosen.push_back(next);
            else if (below(4) == 0)
                break;
        }
        for (std::size_t i = chosen.size(); i > 1; --i)
            std::swap(chosen[i - 1], chosen[below(i)]);
        return chosen;
    }

    // Whether the annealing accepts a change for the worse.
    bool worth(const BatchCost& now, const BatchCost& next, double heat) {
        if (next <= now) return true;
        if (next.unplaced > now.unplaced) return false;
        const auto worse = static_cast<double>(next.span) - static_cast<double>(now.span);
        return fraction() < std::exp(-std::max(worse, 0.2) / heat);
    }

    void improve() {
        if (jobs_.size() < 2) return;
        auto placements = best_;
        auto cost = best_cost_;
        auto snapshot = snapshot_with(placements);
        std::uint64_t since = 0;
        for (; plan_.rounds < effort_.rounds; ++plan_.rounds) {
            const bool content = best_cost_.unplaced == hopeless_ && best_cost_.span <= alone_;
            if (content && since > settled) break;
            const double done = static_cast<double>(plan_.rounds) / static_cast<double>(effort_.rounds);
            const double heat = first_heat * std::pow(last_heat / first_heat, done);
            auto next = placements;
            auto next_snapshot = snapshot;
            const auto chosen = choose_jobs(placements);
            for (const auto job : chosen)
                if (next[job]) give_back(next_snapshot, *next[job]);
            for (const auto job : chosen)
                place_one(next_snapshot, next, job, true);
            for (const auto job : unplaced(next))
                place_one(next_snapshot, next, job, false);
            const auto next_cost = cost_of(next, next_snapshot);
            ++since;
            if (!worth(cost, next_cost, heat)) continue;
            if (next_cost < best_cost_) since = 0;
            keep_if_best(next, next_cost);
            placements = std::move(next);
            snapshot = std::move(next_snapshot);
            cost = next_cost;
        }
    }

    static Order unplaced(const Placements& placements) {
        Order jobs;
        for (std::size_t j = 0; j < placements.size(); ++j)
            if (!placements[j]) jobs.push_back(j);
        return jobs;
    }

    const Placer& placer_;
    const PlacementIndex& index_;
    const Snapshot& before_;
    const std::vector<Request>& jobs_;
    const BatchEffort effort_;
    std::mt19937_64 random_;
    std::vector<std::uint32_t> free_before_;              // by unit
    std::vector<std::vector<std::uint32_t>> alone_units_; // by job, ascending
    std::uint64_t alone_ = 0;                             // sum of the spans if each had the fabric to itself
    std::uint64_t hopeless_ = 0;                          // nodes of jobs that do not fit even alone
    Placements best_;
    BatchCost best_cost_;
    BatchPlan plan_;
};

} // namespace

BatchPlan plan_batch(const Placer& placer, const Snapshot& snapshot, const std::vector<Request>& jobs,
                     const BatchEffort& effort) {
    return Planner(placer, snapshot, jobs, effort).run();
}

} // namespace sched::plan
