// Why a placement was chosen: each term of its score next to that of the best alternative, and the term that
// decided. For our own placements and for allocations chosen by a resource manager. Pure.
#pragma once

#include "sched/place.hpp"
#include "sched/score.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sched {

// The terms in which placements differ, the most important first (place.hpp). For `nodes` more is better, for
// all others less.
enum class Term : std::uint8_t {
    nodes, // a request for 4 to 8 nodes gets as many as fit
    tier,
    pods,
    units,
    domains, // like the others of of_domains()
    misaligned_rails,
    avoidance,
    moved, // only if the request gives the job's previous hosts
    broken_domains,
    broken_units,
    left_in_domains,
    left_over
};
inline constexpr std::size_t term_count = 12;

std::string_view to_string(Term term); // as in JSON: "misaligned_rails"
bool of_domains(Term term);            // only on fabrics with NVLink domains
std::string_view heading(Term term);   // for display: "wholly free units broken up"

// Hosts and their score.
struct Scored {
    std::vector<std::uint32_t> hosts;
    Score score;
};

double value(const Scored& scored, Term term);
// The value as text: "one unit" for tier, "2" for pods, "0.50" for avoidance.
std::string value_text(const Scored& scored, Term term);

// The first term in which two differ; nullopt if they are equally good.
std::optional<Term> first_difference(const Scored& a, const Scored& b);
bool better(const Scored& a, const Scored& b);

// More alternatives than this are not tried.
inline constexpr std::size_t most_alternatives = 64;

struct TermLine {
    Term term = Term::nodes;
    std::string text; // the value for these hosts: "2 free nodes left over in the units used"
};

struct Explanation {
    Scored chosen;
    // The runner-up: the best placement of the same request that does without at least one of the chosen
    // units. Exact for up to most_alternatives units; beyond that, only the units with most hosts are left
    // out. For an allocation that place() could improve now: what it would choose. nullopt if every placement
    // needs these units.
    std::optional<Scored> other;
    std::vector<std::uint32_t> without; // for the runner-up: index of the unit that it does without; or empty
    bool other_is_better = false;       // for allocations only
    std::optional<Term> decided;        // the first difference; nullopt: the fabric's order decided
    std::string sentence;               // what decided, for users
    // The budget was sufficient: the runner-up is the best there is, and place() would choose these hosts.
    bool exact = true;
    std::vector<TermLine> terms; // in order; `nodes` only if the request leaves a choice
};

// The limit for one explanation: as much as a few placements, however many alternatives it tries.
inline Budget explaining(const Placer& placer) {
    return Budget(8 * placer.budget().left());
}

// For the result of place(snapshot, request). `budget`: for all alternatives together.
Explanation explain_placement(const topo::Fabric& fabric, const Placer& placer, const Snapshot& snapshot,
                              const Request& request, const std::vector<std::uint32_t>& hosts, Budget budget);

// For the hosts of a running job, whoever chose them; here they count as free. Shows what place() would
// choose for as many nodes, and whether that is better. If these hosts do not satisfy the request (a wish
// that ended, a host excluded later), it is widened as far as needed.
Explanation explain_allocation(const topo::Fabric& fabric, const Placer& placer, const Snapshot& snapshot,
                               Request request, const std::vector<std::uint32_t>& hosts, Budget budget);

} // namespace sched
