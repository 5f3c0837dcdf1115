#include "sched/preempt.hpp"

#include "sched/search/found.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

namespace sched {
namespace {

constexpr std::size_t most_enumerated = 16;

// The hosts as they are after some of the candidates have ended.
class Departures {
public:
    Departures(const Placer& placer, const Snapshot& snapshot, Request request,
               const std::vector<Preemptee>& candidates, Budget& budget)
        : placer_(placer), snapshot_(snapshot), request_(std::move(request)), candidates_(candidates),
          budget_(budget), freed_(request_.shared ? HostState::mixed : HostState::free),
          holders_(snapshot.states.size(), 0), gone_(candidates.size(), 0) {
        for (const auto& job : candidates)
            for (const auto host : job.hosts)
                ++holders_[host];
    }

    bool gone(std::uint32_t job) const { return gone_[job] != 0; }
    bool shares_hosts() const {
        return std::any_of(holders_.begin(), holders_.end(), [](auto count) { return count > 1; });
    }

    void set(std::uint32_t job, bool gone) {
        if ((gone_[job] != 0) == gone) return;
        gone_[job] = gone ? 1 : 0;
        for (const auto host : candidates_[job].hosts) {
            holders_[host] = gone ? holders_[host] - 1 : holders_[host] + 1;
            snapshot_.states[host] = holders_[host] == 0 ? freed_ : HostState::busy;
        }
    }

    // Whether the gang fits; also false when the budget is spent.
    bool fits() { return budget_.spend(4 * snapshot_.states.size()) && surely_fits(); }
    bool surely_fits() const { return placer_.fits(snapshot_, request_).has_value(); }

    std::vector<std::uint32_t> all_gone() const {
        std::vector<std::uint32_t> jobs;
        for (std::uint32_t job = 0; job < gone_.size(); ++job)
            if (gone_[job] != 0) jobs.push_back(job);
        return jobs;
    }
    const Snapshot& snapshot() const { return snapshot_; }
    const Request& request() const { return request_; }

private:
    const Placer& placer_;
    Snapshot snapshot_;
    const Request request_;
    const std::vector<Preemptee>& candidates_;
    Budget& budget_;
    const HostState freed_;
    std::vector<std::uint32_t> holders_; // by host: candidates on it that remain
    std::vector<std::uint8_t> gone_;
};

struct Chosen {
    std::vector<std::uint32_t> jobs; // ascending
    std::uint64_t risk = 0;
};

class Search {
public:
    Search(const Placer& placer, const std::vector<Preemptee>& candidates, Departures& departures,
           Budget& budget)
        : index_(placer.index()), candidates_(candidates), departures_(departures), budget_(budget) {}

    // The best subset of these jobs, which together make room.
    Chosen run(const std::vector<std::uint32_t>& jobs) {
        const auto& request = departures_.request();
        const bool additive = request.segment <= 1 && request.required.empty() && request.excluded.empty() &&
                              request.spare_floor == 0 && !departures_.shares_hosts();
        if (additive)
            if (auto covered = cover(jobs)) return *std::move(covered);
        by_giving_back(jobs, [&](std::uint32_t job) { return double(candidates_[job].risk); });
        by_giving_back(jobs, [&](std::uint32_t job) {
            return double(candidates_[job].risk) / double(candidates_[job].hosts.size());
        });
        exact_ = false;
        if (jobs.size() <= most_enumerated) enumerate(jobs);
        return *std::move(best_);
    }
    bool exact() const { return exact_; }

private:
    std::uint64_t risk_of(const std::vector<std::uint32_t>& jobs) const {
        return std::accumulate(jobs.begin(), jobs.end(), std::uint64_t{0},
                               [&](auto sum, auto job) { return sum + candidates_[job].risk; });
    }
    void keep_better(std::vector<std::uint32_t> jobs) {
        const auto risk = risk_of(jobs);
        if (best_ && std::pair(best_->risk, best_->jobs.size()) <= std::pair(risk, jobs.size())) return;
        best_ = Chosen{std::move(jobs), risk};
    }

