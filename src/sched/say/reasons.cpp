#include "sched/say/reasons.hpp"

#include "sched/ask/segments.hpp"
#include "sched/say/words.hpp"
#include "sched/search/align.hpp"
#include "sched/search/fit.hpp"
#include "sched/search/nested_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace sched {
namespace {

using base::Code;
using base::Error;

std::string_view state_word(const Snapshot& snapshot, std::uint32_t host) {
    switch (snapshot.states[host]) {
    case HostState::mixed:
    case HostState::busy: return "busy";
    case HostState::drained: return "drained";
    case HostState::down: return "down";
    case HostState::free: break;
    }
    return "unhealthy (health 0)";
}

class Refusal {
public:
    Refusal(const topo::Fabric& fabric, const Loads& loads, const Remarks& remarks)
        : fabric_(fabric), loads_(loads), request_(loads.request()), remarks_(remarks),
          tier_(widest_tier(request_.span)), noun_(part_noun(loads.index(), request_.span)),
          parts_(parts_of(fabric, loads.index(), request_.span)) {
        if (!request_.excluded.empty()) excluded_.assign(fabric.hosts.size(), 0);
        for (const auto h : request_.excluded)
            excluded_[h] = 1;
        for (const auto& part : parts_)
            tallies_.emplace_back(loads, excluded_, part, remarks_);
    }

    Error explain() const {
        auto text = never();
        if (text.empty()) text = not_yet();
        return {Code::unfit, std::move(text)};
    }

private:
    // The largest gang that a part holds: now, or with all its hosts free and healthy.
    std::uint32_t holds(std::size_t part, bool ever) const {
        const auto& index = loads_.index();
        if (is_nested(index, loads_.steps(), request_.span)) return holds_nested(part, ever);
        const auto end = parts_[part].first + parts_[part].size;
        std::uint32_t hosts = 0, segments = 0;
        for (auto i = parts_[part].first; i < end;) {
            const auto u = index.unit_of[index.order[i]];
            const auto& unit = index.units[u];
            const auto here = ever ? unit.size - excluded_in(unit) : loads_.unit(u).candidates;
            hosts += here;
            if (request_.segment > 1) segments += here / request_.segment;
            i = unit.first + unit.size;
        }
        if (request_.segment <= 1) return hosts;
        const auto room = hosts < request_.spares ? 0 : (hosts - request_.spares) / request_.segment;
        return std::min(segments, room) * request_.segment + request_.spares;
    }
    std::uint32_t holds_nested(std::size_t part, bool ever) const {
        const auto& index = loads_.index();
        const auto& steps = loads_.steps();
        const auto first = parts_[part].first, end = first + parts_[part].size;
        const HostKind kind = [&](std::uint32_t h) {
            const auto at = index.position[h];
            if (at < first || at >= end) return 0;
            return ever ? (excluded_.empty() || excluded_[h] == 0 ? 1 : 0) : loads_.candidate(h) ? 1 : 0;
        };
        NestedRoom all;
        const auto last_pod = index.units[index.unit_of[index.order[end - 1]]].pod;
        for (auto p = index.units[index.unit_of[index.order[first]]].pod; p <= last_pod; ++p) {
            const auto room = room_in_pod(index, steps, p, kind);
            all.hosts += room.hosts;
            all.most += room.most;
        }
        if (!steps.any()) return all.hosts;
        return largest_gang(all, steps, request_.spares, all.hosts);
    }
    std::uint32_t excluded_in(const PlacementIndex::Unit& unit) const {
        std::uint32_t count = 0;
        for (auto i = unit.first; !excluded_.empty() && i < unit.first + unit.size; ++i)
            count += excluded_[loads_.index().order[i]];
        return count;
    }
    // "24 nodes in whole segments of 4".
    std::string gang() const {
        auto text = plural(request_.nodes, "node");
        if (loads_.steps().any())
            text += fmt::format(" in whole segments of {}", segments_text(sizes_of(request_)));
        return text;
    }
    // "19 free, 9 busy", and how many of the free ones segments can use.
    std::string tally(std::size_t part) const {
        auto text = tallies_[part].text(remarks_);
        if (loads_.steps().any()) text += fmt::format(" ({} in whole segments)", holds(part, false));
        return text;
    }
    bool holds_required(std::size_t part) const { return tallies_[part].required == loads_.required(); }
    std::string flag() const {
        return request_.span == Span::any ? std::string()
                                          : fmt::format(" with --rail-span={}", to_string(request_.span));
    }
    std::string names(const std::vector<std::uint32_t>& hosts) const {
        std::vector<std::string> out;
        for (const auto h : hosts)
            out.push_back(fabric_.hosts[h].name);
        std::sort(out.begin(), out.end());
        out.erase(std::unique(out.begin(), out.end()), out.end());
        return listed(out);
    }

