#include "sched/lsf/dispatch.hpp"
#include "sched/ask/segments.hpp"

#include "sched/lsf/asked.hpp"
#include "sched/lsf/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <new>
#include <set>
#include <tuple>

namespace sched::lsf {
namespace {

using base::Code;
using base::Error;
using base::Expected;
using base::Time;
using Kind = Verdict::Kind;

// The parts of a request that decide whether it fits.
using Shape =
    std::tuple<std::uint32_t, std::uint32_t, Span, std::vector<std::uint32_t>, std::uint32_t, std::uint32_t,
               std::uint32_t, std::vector<std::uint32_t>, std::vector<std::uint32_t>>;

Shape shape_of(const Request& request, std::uint32_t slots) {
    return {request.nodes,       request.most, request.span,     sizes_of(request), request.spares,
            request.spare_floor, slots,        request.required, request.excluded};
}

// A gang with a reservation.
struct Reserved {
    const WaitingGang* gang;
    Time at, to;
    Placement placement;

    Claim claim() const { return {at, to, &placement.hosts, gang->slots}; }
};

class Pass {
public:
    Pass(const topo::Fabric& fabric, const Placer& placer, const Queue& queue, const Options& options)
        : placer_(placer), queue_(queue), options_(options), timeline_(queue, options),
          test_steps_(4 * std::uint64_t{fabric.hosts.size()} + 1000),
          budget_(options.steps != 0 ? options.steps : 2 * placer.budget().left()) {}

    Plan run() {
        plan_.verdicts.reserve(queue_.waiting.size());
        std::set<base::JobId> seen;
        for (const auto& job : queue_.holding)
            seen.insert(job.holder.job);
        for (const auto& gang : queue_.waiting) {
            auto& verdict = plan_.verdicts.emplace_back();
            verdict.job = gang.job;
            if (!seen.insert(gang.job).second) verdict.kind = Kind::placed;
        }
        const auto behind = take_first();
        take_behind(behind);
        for (const auto& reserved : reserved_) {
            auto& reservation = plan_.reservations.emplace_back();
            reservation.job = reserved.gang->job;
            if (reserved.at < beyond)
                reservation.at = reserved.at;
            else
                reservation.unlimited = timeline_.unlimited(reserved.at, reserved.placement.hosts);
            reservation.placement = reserved.placement;
        }
        plan_.steps = budget_.spent();
        return std::move(plan_);
    }

private:
    Request asked_at(const WaitingGang& gang, Time when) const { return asked(gang, options_, when); }

    std::vector<Claim> claims(const Reserved* without = nullptr) const {
        std::vector<Claim> claims;
        for (const auto& reserved : reserved_)
            if (&reserved != without) claims.push_back(reserved.claim());
        return claims;
    }

    bool fits(const Snapshot& snapshot, const Request& request) {
        budget_.spend(test_steps_);
        return placer_.fits(snapshot, request).has_value();
    }
    // A gang that fits is placed even if there are no steps left for the search.
    std::optional<Placement> place(const Snapshot& snapshot, const Request& request) {
        auto own = Budget(std::min(placer_.budget().left(), budget_.left()));
        auto placement = placer_.place(snapshot, request, own);
        budget_.spend(own.spent() + test_steps_);
        if (!placement) return {};
        return *std::move(placement);
    }

    // Judges gangs in order, until the last reservation is made. Returns the index of the first gang after
    // it.
    std::size_t take_first() {
        const auto depth = std::max(options_.reservations, 1U);
        std::size_t i = 0;
        for (; i < queue_.waiting.size() && reserved_.size() < depth; ++i) {
            const auto& gang = queue_.waiting[i];
            auto& verdict = plan_.verdicts[i];
            if (verdict.kind == Kind::placed) continue;
            judge(gang, verdict);
            if (verdict.kind == Kind::no_room) verdict.kind = kind_of_no_room(gang);
            if (verdict.kind == Kind::no_room || verdict.kind == Kind::would_delay) reserve(gang, verdict);
        }
        return i;
    }