    // The most expensive first; of equals the one preempted last by the manager.
    void by_giving_back(std::vector<std::uint32_t> jobs, auto price) {
        for (const auto job : jobs)
            departures_.set(job, true);
        std::stable_sort(jobs.rbegin(), jobs.rend(), [&](auto a, auto b) { return price(a) < price(b); });
        for (const auto job : jobs) {
            departures_.set(job, false);
            if (!departures_.fits()) departures_.set(job, true);
        }
        keep_better(departures_.all_gone());
        for (const auto job : jobs)
            departures_.set(job, false);
    }

    // All subsets; those that already cost as much as the best are skipped.
    void enumerate(std::vector<std::uint32_t> jobs) {
        const auto cuts = budget_.cuts();
        std::stable_sort(jobs.begin(), jobs.end(),
                         [&](auto a, auto b) { return candidates_[a].risk < candidates_[b].risk; });
        for (const auto job : jobs)
            departures_.set(job, true);
        give_back(jobs, jobs.size(), 0);
        for (const auto job : jobs)
            departures_.set(job, false);
        exact_ = budget_.cuts() == cuts;
    }

    // The first `open` jobs are removed and undecided; those after them are decided and cost `risk`.
    void give_back(const std::vector<std::uint32_t>& jobs, std::size_t open, std::uint64_t risk) {
        if (risk > best_->risk || !departures_.fits()) return;
        if (open == 0) return keep_better(departures_.all_gone());
        const auto job = jobs[open - 1];
        departures_.set(job, false);
        give_back(jobs, open - 1, risk);
        departures_.set(job, true);
        give_back(jobs, open - 1, risk + candidates_[job].risk);
    }

    // The part that contains a host, at the widest tier that the span allows.
    std::uint32_t part_of(std::uint32_t host) const {
        const auto unit = index_.unit_of[host];
        const auto pod = index_.units[unit].pod;
        switch (widest_tier(departures_.request().span)) {
        case one_unit: return unit;
        case one_pod: return pod;
        case one_island: return index_.pods[pod].island;
        case everywhere: break;
        }
        return 0;
    }
    std::size_t parts() const {
        switch (widest_tier(departures_.request().span)) {
        case one_unit: return index_.units.size();
        case one_pod: return index_.pods.size();
        case one_island: return index_.islands.size();
        case everywhere: break;
        }
        return 1;
    }

    // Exact; nullopt: too expensive.
    std::optional<Chosen> cover(const std::vector<std::uint32_t>& jobs) {
        struct Item {
            std::uint32_t job, hosts;
        };
        std::vector<std::uint32_t> free(parts(), 0);
        std::vector<std::vector<Item>> items(parts());
        const auto& snapshot = departures_.snapshot();
        const auto sound = [&](std::uint32_t h) { return snapshot.health.empty() || snapshot.health[h] > 0; };
        for (std::uint32_t h = 0; h < snapshot.states.size(); ++h)
            if (snapshot.states[h] == HostState::free && sound(h)) ++free[part_of(h)];
        for (const auto job : jobs)
            for (const auto host : candidates_[job].hosts) {
                if (!sound(host)) continue;
                auto& in_part = items[part_of(host)];
                if (in_part.empty() || in_part.back().job != job) in_part.push_back({job, 0});
                ++in_part.back().hosts;
            }
        for (std::size_t part = 0; part < items.size(); ++part) {
            // A part that holds the gang anyway would have been used.
            if (free[part] >= departures_.request().nodes) return {};
            const std::size_t need = departures_.request().nodes - free[part];
            std::size_t held = 0;
            for (const auto& item : items[part])
                held += item.hosts;
            if (held < need) continue;
            const auto& list = items[part];
            if (!budget_.affords(2 * (need + 1) * list.size())) return {};
            static_cast<void>(budget_.spend(2 * (need + 1) * list.size()));
            // The least cost that frees this many hosts; of equals fewer jobs.
            using Cost = std::pair<std::uint64_t, std::uint32_t>;
            constexpr Cost none{std::numeric_limits<std::uint64_t>::max(), 0};
            std::vector<Cost> least(need + 1, none);
            std::vector<bool> takes(list.size() * (need + 1));
            least[0] = {0, 0};
            for (std::size_t i = 0; i < list.size(); ++i)
                for (auto hosts = need; hosts > 0; --hosts) {
                    const auto& before = least[hosts - std::min<std::size_t>(hosts, list[i].hosts)];
                    if (before == none) continue;
                    const Cost with{before.first + candidates_[list[i].job].risk, before.second + 1};
                    if (with >= least[hosts]) continue;
                    least[hosts] = with;
                    takes[i * (need + 1) + hosts] = true;
                }
            if (best_ && Cost(best_->risk, best_->jobs.size()) <= least[need]) continue;
            std::vector<std::uint32_t> chosen;
            auto hosts = need;
            for (auto i = list.size(); i-- > 0 && hosts > 0;)
                if (takes[i * (need + 1) + hosts]) {
                    chosen.push_back(list[i].job);
                    hosts -= std::min<std::size_t>(hosts, list[i].hosts);
                }
            std::sort(chosen.begin(), chosen.end());
            keep_better(std::move(chosen));
        }
        return std::move(best_);
    }

