#include "sched/plan/exhaustive.hpp"

#include "sched/ask/segments.hpp"
#include "sched/score.hpp"
#include "sched/search/found.hpp"
#include "sched/search/keep.hpp"
#include "sched/search/nested_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sched::plan {
namespace {

using base::Code;
using base::Error;
using base::Expected;

// Ways to choose `taken` of `hosts`, as a double: only the magnitude matters.
double combinations(std::size_t hosts, std::size_t taken) {
    double ways = 1;
    for (std::size_t i = 1; i <= taken; ++i)
        ways *= static_cast<double>(hosts - taken + i) / static_cast<double>(i);
    return std::round(ways);
}

class Trial {
public:
    Trial(const PlacementIndex& index, const Snapshot& snapshot, const Request& request)
        : index_(index), snapshot_(snapshot), request_(request), in_unit_(index.units.size(), 0),
          free_in_unit_(index.units.size(), 0), in_pod_(index.pods.size(), 0),
          in_island_(index.islands.size(), 0) {
        const auto listed = [](const std::vector<std::uint32_t>& list, std::uint32_t h) {
            return std::find(list.begin(), list.end(), h) != list.end();
        };
        for (std::uint32_t h = 0; h < snapshot.states.size(); ++h) {
            if (!may_be_had(h)) continue;
            ++free_in_unit_[index.unit_of[h]];
            if (snapshot.states[h] == HostState::free) ++idle_;
            if (!listed(request.excluded, h)) candidates_.push_back(h);
        }
        for (const auto h : request.required)
            if (!listed(required_, h)) required_.push_back(h);
    }

    std::size_t candidates() const { return candidates_.size(); }

    // Tries all sets of that many hosts.
    Exhausted run(std::uint32_t nodes) {
        found_ = {};
        if (nodes > candidates_.size()) return found_;
        may_go_ = request_.spare_floor == 0
                      ? idle_
                      : (idle_ > request_.spare_floor ? idle_ - request_.spare_floor : 0) + request_.spares;
        set_.assign(nodes, 0);
        extend(0, 0);
        return found_;
    }

private:
    bool may_be_had(std::uint32_t h) const {
        const auto state = snapshot_.states[h];
        const bool room = state == HostState::free || (request_.shared && state == HostState::mixed);
        return room && (snapshot_.health.empty() || snapshot_.health[h] > 0);
    }

    void extend(std::size_t depth, std::size_t next) {
        if (depth == set_.size()) {
            judge();
            return;
        }
        for (auto i = next; i + (set_.size() - depth) <= candidates_.size(); ++i) {
            set_[depth] = candidates_[i];
            extend(depth + 1, i + 1);
        }
    }

    void judge() {
        ++found_.sets;
        for (const auto h : required_)
            if (!std::binary_search(set_.begin(), set_.end(), h)) return;
        const auto idle = std::count_if(set_.begin(), set_.end(), [&](std::uint32_t h) {
            return snapshot_.states[h] == HostState::free;
        });
        if (static_cast<std::uint32_t>(idle) > may_go_) return;
        const auto score = score_set();
        if (!score) return;
        const int better = found_.hosts.empty() ? -1 : compare(*score, found_.score);
        if (better == 0) ++found_.best;
        if (better >= 0) return;
        found_.hosts = set_;
        found_.score = *score;
        found_.best = 1;
    }

