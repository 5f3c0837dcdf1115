#include "sched/explain.hpp"

#include "base/hostlist.hpp"
#include "sched/say/words.hpp"
#include "sched/search/found.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace sched {
namespace {

// All terms except `nodes` are those of the score, in the same order.
ScoreTerm term_of(const Score& score, Term term) {
    return terms_of(score).at(static_cast<std::size_t>(term) - 1);
}

std::string_view tier_text(std::uint32_t tier) {
    constexpr std::array<std::string_view, 4> texts{"one unit", "one pod", "several pods", "unlinked parts"};
    return texts[std::min<std::size_t>(tier, 3)];
}

std::vector<std::uint32_t> units_of(const PlacementIndex& index, const std::vector<std::uint32_t>& hosts) {
    std::vector<std::uint32_t> units;
    for (const auto h : hosts)
        units.push_back(index.unit_of[h]);
    std::sort(units.begin(), units.end());
    units.erase(std::unique(units.begin(), units.end()), units.end());
    return units;
}

Snapshot with_free(const Snapshot& snapshot, const std::vector<std::uint32_t>& hosts) {
    auto freed = snapshot;
    for (const auto h : hosts)
        freed.states[h] = HostState::free;
    return freed;
}

std::string names(const topo::Fabric& fabric, const std::vector<std::uint32_t>& hosts) {
    std::vector<std::string> out;
    for (const auto h : hosts)
        out.push_back(fabric.hosts[h].name);
    return base::fold_sorted(std::move(out));
}

struct Alternative {
    Scored scored;
    std::uint32_t without = 0;
};

// The units of these hosts that a placement can do without, those with most of its hosts first.
std::vector<std::uint32_t> dispensable(const PlacementIndex& index, const Request& request,
                                       const std::vector<std::uint32_t>& hosts) {
    std::map<std::uint32_t, std::uint32_t> taken;
    for (const auto h : hosts)
        ++taken[index.unit_of[h]];
    for (const auto h : request.required)
        taken.erase(index.unit_of[h]);
    std::vector<std::uint32_t> units;
    for (const auto& [unit, count] : taken)
        units.push_back(unit);
    std::stable_sort(units.begin(), units.end(), [&](auto a, auto b) { return taken[a] > taken[b]; });
    if (units.size() > most_alternatives) units.resize(most_alternatives);
    return units;
}

std::optional<Alternative> runner_up(const Placer& placer, const Snapshot& snapshot, const Request& request,
                                     const std::vector<std::uint32_t>& hosts, Budget& budget) {
    const auto& index = placer.index();
    std::optional<Alternative> best;
    for (const auto unit : dispensable(index, request, hosts)) {
        auto narrowed = request;
        const auto& part = index.units[unit];
        narrowed.excluded.insert(narrowed.excluded.end(), index.order.begin() + part.first,
                                 index.order.begin() + part.first + part.size);
        auto placed = placer.place(snapshot, narrowed, budget);
        if (!placed) continue;
        Alternative found{{std::move(placed->hosts), placed->score}, unit};
        if (!best || better(found.scored, best->scored)) best = std::move(found);
    }
    return best;
}

// "su1 32, su2 8".
std::string shares(const PlacementIndex& index, const std::vector<std::uint32_t>& hosts) {
    std::map<std::uint32_t, std::uint32_t> taken;
    for (const auto h : hosts)
        ++taken[index.unit_of[h]];
    std::vector<std::string> texts;
    for (const auto& [unit, count] : taken)
        texts.push_back(fmt::format("{} {}", index.units[unit].name, count));
    return listed(texts);
}

std::string pods_text(const PlacementIndex& index, const std::vector<std::uint32_t>& hosts) {
    std::vector<std::string> texts;
    for (const auto unit : units_of(index, hosts))
        if (const auto& name = index.pods[index.units[unit].pod].name; texts.empty() || texts.back() != name)
            texts.push_back(name);
    return listed(texts);
}

// How many hosts are ones that the job had before.
std::size_t kept(const Scored& scored) {
    return scored.hosts.size() - scored.score.moved;
}

// The value of a term for these hosts, as a sentence.
std::string sentence_of(const PlacementIndex& index, const Request& request, const Scored& chosen,
                        Term term) {
    const auto& score = chosen.score;
    switch (term) {
    case Term::nodes:
        return fmt::format("{} of the {} to {} asked for", chosen.hosts.size(), request.nodes, request.most);
    case Term::tier:
        switch (score.tier) {
        case one_unit: return "all nodes in one unit";
        case one_pod: return "all nodes in one pod";
        case one_island: return "in parts of the fabric that links join";
        default: return "in parts of the fabric that no link joins";
        }
    case Term::pods: return fmt::format("in {}", pods_text(index, chosen.hosts));
    case Term::units: return shares(index, chosen.hosts);
    case Term::domains:
        return score.domains == 1 ? "all nodes in one NVLink domain"
                                  : fmt::format("in {} NVLink domains", score.domains);
    case Term::misaligned_rails:
        if (index.rails == 0) return "this fabric has no rails";
        if (chosen.hosts.size() == 1) return "one node has nothing to align";
        return fmt::format("{} of {} rails meet within {}", index.rails - score.misaligned_rails, index.rails,
                           score.tier == one_unit  ? "the unit"
                           : score.tier == one_pod ? "the pod"
                                                   : "the fabric");
    case Term::avoidance:
        return score.avoidance == 0 ? "all nodes are sound" : "nodes of reduced health (sum of 1 - health)";
    case Term::moved:
        return fmt::format("{} of the {} it had before", kept(chosen), plural(request.had.size(), "node"));
    case Term::broken_domains:
        return score.broken_domains == 0 ? "no wholly free NVLink domain is broken up"
                                         : "wholly free NVLink domains of which a part is taken";
    case Term::left_in_domains:
        return score.left_in_domains == 0 ? "the NVLink domains used are full"
                                          : "left free in the NVLink domains used";
    case Term::broken_units:
        return score.broken_units == 0 ? "no wholly free unit is broken up"
                                       : "wholly free units of which a part is taken";
    case Term::left_over: break;
    }
    return score.left_over == 0 ? "the units used are full" : "left free in the units used";
}

std::string_view plainly(Term term) {
    switch (term) {
    case Term::nodes: return "more nodes";
    case Term::tier: return "the smaller part";
    case Term::pods: return "fewer pods";
    case Term::units: return "fewer units";
    case Term::domains: return "fewer NVLink domains";
    case Term::misaligned_rails: return "fewer rails that do not meet";
    case Term::avoidance: return "sounder nodes";
    case Term::moved: return "more of the nodes it had before";
    case Term::broken_domains: return "fewer wholly free NVLink domains broken up";
    case Term::broken_units: return "fewer wholly free units broken up";
    case Term::left_in_domains: return "fewer free nodes left over in the NVLink domains used";
    case Term::left_over: break;
    }
    return "fewer free nodes left over in the units used";
}

// "fewer units (1, there 2)".
std::string difference(const Scored& better, const Scored& worse, Term term) {
    if (term == Term::moved)
        return fmt::format("{} ({}, there {})", plainly(term), kept(better), kept(worse));
    return fmt::format("{} ({}, there {})", plainly(term), value_text(better, term), value_text(worse, term));
}

Explanation begin(const PlacementIndex& index, const Request& request, Scored chosen) {
    Explanation out;
    out.chosen = std::move(chosen);
    for (std::size_t i = request.most > request.nodes ? 0 : 1; i < term_count; ++i) {
        const auto term = static_cast<Term>(i);
        if (term == Term::moved && request.had.empty()) continue;
        if (of_domains(term) && index.domains.empty()) continue;
        out.terms.push_back({term, sentence_of(index, request, out.chosen, term)});
    }
    return out;
}

void add_runner_up(Explanation& out, const topo::Fabric& fabric, const Placer& placer,
                   const Snapshot& snapshot, const Request& request, Budget& budget) {
    auto other = runner_up(placer, snapshot, request, out.chosen.hosts, budget);
    if (!other) {
        const auto units = units_of(placer.index(), out.chosen.hosts).size();
        out.sentence =
            units == 1 ? "every placement needs this unit" : "every placement needs all of these units";
        return;
    }
    out.decided = first_difference(out.chosen, other->scored);
    const auto there = fmt::format("{}, the best without {}", names(fabric, other->scored.hosts),
                                   placer.index().units[other->without].name);
    out.sentence = out.decided ? fmt::format("better than {}, for {}", there,
                                             difference(out.chosen, other->scored, *out.decided))
                               : "as good as " + there;
    out.without = {other->without};
    out.other = std::move(other->scored);
}

void note_cuts(Explanation& out, const Budget& budget) {
    out.exact = budget.cuts() == 0;
    if (!out.exact) out.sentence += "; not every other place was looked at, the budget of work was spent";
}

// The smallest change that makes a request match these hosts.
void widen(Request& request, const PlacementIndex& index, const Scored& held) {
    request.nodes = static_cast<std::uint32_t>(held.hosts.size());
    request.most = 0;
    request.spare_floor = 0;
    const bool split =
        request.span == Span::domain && (held.score.tier > one_unit || held.score.domains != 1);
    if (split || widest_tier(request.span) < held.score.tier) request.span = Span::any;
    std::vector<std::uint8_t> mine(index.order.size(), 0);
    for (const auto h : held.hosts)
        mine[h] = 1;
    std::erase_if(request.excluded, [&](std::uint32_t h) { return mine[h] != 0; });
    std::erase_if(request.required, [&](std::uint32_t h) { return mine[h] == 0; });
    if (request.spares >= request.nodes) request.spares = 0;
    if (request.segment != 0 && (request.nodes - request.spares) % largest_segment(request) != 0) {
        request.segment = 0;
        request.outer_segments.clear();
    }
}

} // namespace

