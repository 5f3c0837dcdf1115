#include "sched/outlook.hpp"

#include "sched/say/reasons.hpp"
#include "sched/say/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace sched {
namespace {

using base::Code;
using base::Expected;

// The first end of a job after which a request fits.
struct Moment {
    base::Time at{};
    const Holder* holder;
    Placement placement;
};

// The jobs in the order of their ends.
class Future {
public:
    Future(const Placer& placer, const Snapshot& snapshot, const Circumstances& circumstances)
        : placer_(placer), snapshot_(snapshot), now_(circumstances.now), held_(snapshot.states.size(), 0) {
        for (const auto& holder : circumstances.holders) {
            (holder.ends ? ending_ : unlimited_).push_back(&holder);
            for (const auto h : holder.hosts)
                if (h < held_.size()) ++held_[h];
        }
        std::sort(ending_.begin(), ending_.end(), [](const Holder* a, const Holder* b) {
            return std::tuple(*a->ends, a->job) < std::tuple(*b->ends, b->job);
        });
        std::sort(unlimited_.begin(), unlimited_.end(),
                  [](const Holder* a, const Holder* b) { return a->job < b->job; });
    }

    std::optional<Moment> earliest(const Request& request, Budget& budget) const {
        const auto count = first(ending_, request, snapshot_, held_);
        if (count == 0) return {};
        auto left = held_;
        auto placement = placer_.place(after(ending_, count, snapshot_, left), request, budget);
        if (!placement) return {};
        const auto* last = ending_[count - 1];
        return Moment{std::max(*last->ends, now_), last, *std::move(placement)};
    }

    // Jobs without a limit, by number, up to the one after whose end the request fits, if all others have
    // ended.
    std::vector<const Holder*> unlimited(const Request& request) const {
        auto held = held_;
        const auto ended = after(ending_, ending_.size(), snapshot_, held);
        const auto count = first(unlimited_, request, ended, held);
        return {unlimited_.begin(), unlimited_.begin() + static_cast<std::ptrdiff_t>(count)};
    }

private:
    using Holders = std::vector<const Holder*>;

    // `held`: number of holders of each host; counted down.
    static Snapshot after(const Holders& holders, std::size_t count, const Snapshot& from,
                          std::vector<std::uint32_t>& held) {
        auto snapshot = from;
        for (std::size_t i = 0; i < count; ++i)
            for (const auto h : holders[i]->hosts) {
                if (h >= held.size() || --held[h] != 0) continue;
                auto& state = snapshot.states[h];
                if (state == HostState::busy || state == HostState::mixed) state = HostState::free;
            }
        return snapshot;
    }

    // The smallest number of holders, in order, after whose ends the request fits; 0: it never does. More
    // ends never make it worse, so a binary search is exact.
    std::size_t first(const Holders& holders, const Request& request, const Snapshot& from,
                      const std::vector<std::uint32_t>& held) const {
        const auto fits = [&](std::size_t count) {
            auto left = held;
            return placer_.fits(after(holders, count, from, left), request).has_value();
        };
        if (holders.empty() || !fits(holders.size())) return 0;
        std::size_t low = 0, high = holders.size(); // it fits at high, but not at low
        while (low + 1 < high) {
            const auto middle = low + (high - low) / 2;
            (fits(middle) ? high : low) = middle;
        }
        return high;
    }

