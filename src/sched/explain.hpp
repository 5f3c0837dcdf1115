// Why a placement is as it is: each term of its score beside the same term of the best alternative, and the
// term that decided. For placements of ours and for allocations that a resource manager chose. Pure.
#pragma once

#include "sched/place.hpp"
#include "sched/score.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sched {

// The terms in which placements differ, the most important first (place.hpp). Of `nodes` more is better, of
// all others less.
enum class Term : std::uint8_t {
    nodes, // a request for 4 to 8 nodes gets as many as fit
    tier,
    pods,
    units,
    domains, // as others: of_domains()
    misaligned_rails,
    avoidance,
    moved, // only of requests that say what the job had before
    broken_domains,
    broken_units,
    left_in_domains,
    left_over
};
inline constexpr std::size_t term_count = 12;

std::string_view to_string(Term term); // as in JSON: "misaligned_rails"
bool of_domains(Term term);            // only on fabrics that have NVLink domains
std::string_view heading(Term term);   // for people: "wholly free units broken up"

// Hosts and their score.
struct Scored {
    std::vector<std::uint32_t> hosts;
    Score score;
};

double value(const Scored& scored, Term term);
// The value in words: "one unit" of tier, "2" of pods, "0.50" of avoidance.
std::string value_text(const Scored& scored, Term term);

// The first term in which two differ; nullopt when they are equally good.
std::optional<Term> first_difference(const Scored& a, const Scored& b);
bool better(const Scored& a, const Scored& b);

// More alternatives than this are not tried.
inline constexpr std::size_t most_alternatives = 64;

struct TermLine {
    Term term = Term::nodes;
    std::string text; // what these hosts have of it: "2 free nodes left over in the units used"
};

struct Explanation {
    Scored chosen;
    // The runner-up: the best placement of the same request that does without at least one of the units
    // chosen. Exact for up to most_alternatives units; beyond that, only the units of which most hosts were
    // taken are left out. Of an allocation that place() could improve on now, what it would choose. nullopt
    // when every placement needs these units.
    std::optional<Scored> other;
    std::vector<std::uint32_t> without; // of the runner-up: the unit's index that it does without; else empty
    bool other_is_better = false;       // of allocations only
    std::optional<Term> decided;        // where the two differ first; nullopt: the fabric's order decided
    std::string sentence;               // what decided, for people
    // The budget sufficed for everything: the runner-up is the best there is, and place() would choose these
    // hosts.
    bool exact = true;
    std::vector<TermLine> terms; // in order; `nodes` only where the request leaves a choice
};

// What one explanation may cost: as much as a few placements, however many alternatives it tries.
inline Budget explaining(const Placer& placer) {
    return Budget(8 * placer.budget().left());
}

// For what place(snapshot, request) returned. `budget`: for all alternatives together.
Explanation explain_placement(const topo::Fabric& fabric, const Placer& placer, const Snapshot& snapshot,
                              const Request& request, const std::vector<std::uint32_t>& hosts, Budget budget);

// For the hosts of a running job, whatever program chose them, which count as free here: what place() would
// choose for as many nodes, and whether that is better. A request that these hosts do not meet (a wish that
// ended, a host excluded later) is widened by what they need.
Explanation explain_allocation(const topo::Fabric& fabric, const Placer& placer, const Snapshot& snapshot,
                               Request request, const std::vector<std::uint32_t>& hosts, Budget budget);

} // namespace sched