bool of_domains(Term term) {
    return term == Term::domains || term == Term::broken_domains || term == Term::left_in_domains;
}

std::string_view to_string(Term term) {
    return term == Term::nodes ? "nodes" : term_of({}, term).key;
}

std::string_view heading(Term term) {
    return term == Term::nodes ? "nodes" : term_of({}, term).words;
}

double value(const Scored& scored, Term term) {
    return term == Term::nodes ? static_cast<double>(scored.hosts.size()) : term_of(scored.score, term).value;
}

std::string value_text(const Scored& scored, Term term) {
    if (term == Term::tier) return std::string(tier_text(scored.score.tier));
    if (term == Term::avoidance) return fmt::format("{:.3f}", scored.score.avoidance);
    return fmt::format("{:.0f}", value(scored, term));
}

std::optional<Term> first_difference(const Scored& a, const Scored& b) {
    if (a.hosts.size() != b.hosts.size()) return Term::nodes;
    if (compare(a.score, b.score) == 0) return {};
    for (std::size_t i = 1; i < term_count; ++i)
        if (value_text(a, static_cast<Term>(i)) != value_text(b, static_cast<Term>(i)))
            return static_cast<Term>(i);
    return {};
}

bool better(const Scored& a, const Scored& b) {
    if (a.hosts.size() != b.hosts.size()) return a.hosts.size() > b.hosts.size();
    return compare(a.score, b.score) < 0;
}