    // The rest, starting where the last pass ended, as far as the budget allows, but at least one.
    void take_behind(std::size_t first) {
        const auto size = queue_.waiting.size();
        auto begin = first;
        if (queue_.resume)
            for (auto i = first; i < size; ++i)
                if (queue_.waiting[i].job == *queue_.resume) begin = i;
        bool any = false;
        for (std::size_t k = 0; k < size - first; ++k) {
            const auto i = begin + k < size ? begin + k : begin + k - size + first;
            if (plan_.verdicts[i].kind == Kind::placed) continue;
            if (any && budget_.left() == 0) {
                if (!plan_.resume) plan_.resume = queue_.waiting[i].job;
                continue;
            }
            any = true;
            judge(queue_.waiting[i], plan_.verdicts[i]);
        }
    }

    // Starts the gang if it can start now.
    void judge(const WaitingGang& gang, Verdict& verdict) {
        const auto now = timeline_.now();
        const auto request = asked_at(gang, now);
        const auto shape = shape_of(request, gang.slots);
        verdict.kind = Kind::no_room;
        if (too_large_.contains(shape)) return;
        budget_.spend(test_steps_);
        const auto room = placer_.fits(timeline_.at(now, now, gang.slots, {}), request);
        if (!room && room.error().code != Code::unfit) {
            verdict.kind = Kind::refused;
            verdict.text = room.error().text;
            return;
        }
        if (!room) { // during a pass hosts are only taken: what does not fit now will not fit later
            too_large_.insert(shape);
            return;
        }
        const auto key = std::pair(shape, gang.limit);
        if (!in_the_way_.contains(key) && start(gang, request)) {
            verdict.kind = Kind::starts;
            return;
        }
        in_the_way_.insert(key);
        verdict.kind = Kind::would_delay;
    }

    // Whether a gang that does not fit now would fit if all jobs ended, or on the whole fabric.
    Kind kind_of_no_room(const WaitingGang& gang) {
        const auto last = asked_at(gang, Time::max());
        const auto shape = shape_of(last, gang.slots);
        if (const auto known = at_last_.find(shape); known != at_last_.end()) return known->second;
        auto kind = Kind::no_room;
        if (!fits(timeline_.at(Time::max(), Time::max(), gang.slots, {}), last))
            kind = fits(timeline_.empty(gang.slots), last) ? Kind::hosts_away : Kind::never;
        at_last_.emplace(shape, kind);
        return kind;
    }

    bool start(const WaitingGang& gang, const Request& request) {
        const auto now = timeline_.now();
        const auto to = Timeline::end_of(now, gang.limit);
        auto placement = place(timeline_.at(now, now, gang.slots, {}), request);
        if (!placement) return false;
        if (!keeps_promises(gang, *placement, to)) {
            const auto others = claims();
            placement = place(timeline_.at(now, to, gang.slots, others), request);
            if (!placement || !keeps_promises(gang, *placement, to)) return false;
        }
        timeline_.start(placement->hosts, gang.slots, to);
        Start started{gang.job, *std::move(placement), {}, !reserved_.empty()};
        if (to < beyond) started.ends = to;
        plan_.starts.push_back(std::move(started));
        if (gang.restart && options_.spare_floor > 0) promise_again();
        return true;
    }

    // Whether each gang with a reservation still fits at its moment if this one starts; if so, those whose
    // hosts this one takes get other hosts. A restart may take the hosts that the floor keeps from others.
    bool keeps_promises(const WaitingGang& gang, const Placement& placement, Time to) {
        std::vector<std::uint8_t> taken;
        std::vector<std::optional<Placement>> moved(reserved_.size());
        for (std::size_t i = 0; i < reserved_.size(); ++i) {
            const auto& reserved = reserved_[i];
            if (to <= reserved.at) continue;
            if (taken.empty()) {
                taken.resize(queue_.snapshot.states.size(), 0);
                for (const auto h : placement.hosts)
                    taken[h] = 1;
            }
            const auto& hosts = reserved.placement.hosts;
            const bool apart =
                std::none_of(hosts.begin(), hosts.end(), [&](auto h) { return taken[h] != 0; });
            auto request = asked_at(*reserved.gang, reserved.at);
            if (gang.restart) request.spare_floor = 0;
            if (apart && request.spare_floor == 0) continue;
            std::vector<Claim> others{{timeline_.now(), to, &placement.hosts, gang.slots}};
            for (std::size_t j = 0; j < reserved_.size(); ++j) {
                if (j == i) continue;
                others.push_back(reserved_[j].claim());
                if (moved[j]) others.back().hosts = &moved[j]->hosts;
            }
            const auto& then = timeline_.at(reserved.at, reserved.to, reserved.gang->slots, others);
            if (!fits(then, request)) return false;
            if (apart) continue;
            moved[i] = place(then, request);
            if (!moved[i]) return false;
        }
        for (std::size_t i = 0; i < moved.size(); ++i)
            if (moved[i]) reserved_[i].placement = *std::move(moved[i]);
        return true;
    }

