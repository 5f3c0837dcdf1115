// What a job requests of its placement. Filled from sbatch flags (hints.hpp), railplan's options or a test.
#pragma once

#include "base/expected.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sched {

// The largest part of the fabric that the job may span; unset (any) requires nothing but still prefers the
// smallest. The smallest is listed last, in the numbering of advisor.h.
enum class Span : std::uint8_t { any, unit, pod, fabric, domain };

// "domain", "unit", "pod", "fabric". Errors (Code::input) give the word and what is allowed.
base::Expected<Span> parse_span(std::string_view word);
std::string_view to_string(Span span);

// How the launcher numbers the hosts (rank_order.hpp).
enum class RankOrder : std::uint8_t { none, ring, tree };

// "ring", "tree", "none". Errors as above.
base::Expected<RankOrder> parse_order(std::string_view word);
std::string_view to_string(RankOrder order);

// Sizes of segments, "8" or nested "2:8:32", the smallest first: at most four, each a divisor of the next.
// Errors (Code::input) list what is allowed.
inline constexpr std::size_t most_segments = 4;
base::Expected<std::vector<std::uint32_t>> parse_segments(std::string_view text);
std::string segments_text(const std::vector<std::uint32_t>& sizes);

struct Request {
    // The gang, spares included: all of them at once. If `most` is above `nodes`, as many as fit, up to that;
    // the hard limits below take precedence. most 0: exactly `nodes`.
    std::uint32_t nodes = 1;
    std::uint32_t most = 0;
    Span span = Span::any; // hard; the caller decides when a wish ends (apply_hints)
    // Ranks are grouped by this many hosts (tensor or pipeline groups). No group is split over units, nor
    // over NVLink domains if it fits into one; it must divide the number of hosts that are not spares. 0: no
    // groups.
    std::uint32_t segment = 0;
    // Groups of groups: each size is a multiple of the previous one, `segment` first, and its groups are kept
    // within the kind of part given by segments.hpp; the last one divides the hosts that are not spares.
    // Empty: none.
    std::vector<std::uint32_t> outer_segments{};
    // This many hosts of the gang are spares: idle inside the allocation, for the ranks of a host that fails.
    // They are in no segment and last in rank order.
    std::uint32_t spares = 0;
    RankOrder order = RankOrder::ring;
    std::vector<std::uint32_t> required{}; // host indices that must be included
    std::vector<std::uint32_t> excluded{}; // host indices that must not be included
    // Prefers hosts on which other jobs run and which have room (HostState::mixed) over idle ones.
    bool shared = false;
    // The healthy idle hosts that must remain for restarts, besides those that this request's own spares
    // take; hosts in use do not count. A restart itself uses 0.
    std::uint32_t spare_floor = 0;
    // The previous hosts of a restarted job: of placements equal in the more important terms (place.hpp), the
    // one with most of these is chosen. Those that are not candidates are ignored.
    std::vector<std::uint32_t> had{};
};

} // namespace sched