    // Nothing if a segment would be split or the span is not kept.
    std::optional<Score> score_set() {
        Score score;
        std::uint32_t islands = 0;
        long avoidance = 0;
        for (const auto h : set_) {
            const auto unit = index_.unit_of[h], pod = index_.units[unit].pod;
            score.units += in_unit_[unit]++ == 0 ? 1 : 0;
            score.pods += in_pod_[pod]++ == 0 ? 1 : 0;
            islands += in_island_[index_.pods[pod].island]++ == 0 ? 1 : 0;
            if (!snapshot_.health.empty()) avoidance += std::lround((1 - snapshot_.health[h]) * 1000);
        }
        score.avoidance = static_cast<double>(avoidance) / 1000;
        score.moved = moved_hosts(request_, set_);
        score.tier = score.units == 1 ? 0 : score.pods == 1 ? 1 : islands == 1 ? 2 : 3;
        std::uint32_t segments = 0;
        for (const auto h : set_) { // counts each unit once and resets the counts to 0 for the next set
            const auto unit = index_.unit_of[h];
            const auto taken = in_unit_[unit];
            in_unit_[unit] = 0;
            in_pod_[index_.units[unit].pod] = 0;
            in_island_[index_.pods[index_.units[unit].pod].island] = 0;
            if (taken == 0) continue;
            const auto left = free_in_unit_[unit] - taken;
            score.left_over += left;
            score.broken_units += free_in_unit_[unit] == index_.units[unit].size && left > 0 ? 1 : 0;
            if (!nested_ && request_.segment != 0) segments += taken / request_.segment;
        }
        if (score.tier > widest_tier(request_.span)) return std::nullopt;
        const auto ranks = static_cast<std::uint32_t>(set_.size()) - request_.spares;
        if (!nested_ && request_.segment != 0 && segments < ranks / request_.segment) return std::nullopt;
        if (nested_ && !keeps_parts(score, ranks)) return std::nullopt;
        for (std::uint32_t rail = 0; rail < index_.rails; ++rail) {
            const int place = index_.meeting(set_.front(), rail, score.tier);
            bool meet = place >= 0;
            for (const auto h : set_)
                meet = meet && index_.meeting(h, rail, score.tier) == place;
            score.misaligned_rails += meet ? 0 : 1;
        }
        return score;
    }

    // With NVLink domains or nested segments: sets their terms; false if one is split.
    bool keeps_parts(Score& score, std::uint32_t ranks) const {
        const auto full = score_of(index_, snapshot_, request_, set_);
        score.domains = full.domains;
        score.broken_domains = full.broken_domains;
        score.left_in_domains = full.left_in_domains;
        if (request_.span == Span::domain && score.domains > 1) return false;
        const HostKind kind = [&](std::uint32_t h) {
            return std::binary_search(set_.begin(), set_.end(), h) ? 1 : 0;
        };
        std::uint32_t held = 0;
        for (std::uint32_t p = 0; p < index_.pods.size(); ++p)
            held += room_in_pod(index_, steps_, p, kind).most;
        return held >= ranks;
    }

    const PlacementIndex& index_;
    const Snapshot& snapshot_;
    const Request& request_;
    const Steps steps_ = steps_of(index_, request_);
    const bool nested_ = is_nested(index_, steps_);
    std::vector<std::uint32_t> candidates_; // ascending
    std::vector<std::uint32_t> required_;
    std::vector<std::uint32_t> in_unit_, free_in_unit_, in_pod_, in_island_;
    std::uint32_t idle_ = 0, may_go_ = 0; // hosts without jobs: how many, and how many of them may be taken
    std::vector<std::uint32_t> set_;
    Exhausted found_;
};

} // namespace

Expected<Exhausted> exhaustive(const PlacementIndex& index, const Snapshot& snapshot, const Request& request,
                               std::uint64_t limit) {
    Trial trial(index, snapshot, request);
    const auto segment = largest_segment(request);
    if (request.nodes == 0 || request.spares >= std::max(request.nodes, request.most))
        return Error{Code::usage, "the request contradicts itself: no node is left to run on"};
    Exhausted found;
    for (auto nodes = std::max(request.nodes, request.most); nodes >= request.nodes; --nodes) {
        if (nodes <= request.spares || (nodes - request.spares) % segment != 0) continue;
        const auto sets = nodes > trial.candidates() ? 0 : combinations(trial.candidates(), nodes);
        if (sets > static_cast<double>(limit) - static_cast<double>(found.sets))
            return Error{
                Code::usage,
                fmt::format("{} of {} candidates are {:.3g} sets, more than the {} that are tried: take "
                            "a smaller fabric, fewer free hosts or another number of nodes",
                            nodes, trial.candidates(), sets, limit)};
        const auto before = found.sets;
        found = trial.run(nodes);
        found.sets += before;
        if (!found.hosts.empty()) break;
    }
    return found;
}

} // namespace sched::plan