    // What blocks the job permanently; empty if it would fit with all hosts free and healthy.
    std::string never() const {
        const auto verdict = remarks_.wish ? fmt::format("the wish for one {} can never be met", noun_)
                                           : fmt::format("this job can never run{}", flag());
        const auto hosts = fabric_.hosts.size();
        if (request_.spare_floor > 0 && request_.nodes - request_.spares + request_.spare_floor > hosts)
            return fmt::format("needs {}; of this fabric's {} {} are kept free for restarts: this job can "
                               "never run",
                               plural(request_.nodes, "node"), plural(hosts, "host"), request_.spare_floor);
        const auto excluded = static_cast<std::size_t>(std::count(excluded_.begin(), excluded_.end(), 1));
        if (hosts - excluded < request_.nodes) {
            const auto but =
                excluded > 0 ? fmt::format(", {} of them {}", excluded, remarks_.excluded) : std::string();
            return fmt::format("needs {}; this fabric has {}{}: this job can never run",
                               plural(request_.nodes, "node"), plural(hosts, "host"), but);
        }
        std::size_t largest = parts_.size();
        for (std::size_t i = 0; i < parts_.size(); ++i)
            if (holds_required(i) && (largest == parts_.size() || holds(i, true) > holds(largest, true)))
                largest = i;
        if (largest == parts_.size())
            return fmt::format("{} must be in and are not in one {}: {}", names(request_.required), noun_,
                               verdict);
        if (holds(largest, true) >= request_.nodes) return {};
        const auto& part = parts_[largest];
        const auto but = tallies_[largest].excluded > 0
                             ? fmt::format(", {} of them {}", tallies_[largest].excluded, remarks_.excluded)
                             : std::string();
        if (loads_.steps().any())
            return fmt::format("needs {}; {} has {}{}, {} of them in whole segments: {}", gang(), part.name,
                               plural(part.size, "host"), but, holds(largest, true), verdict);
        if (loads_.required() > 0)
            return fmt::format("needs {} in one {} with {}; {} has {}{}: {}", plural(request_.nodes, "node"),
                               noun_, names(request_.required), part.name, plural(part.size, "host"), but,
                               verdict);
        return fmt::format("no {} of this fabric has {} (the largest, {}, has {}{}): {}", noun_,
                           plural(request_.nodes, "host"), part.name, part.size, but, verdict);
    }

    // A segment can only include required hosts of one unit; spares can include the others.
    std::string no_room_for_required() const {
        const auto least = least_for_required(loads_);
        if (least && *least <= std::max(request_.nodes, request_.most)) return {};
        const auto text = fmt::format("needs {} with {}", gang(), names(request_.required));
        if (least)
            return fmt::format("{}: no segment is split over {}, so that it takes {}", text,
                               loads_.steps().domain > 1 ? "NVLink domains" : "units",
                               plural(*least, "node"));
        return fmt::format("{}: too few hosts are free beside these for a segment", text);
    }