    const Placer& placer_;
    const Snapshot& snapshot_;
    const base::Time now_;
    std::vector<std::uint32_t> held_;
    Holders ending_, unlimited_; // in the order of their ends
};

Request without_wish(Request request) {
    request.span = Span::any;
    return request;
}

// "unit su3", "2 units of pod1", "3 pods"; if the span is a domain, "NVLink domain nvl3".
std::string place_text(const PlacementIndex& index, Span span, const std::vector<std::uint32_t>& hosts) {
    if (span == Span::domain && index.largest_domain > 0) {
        const auto domain = index.domain_of[hosts.front()];
        if (index.domains[domain].joined && std::all_of(hosts.begin(), hosts.end(), [&](std::uint32_t h) {
                return index.domain_of[h] == domain;
            }))
            return "NVLink domain " + index.domains[domain].name;
    }
    std::vector<std::uint32_t> units, pods;
    for (const auto h : hosts) {
        units.push_back(index.unit_of[h]);
        pods.push_back(index.units[units.back()].pod);
    }
    const auto distinct = [](std::vector<std::uint32_t>& list) {
        std::sort(list.begin(), list.end());
        list.erase(std::unique(list.begin(), list.end()), list.end());
        return list.size();
    };
    const auto unit_count = distinct(units), pod_count = distinct(pods);
    if (unit_count == 1) return "unit " + index.units[units.front()].name;
    if (pod_count == 1) return fmt::format("{} units of {}", unit_count, index.pods[pods.front()].name);
    return plural(pod_count, "pod");
}

// "job 3", "jobs 3 and 4", "job 3 and 2 other jobs", "another job".
std::string jobs_text(const std::vector<base::JobId>& named, std::size_t others) {
    std::vector<std::string> names;
    for (const auto job : named)
        names.push_back(to_string(job));
    auto text = names.empty() ? std::string() : (names.size() == 1 ? "job " : "jobs ") + listed(names);
    if (others == 0) return text;
    return fmt::format("{}{}", text.empty() ? "" : text + " and ",
                       others == 1 ? "another job" : fmt::format("{} other jobs", others));
}

class Forecaster {
public:
    Forecaster(const topo::Fabric& fabric, const Placer& placer, const Snapshot& snapshot,
               const Request& request, const Circumstances& circumstances)
        : fabric_(fabric), placer_(placer), snapshot_(snapshot), request_(request),
          circumstances_(circumstances), remarks_(circumstances.remarks), budget_(placer.budget()),
          future_(placer, snapshot, circumstances) {
        remarks_.wish = circumstances.wish_ends.has_value() && request.span != Span::any;
        if (remarks_.wish) out_.wish_ends = circumstances.wish_ends;
    }

    Expected<Outlook> forecast() {
        auto now = placer_.place(snapshot_, request_, budget_);
        list_parts();
        if (now) return fits(*std::move(now));
        if (now.error().code != Code::unfit) return std::move(now).error();
        out_.sentence = why_not(fabric_, Loads(placer_.index(), snapshot_, request_), remarks_).text;
        const auto everything = Snapshot::all_free(fabric_);
        const bool ever = placer_.fits(everything, request_).has_value();
        if (remarks_.wish)
            with_wish(ever, placer_.fits(everything, without_wish(request_)).has_value());
        else if (ever)
            without_end(future_.earliest(request_, budget_), request_);
        if (!circumstances_.held.empty())
            out_.sentence +=
                fmt::format("; it is held back by something else, too ({})", circumstances_.held);
        return std::move(out_);
    }

private:
    std::string at(base::Time time) const { return base::moment(time, circumstances_.now); }

    Outlook fits(Placement placement) {
        out_.kind = Outlook::Kind::fits;
        out_.at = circumstances_.now;
        out_.hosts = std::move(placement.hosts);
        const auto where = place_text(placer_.index(), request_.span, out_.hosts);
        if (!circumstances_.held.empty()) {
            out_.sentence = fmt::format("would fit now, in {}: held back by something else ({})", where,
                                        circumstances_.held);
            return std::move(out_);
        }
        out_.sentence = fmt::format("would fit now, in {}: waits for its turn", where);
        if (!circumstances_.turn.empty()) out_.sentence += fmt::format(" ({})", circumstances_.turn);
        if (circumstances_.expected_start)
            out_.sentence += fmt::format(", which is expected at {}", at(*circumstances_.expected_start));
        return std::move(out_);
    }

    // "job 812 ends at 14:20 and makes it fit in unit su5". `not_before`: the end of the wish, if only that
    // makes it fit.
    void later(Moment moment, std::optional<base::Time> not_before = {}) {
        out_.kind = Outlook::Kind::later;
        out_.at = not_before ? std::max(moment.at, *not_before) : moment.at;
        if (moment.holder->named) out_.job = moment.holder->job;
        out_.hosts = std::move(moment.placement.hosts);
        const auto verb = moment.at <= circumstances_.now ? "is due to end now" : "ends at " + at(moment.at);
        out_.sentence += fmt::format("; {} {} and makes it fit{}",
                                     out_.job ? "job " + to_string(*out_.job) : "another job", verb, where());
    }

