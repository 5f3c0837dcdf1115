// What a job asks of its placement. Filled from sbatch flags (hints.hpp), railplan's options or a test.
#pragma once

#include "base/expected.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sched {

// The largest part of the fabric the job may span; unset (any) asks for nothing but still prefers the
// smallest. The smallest is the last, as advisor.h numbers them.
enum class Span : std::uint8_t { any, unit, pod, fabric, domain };

// "domain", "unit", "pod", "fabric". Errors (Code::input) name the word and what is allowed.
base::Expected<Span> parse_span(std::string_view word);
std::string_view to_string(Span span);

// In which order the launcher numbers the hosts (rank_order.hpp).
enum class RankOrder : std::uint8_t { none, ring, tree };

// "ring", "tree", "none". Errors as above.
base::Expected<RankOrder> parse_order(std::string_view word);
std::string_view to_string(RankOrder order);

// Sizes of segments, "8" or nested "2:8:32", the smallest first: each divides the next, of at most four.
// Errors (Code::input) say what is allowed.
inline constexpr std::size_t most_segments = 4;
base::Expected<std::vector<std::uint32_t>> parse_segments(std::string_view text);
std::string segments_text(const std::vector<std::uint32_t>& sizes);

struct Request {
    // The gang, spares included: all of them at once. With `most` above `nodes` as many as fit, at most that
    // many; the hard limits below come first. most 0: exactly `nodes`.
    std::uint32_t nodes = 1;
    std::uint32_t most = 0;
    Span span = Span::any; // hard; when a wish ends is for the caller to know (apply_hints)
    // Ranks come in groups of this many hosts (tensor or pipeline groups), no group is split over units, nor
    // over NVLink domains where it fits one; it divides the hosts that are not spares. 0: no groups.
    std::uint32_t segment = 0;
    // Groups of groups: each of these sizes is a multiple of the one before, `segment` first, and groups of
    // it are not split over parts of the kind that segments.hpp says; the last one divides the hosts that are
    // not spares. Empty: there are none.
    std::vector<std::uint32_t> outer_segments{};
    // So many hosts of the gang are spares: they stand idle inside the allocation, for the ranks of a host
    // that fails. They need no segment and are last in rank order.
    std::uint32_t spares = 0;
    RankOrder order = RankOrder::ring;
    std::vector<std::uint32_t> required{}; // host indices that must be in
    std::vector<std::uint32_t> excluded{}; // host indices that must not be in
    // Takes hosts on which other jobs run too, where they have room (HostState::mixed), before idle ones.
    bool shared = false;
    // Hosts kept free for restarts: so many healthy idle hosts must remain, not counting those that this
    // request's own spares take; hosts that other jobs use keep none. A restart itself asks with 0.
    std::uint32_t spare_floor = 0;
    // Hosts that a job which starts again had before: of placements that are as good in what matters more
    // (place.hpp), one on as many of these as can be. Those that are no candidates count for nothing.
    std::vector<std::uint32_t> had{};
};

} // namespace sched