    std::string not_yet() const {
        for (const auto h : request_.required)
            if (!loads_.candidate(h))
                return fmt::format("{} is required but is {}", fabric_.hosts[h].name,
                                   state_word(loads_.snapshot(), h));
        if (auto text = no_room_for_required(); !text.empty()) return text;
        std::size_t fullest = parts_.size();
        for (std::size_t i = 0; i < parts_.size(); ++i)
            if (holds_required(i) && holds(i, true) >= request_.nodes &&
                (fullest == parts_.size() || std::pair(holds(i, false), tallies_[i].free) >
                                                 std::pair(holds(fullest, false), tallies_[fullest].free)))
                fullest = i;
        const auto needs = "needs " + gang();
        const auto& name = parts_[fullest].name;
        if (request_.spare_floor > 0 && holds(fullest, false) >= request_.nodes)
            return fmt::format("{}; {} has {}, and {} are kept free for restarts", needs, name,
                               tally(fullest), plural(request_.spare_floor, "host"));
        if (parts_.size() == 1) return fmt::format("{}; {} has {}", needs, name, tally(fullest));
        if (loads_.required() > 0)
            return fmt::format("{} in one {} with {}; {} has {}", needs, noun_, names(request_.required),
                               name, tally(fullest));
        return fmt::format("{} in one {}; the fullest, {}, has {}", needs, noun_, name, tally(fullest));
    }

    const topo::Fabric& fabric_;
    const Loads& loads_;
    const Request& request_;
    const Remarks& remarks_;
    Tier tier_;
    std::string_view noun_;
    std::vector<Part> parts_;
    std::vector<std::uint8_t> excluded_; // by host; empty: none
    std::vector<Tally> tallies_;         // by part
};

class Grounds {
public:
    Grounds(const topo::Fabric& fabric, const Loads& loads, const Found& found)
        : fabric_(fabric), loads_(loads), index_(loads.index()), found_(found),
          nodes_(loads.request().nodes) {}

    std::vector<std::string> sentences() const {
        std::vector<std::string> out{where()};
        if (loads_.required() > 0) {
            std::vector<std::uint32_t> hosts;
            std::copy_if(found_.hosts.begin(), found_.hosts.end(), std::back_inserter(hosts),
                         [&](auto h) { return loads_.is_required(h); });
            out.push_back(fmt::format("{} in, as required", names(hosts)));
        }
        if (found_.domains > 0) out.push_back(domains());
        if (index_.rails > 0 && nodes_ > 1) out.push_back(rails());
        if (found_.avoidance > 0) out.push_back(impaired());
        if (!loads_.request().had.empty()) out.push_back(kept());
        out.push_back(left_behind());
        return out;
    }

private:
    std::string subject() const {
        return nodes_ == 1 ? fabric_.hosts[found_.hosts.front()].name : fmt::format("all {} nodes", nodes_);
    }

    std::string names(const std::vector<std::uint32_t>& hosts) const {
        return listed(hosts.size(), [&](std::size_t i) { return fabric_.hosts[hosts[i]].name; });
    }

    // "su1 32, su2 8": where the nodes are, by unit or by pod.
    std::string shares(bool by_pod) const {
        std::vector<std::pair<std::string_view, std::uint32_t>> parts;
        for (std::size_t i = 0; i < found_.taken.size();) {
            const auto& unit = index_.units[found_.taken[i].first];
            parts.emplace_back(by_pod ? index_.pods[unit.pod].name : unit.name, 0);
            do
                parts.back().second += found_.taken[i++].second;
            while (by_pod && i < found_.taken.size() && index_.units[found_.taken[i].first].pod == unit.pod);
        }
        return listed(parts.size(),
                      [&](std::size_t i) { return fmt::format("{} {}", parts[i].first, parts[i].second); });
    }

    // Why there is no smaller part: "no unit has 40 free nodes; the fullest, su1, has 32".
    std::string nothing_smaller(Tier tier) const {
        std::string_view noun = part_noun(tier);
        std::uint32_t most = 0;
        std::string_view name;
        const auto see = [&](std::uint32_t candidates, std::string_view part) {
            if (candidates <= most) return;
            most = candidates;
            name = part;
        };
        if (tier == one_unit)
            for (std::size_t u = 0; u < index_.units.size(); ++u)
                see(loads_.unit(static_cast<std::uint32_t>(u)).candidates, index_.units[u].name);
        else
            for (std::size_t p = 0; p < index_.pods.size(); ++p)
                see(loads_.pod_candidates(static_cast<std::uint32_t>(p)), index_.pods[p].name);
        if (most >= nodes_)
            return fmt::format("no {} with the required hosts has {} free nodes", noun, nodes_);
        return fmt::format("no {} has {} free nodes; the fullest, {}, has {}", noun, nodes_, name, most);
    }

