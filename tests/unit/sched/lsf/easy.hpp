// The slow truth for the dispatcher on small fabrics with whole hosts: EASY backfill written down as the
// papers say it, every moment tried in order, every state made anew, whether a gang fits decided by trying
// every set of hosts. Only where a gang goes is asked of place().
#pragma once

#include "../oracle.hpp"
#include "sched/lsf/dispatch.hpp"

#include <map>
#include <set>

namespace sched_test {

class Easy {
public:
    Easy(const topo::Fabric& fabric, const sched::lsf::Queue& queue, std::uint32_t floor)
        : fabric_(fabric), placer_(fabric), queue_(queue), floor_(floor) {
        // Jobs without a limit end after all others, in the order of their starts.
        std::map<std::pair<base::Time, base::JobId>, const sched::lsf::HoldingJob*> endless;
        for (const auto& job : queue.holding)
            if (job.holder.ends)
                runs_.push_back({*job.holder.ends, job.holder.hosts});
            else
                endless[{job.since.value_or(base::Time::max()), job.holder.job}] = &job;
        for (const auto& [key, job] : endless)
            runs_.push_back({last(), job->holder.hosts});
    }

    // The ids of the gangs that start, with their hosts.
    std::map<base::JobId, std::vector<std::uint32_t>> starts;
    std::optional<base::JobId> head;
    base::Time shadow{};
    std::uint32_t missed = 0; // gangs refused though some set of hosts would have delayed nobody

    void run() {
        for (const auto& gang : queue_.waiting) {
            if (!head) {
                if (try_start(gang)) continue;
                find_shadow(gang);
            } else {
                try_start(gang);
            }
        }
    }

private:
    struct Run {
        base::Time ends{};
        std::vector<std::uint32_t> hosts;
    };

    base::Time last() {
        return base::Time(std::chrono::hours(24 * 365 * 1000)) + std::chrono::hours(++endless_);
    }

    sched::Request asked(const sched::lsf::WaitingGang& gang, base::Time when) const {
        auto request = gang.request;
        sched::apply_hints(gang.hints, when - gang.eligible, request);
        request.spare_floor = gang.restart ? 0 : floor_;
        return request;
    }
    sched::Snapshot state_at(base::Time when) const {
        auto snapshot = queue_.snapshot;
        for (auto& state : snapshot.states)
            if (state == sched::HostState::busy) state = sched::HostState::free;
        for (const auto& run : runs_)
            for (const auto h : run.hosts)
                if (run.ends > when && snapshot.states[h] == sched::HostState::free)
                    snapshot.states[h] = sched::HostState::busy;
        return snapshot;
    }
    bool fits(const sched::Request& request, base::Time when) const {
        const auto state = state_at(when);
        return Oracle(fabric_, state).best_of_range(request).has_value();
    }
    bool head_fits() const { return fits(asked(*head_gang_, shadow), shadow); }

    void begin(const sched::lsf::WaitingGang& gang, std::vector<std::uint32_t> hosts) {
        runs_.push_back({gang.limit ? queue_.now + *gang.limit : last(), std::move(hosts)});
    }
    // Starts it there when that does not delay the head.
    bool begin_if_good(const sched::lsf::WaitingGang& gang, const std::vector<std::uint32_t>& hosts) {
        begin(gang, hosts);
        if (head && !head_fits()) {
            runs_.pop_back();
            return false;
        }
        const bool outlives = head && runs_.back().ends > shadow;
        starts[gang.job] = hosts;
        if (outlives && std::any_of(hosts.begin(), hosts.end(), [&](auto h) {
                return std::count(reserved_.begin(), reserved_.end(), h) != 0;
            }))
            reserve();
        return true;
    }
    void reserve() { reserved_ = placer_.place(state_at(shadow), asked(*head_gang_, shadow))->hosts; }

    bool try_start(const sched::lsf::WaitingGang& gang) {
        const auto request = asked(gang, queue_.now);
        if (!fits(request, queue_.now)) return false;
        if (begin_if_good(gang, placer_.place(state_at(queue_.now), request)->hosts)) return true;
        // The reserved hosts are busy for it, as they are for whoever looks at the floor.
        auto off = state_at(queue_.now);
        for (const auto h : reserved_)
            if (off.states[h] == sched::HostState::free) off.states[h] = sched::HostState::busy;
        if (auto placed = placer_.place(off, request))
            if (begin_if_good(gang, placed->hosts)) return true;
        missed += any_set_is_good(gang, request) ? 1 : 0;
        return false;
    }

    bool any_set_is_good(const sched::lsf::WaitingGang& gang, const sched::Request& request) {
        const auto now = state_at(queue_.now);
        const auto hosts = static_cast<std::uint32_t>(fabric_.hosts.size());
        for (std::uint32_t set = 1; set < std::uint32_t{1} << hosts; ++set) {
            if (static_cast<std::uint32_t>(__builtin_popcount(set)) != request.nodes) continue;
            std::vector<std::uint32_t> chosen;
            auto only = now;
            for (std::uint32_t h = 0; h < hosts; ++h)
                if (set >> h & 1)
                    chosen.push_back(h);
                else if (only.states[h] == sched::HostState::free)
                    only.states[h] = sched::HostState::drained;
            auto bare = request;
            bare.spare_floor = 0;
            bare.most = 0;
            if (!placer_.fits(only, bare)) continue;
            begin(gang, chosen);
            const bool good = head_fits();
            runs_.pop_back();
            if (good) return true;
        }
        return false;
    }

    void find_shadow(const sched::lsf::WaitingGang& gang) {
        std::set<base::Time> moments;
        for (const auto& run : runs_)
            if (run.ends > queue_.now) moments.insert(run.ends);
        if (gang.hints.span_wait) moments.insert(gang.eligible + *gang.hints.span_wait);
        for (const auto moment : moments) {
            if (moment <= queue_.now || !fits(asked(gang, moment), moment)) continue;
            head = gang.job;
            head_gang_ = &gang;
            shadow = moment;
            reserve();
            return;
        }
    }

    const topo::Fabric& fabric_;
    const sched::Placer placer_;
    const sched::lsf::Queue& queue_;
    const std::uint32_t floor_;
    std::vector<Run> runs_;
    int endless_ = 0;
    const sched::lsf::WaitingGang* head_gang_ = nullptr;
    std::vector<std::uint32_t> reserved_;
};

} // namespace sched_test