    // Where it will be placed, unless the sentence has just named that part.
    std::string where() const {
        if (out_.parts.empty()) return {};
        const auto text = place_text(placer_.index(), request_.span, out_.hosts);
        const auto fullest = out_.part + " " + out_.parts.front().first.name;
        return text == fullest && request_.span != Span::any ? std::string() : " in " + text;
    }

    void without_end(std::optional<Moment> moment, const Request& request,
                     std::optional<base::Time> not_before = {}) {
        if (moment) return later(*std::move(moment), not_before);
        out_.kind = Outlook::Kind::open;
        const auto holders = future_.unlimited(request);
        if (holders.empty()) {
            auto idle = snapshot_;
            for (auto& state : idle.states)
                if (state == HostState::busy || state == HostState::mixed) state = HostState::free;
            out_.sentence += placer_.fits(idle, request) ? "; when the busy hosts become free is not known"
                                                         : "; it needs hosts that are drained or down now";
            return;
        }
        for (const auto* holder : holders)
            if (holder->named) out_.unlimited.push_back(holder->job);
        const bool one = holders.size() == 1;
        out_.sentence += fmt::format("; it fits when {} {}, which {} no time limit",
                                     jobs_text(out_.unlimited, holders.size() - out_.unlimited.size()),
                                     one ? "ends" : "have ended", one ? "has" : "have");
    }

    // `ever`, `anywhere`: whether an empty fabric would hold it with the wish, and without.
    void with_wish(bool ever, bool anywhere) {
        const auto ends = std::max(*circumstances_.wish_ends, circumstances_.now);
        const auto noun = part_noun(placer_.index(), request_.span);
        auto with = ever ? future_.earliest(request_, budget_) : std::nullopt;
        if (!anywhere) { // the wish is not what blocks it
            auto bare = without_wish(request_);
            out_.sentence =
                why_not(fabric_, Loads(placer_.index(), snapshot_, bare), circumstances_.remarks).text;
            return;
        }
        if (with && with->at <= ends) {
            later(*std::move(with));
            out_.sentence += fmt::format("; the wish for one {} ends at {}", noun, at(ends));
            return;
        }
        const auto bare = without_wish(request_);
        out_.sentence += fmt::format("; the wish for one {} ends at {}", noun, at(ends));
        auto any = placer_.place(snapshot_, bare, budget_);
        if (any) {
            out_.kind = Outlook::Kind::later;
            out_.at = ends;
            out_.hosts = std::move(any->hosts);
            out_.sentence += ", then any place will do";
            return;
        }
        out_.sentence += ", then any place will do";
        without_end(future_.earliest(bare, budget_), bare, ends);
    }

    void list_parts() {
        const auto span = request_.span == Span::any ? Span::unit : request_.span;
        out_.part = part_noun(placer_.index(), span);
        std::vector<std::uint8_t> excluded;
        if (!request_.excluded.empty()) excluded.assign(fabric_.hosts.size(), 0);
        for (const auto h : request_.excluded)
            if (h < excluded.size()) excluded[h] = 1;
        if (snapshot_.states.size() != fabric_.hosts.size()) return; // reported by place()
        const Loads loads(placer_.index(), snapshot_, request_);
        for (auto& part : parts_of(fabric_, placer_.index(), span)) {
            Tally tally(loads, excluded, part, remarks_);
            if (tally.excluded < part.size) out_.parts.emplace_back(std::move(part), std::move(tally));
        }
        std::stable_sort(out_.parts.begin(), out_.parts.end(),
                         [](const auto& a, const auto& b) { return a.second.free > b.second.free; });
    }

    const topo::Fabric& fabric_;
    const Placer& placer_;
    const Snapshot& snapshot_;
    const Request& request_;
    const Circumstances& circumstances_;
    Remarks remarks_;
    Budget budget_; // for all attempts together
    Future future_;
    Outlook out_;
};

} // namespace

std::string_view to_string(Outlook::Kind kind) {
    switch (kind) {
    case Outlook::Kind::fits: return "fits";
    case Outlook::Kind::later: return "later";
    case Outlook::Kind::open: return "open";
    case Outlook::Kind::never: break;
    }
    return "never";
}

Expected<Outlook> outlook(const topo::Fabric& fabric, const Placer& placer, const Snapshot& snapshot,
                          const Request& request, const Circumstances& circumstances) {
    return Forecaster(fabric, placer, snapshot, request, circumstances).forecast();
}

} // namespace sched