    std::string where() const {
        const auto& unit = index_.units[found_.taken.front().first];
        const auto& pod = index_.pods[unit.pod];
        switch (found_.tier) {
        case one_unit:
            return fmt::format("{} in unit {} of {}: one unit is the smallest part that holds {}", subject(),
                               unit.name, pod.name, plural(nodes_, "free node"));
        case one_pod:
            return fmt::format("{} in {} of {} ({}): {}", subject(), plural(found_.units, "unit"), pod.name,
                               shares(false), nothing_smaller(one_unit));
        case one_island:
            return fmt::format("{} in {} and {} ({}): {}", subject(), plural(found_.units, "unit"),
                               plural(found_.pods, "pod"), shares(true), nothing_smaller(one_pod));
        case everywhere: break;
        }
        return fmt::format("{} in {} and {} ({}): no part of the fabric that links join has {} free nodes",
                           subject(), plural(found_.units, "unit"), plural(found_.pods, "pod"), shares(true),
                           nodes_);
    }

    std::string rails() const {
        const auto within = found_.tier == one_unit  ? "the unit"
                            : found_.tier == one_pod ? "the pod"
                                                     : "the fabric";
        if (found_.misaligned == 0)
            return fmt::format("{} aligned within {}",
                               index_.rails == 1 ? "the one rail is"
                                                 : fmt::format("all {} rails are", index_.rails),
                               within);
        std::vector<std::string> off;
        const auto telling = telling_hosts(index_, found_.hosts, found_.tier);
        for (std::uint32_t rail = 0; rail < index_.rails; ++rail)
            if (const auto host = off_rail(telling, rail); !host.empty())
                off.push_back(fmt::format("rail {} ({})", rail, host));
        return fmt::format("{} of {} rails are aligned within {}; not {}", index_.rails - found_.misaligned,
                           index_.rails, within, listed(off));
    }

    // "all in NVLink domain nvl3", "in 2 NVLink domains (nvl1 18, nvl2 6)".
    std::string domains() const {
        std::vector<std::string> names;
        std::uint32_t alone = 0;
        for (const auto& share : found_.shares) {
            const auto& domain = index_.domains[index_.domain_of[index_.order[share.first]]];
            if (domain.joined)
                names.push_back(fmt::format("{} {}", domain.name, share.hosts));
            else
                alone += share.hosts;
        }
        if (names.empty()) return fmt::format("{} in no NVLink domain", plural(alone, "node"));
        if (names.size() == 1 && alone == 0)
            return "all in NVLink domain " + names.front().substr(0, names.front().rfind(' '));
        auto text = fmt::format("in {} ({})", plural(names.size(), "NVLink domain"), listed(names));
        if (alone > 0) text += fmt::format(" and {} in none", plural(alone, "node"));
        return text;
    }

    // The first of the given hosts whose HCA keeps a rail from being aligned; empty if there is none.
    std::string off_rail(const std::vector<std::uint32_t>& hosts, std::uint32_t rail) const {
        const auto meeting = [&](std::uint32_t h) { return index_.meeting(h, rail, found_.tier); };
        const auto missing = std::find_if(hosts.begin(), hosts.end(), [&](auto h) { return meeting(h) < 0; });
        if (missing != hosts.end()) return fmt::format("{} has none", fabric_.hosts[*missing].name);
        const auto first = meeting(hosts.front());
        const auto other =
            std::find_if(hosts.begin(), hosts.end(), [&](auto h) { return meeting(h) != first; });
        if (other == hosts.end()) return {};
        return fmt::format("{} and {} are apart", fabric_.hosts[hosts.front()].name,
                           fabric_.hosts[*other].name);
    }