    // After a restart has taken hosts kept free by the floor: recomputes the reservations.
    void promise_again() {
        auto old = std::move(reserved_);
        reserved_.clear();
        for (auto& reserved : old)
            if (auto again = earliest(*reserved.gang))
                reserved_.push_back(*std::move(again));
            else
                reserved_.push_back(std::move(reserved));
        in_the_way_.clear();
    }

    void reserve(const WaitingGang& gang, Verdict& verdict) {
        if (auto reserved = earliest(gang)) {
            reserved_.push_back(*std::move(reserved));
            verdict.kind = Kind::reserved;
        }
    }

    // The earliest moment at which the gang fits next to the existing reservations.
    std::optional<Reserved> earliest(const WaitingGang& gang) {
        const auto others = claims();
        auto moments = timeline_.moments();
        for (const auto& claim : others)
            if (claim.to < Time::max()) moments.push_back(claim.to);
        if (gang.hints.span_wait) moments.push_back(gang.eligible + *gang.hints.span_wait);
        std::erase_if(moments, [&](Time moment) { return moment <= timeline_.now(); });
        std::sort(moments.begin(), moments.end());
        const auto to = [&](Time at) { return Timeline::end_of(at, gang.limit); };
        const auto good = [&](Time at) {
            return fits(timeline_.at(at, to(at), gang.slots, others), asked_at(gang, at));
        };
        // Without reservations hosts only become free, so a binary search is exact.
        const auto first = others.empty() ? std::partition_point(moments.begin(), moments.end(),
                                                                 [&](Time at) { return !good(at); })
                                          : std::find_if(moments.begin(), moments.end(), good);
        if (first == moments.end()) return {};
        auto placement = place(timeline_.at(*first, to(*first), gang.slots, others), asked_at(gang, *first));
        if (!placement) return {};
        return Reserved{&gang, *first, to(*first), *std::move(placement)};
    }

    const Placer& placer_;
    const Queue& queue_;
    const Options& options_;
    Timeline timeline_;
    const std::uint64_t test_steps_; // cost of one fit test
    Budget budget_;
    std::vector<Reserved> reserved_;
    std::set<Shape> too_large_;     // what does not fit now
    std::map<Shape, Kind> at_last_; // whether it would fit later
    std::set<std::pair<Shape, std::optional<base::Duration>>> in_the_way_;
    Plan plan_;
};

} // namespace

std::string_view to_string(Verdict::Kind kind) {
    switch (kind) {
    case Kind::starts: return "starts";
    case Kind::reserved: return "reserved";
    case Kind::no_room: return "no room";
    case Kind::would_delay: return "would delay";
    case Kind::hosts_away: return "hosts away";
    case Kind::never: return "never";
    case Kind::refused: return "refused";
    case Kind::placed: return "placed";
    case Kind::not_looked_at: break;
    }
    return "not looked at";
}

Expected<Plan> dispatch(const topo::Fabric& fabric, const Placer& placer, const Queue& queue,
                        const Options& options) {
    const auto hosts = fabric.hosts.size();
    const auto& [states, health] = queue.snapshot;
    if (states.size() != hosts || (!health.empty() && health.size() != hosts))
        return Error{Code::usage,
                     fmt::format("the state is of {} hosts, the fabric has {}: they do not belong together",
                                 states.size(), hosts)};
    try {
        return Pass(fabric, placer, queue, options).run();
    } catch (const std::bad_alloc&) {
        return Error{Code::internal, "out of memory"};
    }
}

} // namespace sched::lsf