Explanation explain_placement(const topo::Fabric& fabric, const Placer& placer, const Snapshot& snapshot,
                              const Request& request, const std::vector<std::uint32_t>& hosts,
                              Budget budget) {
    auto out = begin(placer.index(), request, {hosts, score_of(placer.index(), snapshot, request, hosts)});
    add_runner_up(out, fabric, placer, snapshot, request, budget);
    note_cuts(out, budget);
    return out;
}

Explanation explain_allocation(const topo::Fabric& fabric, const Placer& placer, const Snapshot& snapshot,
                               Request request, const std::vector<std::uint32_t>& hosts, Budget budget) {
    const auto& index = placer.index();
    const auto freed = with_free(snapshot, hosts);
    Scored held{hosts, score_of(index, freed, request, hosts)};
    widen(request, index, held);
    auto out = begin(index, request, std::move(held));
    if (auto best = placer.place(freed, request, budget)) {
        Scored now{std::move(best->hosts), best->score};
        if (better(now, out.chosen)) {
            out.decided = first_difference(now, out.chosen);
            out.sentence = fmt::format("{} would be better now, for {}", names(fabric, now.hosts),
                                       difference(now, out.chosen, *out.decided));
            out.other_is_better = true;
            out.other = std::move(now);
            note_cuts(out, budget);
            return out;
        }
    }
    add_runner_up(out, fabric, placer, freed, request, budget);
    note_cuts(out, budget);
    return out;
}

} // namespace sched