    std::string impaired() const {
        std::vector<std::uint32_t> hosts;
        std::copy_if(found_.hosts.begin(), found_.hosts.end(), std::back_inserter(hosts),
                     [&](auto h) { return loads_.avoidance(h) > 0; });
        const auto named = listed(hosts.size(), [&](std::size_t i) {
            return fmt::format("{} {:.2f}", fabric_.hosts[hosts[i]].name, loads_.snapshot().health[hosts[i]]);
        });
        return fmt::format("{} of reduced health in ({}): too few sound ones in so small a part",
                           plural(hosts.size(), "host"), named);
    }

    // "3 of the 4 nodes it had before; new to it is n9".
    std::string kept() const {
        std::vector<std::uint8_t> had(fabric_.hosts.size(), 0);
        std::size_t distinct = 0;
        for (const auto h : loads_.request().had)
            distinct += std::exchange(had[h], 1) == 0 ? 1 : 0;
        std::vector<std::uint32_t> fresh;
        std::copy_if(found_.hosts.begin(), found_.hosts.end(), std::back_inserter(fresh),
                     [&](auto h) { return had[h] == 0; });
        const auto stayed = found_.hosts.size() - fresh.size();
        auto text = stayed == distinct
                        ? fmt::format("all of the {} it had before", plural(distinct, "node"))
                        : fmt::format("{} of the {} it had before", stayed, plural(distinct, "node"));
        if (!fresh.empty() && stayed > 0)
            text += fmt::format("; new to it {} {}", fresh.size() == 1 ? "is" : "are", names(fresh));
        return text;
    }

    std::string left_behind() const {
        if (found_.left == 0) return "no free node is left over in the units used";
        if (found_.domains > 0) return left_in_domains();
        const auto left = fmt::format("{} left over in the units used", plural(found_.left, "free node"));
        if (found_.broken == 0) return left + "; no wholly free unit is broken up";
        return fmt::format("{}; {} broken up, {}", left, plural(found_.broken, "wholly free unit"),
                           why_broken());
    }

    // Health and previous hosts are more important than unbroken units and domains.
    const char* why_broken() const {
        const auto& snapshot = loads_.snapshot();
        const bool alike = loads_.index().regular && snapshot.health.empty() && loads_.request().had.empty();
        return alike ? "as nothing else of that size fits"
                     : "as nothing else is as good in what counts before";
    }

    std::string left_in_domains() const {
        auto text = fmt::format("{} left over in the units used, {} in the NVLink domains used",
                                plural(found_.left, "free node"), found_.left_in_domains);
        if (found_.broken_domains == 0 && found_.broken == 0)
            return text + "; no wholly free domain or unit is broken up";
        std::vector<std::string> broken;
        if (found_.broken_domains > 0) broken.push_back(plural(found_.broken_domains, "wholly free domain"));
        if (found_.broken > 0) broken.push_back(plural(found_.broken, "wholly free unit"));
        return fmt::format("{}; {} broken up, {}", text, listed(broken), why_broken());
    }

    const topo::Fabric& fabric_;
    const Loads& loads_;
    const PlacementIndex& index_;
    const Found& found_;
    std::uint32_t nodes_;
};

} // namespace

std::string not_exact(const Found& found, const Fewest& fewest) {
    constexpr std::string_view spent =
        "the budget of work was spent before all other places were looked at: ";
    const auto pods = found.pods - fewest.pods, units = found.units - fewest.units;
    if (pods > 0)
        return fmt::format("{}this one is within {} of the proven bound of {}", spent, plural(pods, "pod"),
                           fewest.pods);
    if (units > 0)
        return fmt::format("{}no place has fewer pods, and this one is within {} of the proven bound of {}",
                           spent, plural(units, "unit"), fewest.units);
    return fmt::format("{}no place has fewer pods or units, but rails, health or what is left over may be "
                       "better elsewhere",
                       spent);
}

std::vector<std::string> why_here(const topo::Fabric& fabric, const Loads& loads, const Found& found) {
    return Grounds(fabric, loads, found).sentences();
}

Error why_not(const topo::Fabric& fabric, const Loads& loads, const Remarks& remarks) {
    return Refusal(fabric, loads, remarks).explain();
}

} // namespace sched
