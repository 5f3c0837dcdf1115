#include "sched/lsf/timeline.hpp"

#include <algorithm>

namespace sched::lsf {
namespace {

using base::Duration;
using base::Time;

constexpr Duration least_overrun = std::chrono::minutes(1);
constexpr Duration least_run = std::chrono::seconds(1); // a gang that starts holds its hosts for a time
constexpr std::uint32_t whole = ~std::uint32_t{0};      // claimed: all slots

bool in_use(HostState state) {
    return state == HostState::busy || state == HostState::mixed;
}

// The end of a running job according to its limit.
Time expected_end(Time ends, Time now) {
    if (ends > now) return std::min(ends, beyond - Duration(1));
    const auto overrun = now - std::max(ends, Time{});
    return std::min(now + std::max(overrun, least_overrun), beyond - Duration(1));
}

} // namespace

Timeline::Timeline(const Queue& queue, const Options& options)
    : queue_(queue), share_(options.share_hosts), until_(queue.snapshot.states.size(), Time{}) {
    if (share_) {
        holds_.resize(until_.size());
        claimed_.resize(until_.size(), 0);
    }
    view_ = queue.snapshot;
    read_holders();
}

void Timeline::hold(std::uint32_t host, Hold hold) {
    until_[host] = std::max(until_[host], hold.until);
    if (share_) holds_[host].push_back(hold);
}

void Timeline::read_holders() {
    std::vector<const HoldingJob*> endless;
    const auto hold_all = [&](const HoldingJob& job, Time until) {
        const auto& hosts = job.holder.hosts;
        for (std::size_t i = 0; i < hosts.size(); ++i)
            if (hosts[i] < until_.size()) hold(hosts[i], {until, i < job.slots.size() ? job.slots[i] : 0});
    };
    for (const auto& job : queue_.holding) {
        if (job.holder.ends)
            hold_all(job, expected_end(*job.holder.ends, queue_.now));
        else
            endless.push_back(&job);
    }
    // Planned jobs come last. Unnamed holders come first: they may have run for any time.
    std::stable_sort(endless.begin(), endless.end(), [](const HoldingJob* a, const HoldingJob* b) {
        return std::pair(a->since.value_or(Time::max()), a->holder.job) <
               std::pair(b->since.value_or(Time::max()), b->holder.job);
    });
    for (const auto* job : endless) {
        const auto until = beyond + std::chrono::seconds(unlimited_++);
        endless_.emplace_back(until, &job->holder);
        hold_all(*job, until);
    }
    for (std::uint32_t h = 0; h < until_.size(); ++h) {
        const auto state = queue_.snapshot.states[h];
        if (until_[h] == Time{}) {
            if (in_use(state)) hold(h, {beyond, 0});
        } else if (share_ && state == HostState::busy &&
                   shared_state(h, queue_.now, 1, 0) == HostState::mixed) {
            hold(h, {until_[h], 0}); // LSF reports it as full, although the slots do not add up
        }
    }
}

Time Timeline::end_of(Time from, std::optional<Duration> limit) {
    if (!limit || from >= beyond || *limit >= beyond - from) return Time::max();
    return from + std::max(*limit, least_run);
}

void Timeline::start(const std::vector<std::uint32_t>& hosts, std::uint32_t slots, Time to) {
    if (to >= beyond) to = beyond + std::chrono::seconds(unlimited_++);
    for (const auto h : hosts)
        hold(h, {to, slots});
}

std::vector<Time> Timeline::moments() const {
    std::vector<Time> moments;
    for (const auto until : until_)
        if (until > now()) moments.push_back(until);
    for (const auto& holds : holds_)
        for (const auto& hold : holds)
            if (hold.until > now()) moments.push_back(hold.until);
    std::sort(moments.begin(), moments.end());
    moments.erase(std::unique(moments.begin(), moments.end()), moments.end());
    return moments;
}

HostState Timeline::shared_state(std::uint32_t host, Time from, std::uint32_t slots,
                                 std::uint32_t claimed) const {
    const auto total = slots_of(host);
    std::uint64_t used = claimed;
    bool any = claimed > 0;
    for (const auto& hold : holds_[host]) {
        if (hold.until <= from) continue;
        any = true;
        used += hold.slots == 0 ? whole : hold.slots;
    }
    if (!any) return slots <= total || total == 0 ? HostState::free : HostState::busy;
    return slots != 0 && used + slots <= total ? HostState::mixed : HostState::busy;
}

const Snapshot& Timeline::at(Time from, Time to, std::uint32_t slots, std::span<const Claim> claims) {
    const auto overlaps = [&](const Claim& claim) { return claim.from < to && from < claim.to; };
    const auto& states = queue_.snapshot.states;
    if (share_) {
        std::fill(claimed_.begin(), claimed_.end(), 0);
        for (const auto& claim : claims)
            if (overlaps(claim))
                for (const auto h : *claim.hosts)
                    claimed_[h] = claim.slots == 0 || claimed_[h] > whole - claim.slots
                                      ? whole
                                      : claimed_[h] + claim.slots;
    }
    for (std::uint32_t h = 0; h < states.size(); ++h) {
        if (states[h] == HostState::drained || states[h] == HostState::down)
            view_.states[h] = states[h];
        else if (share_)
            view_.states[h] = shared_state(h, from, slots, claimed_[h]);
        else
            view_.states[h] = until_[h] > from ? HostState::busy : HostState::free;
    }
    if (!share_)
        for (const auto& claim : claims)
            if (overlaps(claim))
                for (const auto h : *claim.hosts)
                    if (view_.states[h] == HostState::free) view_.states[h] = HostState::busy;
    return view_;
}

const Snapshot& Timeline::empty(std::uint32_t slots) {
    for (std::uint32_t h = 0; h < view_.states.size(); ++h) {
        const bool small = share_ && slots_of(h) != 0 && slots > slots_of(h);
        view_.states[h] = small ? HostState::busy : HostState::free;
    }
    return view_;
}

std::vector<base::JobId> Timeline::unlimited(Time until, const std::vector<std::uint32_t>& hosts) const {
    std::vector<std::uint8_t> mine(until_.size(), 0);
    for (const auto h : hosts)
        mine[h] = 1;
    std::vector<base::JobId> jobs;
    for (const auto& [ends, holder] : endless_)
        if (ends <= until && std::any_of(holder->hosts.begin(), holder->hosts.end(),
                                         [&](std::uint32_t h) { return h < mine.size() && mine[h] != 0; }))
            jobs.push_back(holder->job);
    std::sort(jobs.begin(), jobs.end());
    return jobs;
}

} // namespace sched::lsf