    const PlacementIndex& index_;
    const std::vector<Preemptee>& candidates_;
    Departures& departures_;
    Budget& budget_;
    std::optional<Chosen> best_;
    bool exact_ = true;
};

// The candidates of the lowest orders that together make room, with as few orders as possible.
std::vector<std::uint32_t> enough_of(const std::vector<Preemptee>& candidates, Departures& departures) {
    std::vector<std::uint32_t> orders, jobs;
    for (std::uint32_t job = 0; job < candidates.size(); ++job)
        if (!candidates[job].hosts.empty()) orders.push_back(candidates[job].order);
    std::sort(orders.begin(), orders.end());
    orders.erase(std::unique(orders.begin(), orders.end()), orders.end());
    for (const auto order : orders) {
        for (std::uint32_t job = 0; job < candidates.size(); ++job) {
            if (candidates[job].order != order || candidates[job].hosts.empty()) continue;
            departures.set(job, true);
            jobs.push_back(job);
        }
        if (departures.surely_fits()) break;
    }
    for (const auto job : jobs)
        departures.set(job, false);
    std::sort(jobs.begin(), jobs.end());
    return jobs;
}

} // namespace

base::Expected<Preemption> preempt(const Placer& placer, const Snapshot& snapshot, const Request& request,
                                   const std::vector<Preemptee>& candidates, Budget& budget) {
    auto least = request;
    least.most = 0;
    // Hosts in use do not count as free for restarts, and may be taken whatever must stay free. What a job
    // leaves counts as in use, so that no job has to end for the sake of idle hosts.
    least.shared = request.spare_floor > 0;
    if (auto now = placer.place(snapshot, request, budget))
        return Preemption{{}, 0, 0, *std::move(now), true};
    Preemption chosen;
    Departures departures(placer, snapshot, least, candidates, budget);
    const auto jobs = enough_of(candidates, departures);
    chosen.considered = static_cast<std::uint32_t>(jobs.size());
    for (const auto job : jobs)
        departures.set(job, true);
    if (auto all = placer.fits(departures.snapshot(), least); !all) {
        auto refused = placer.place(departures.snapshot(), least, budget);
        return refused ? std::move(all).error() : std::move(refused).error();
    }
    for (const auto job : jobs)
        departures.set(job, false);
    Search search(placer, candidates, departures, budget);
    const auto set = search.run(jobs);
    for (const auto job : set.jobs)
        departures.set(job, true);
    auto placed = placer.place(departures.snapshot(), least, budget);
    if (!placed) return std::move(placed).error();
    chosen.placement = *std::move(placed);
    chosen.exact = search.exact();
    std::vector<std::uint8_t> taken(snapshot.states.size(), 0);
    for (const auto host : chosen.placement.hosts)
        taken[host] = 1;
    for (const auto job : set.jobs) {
        const auto& hosts = candidates[job].hosts;
        if (std::none_of(hosts.begin(), hosts.end(), [&](auto host) { return taken[host] != 0; })) continue;
        chosen.jobs.push_back(job);
        chosen.risk += candidates[job].risk;
    }
    return chosen;
}

} // namespace sched
