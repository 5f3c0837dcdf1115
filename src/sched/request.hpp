// What a job asks of its placement. Filled from sbatch flags (hints.hpp), railplan's options or a test.
#pragma once

#include "base/expected.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sched {

// The largest part of the fabric the job may span; unset (any) asks for nothing but still prefers the
// smallest.
enum class Span : std::uint8_t { any, unit, pod, fabric };

// "unit", "pod", "fabric". Errors (Code::input) name the word and what is allowed.
base::Expected<Span> parse_span(std::string_view word);
std::string_view to_string(Span span);

enum class RankOrder : std::uint8_t { none, ring };

struct Request {
    std::uint32_t nodes = 1;             // the gang: all of them at once
    Span span = Span::any;               // hard
    RankOrder order = RankOrder::ring;   // ring: by pod, unit, then host
    std::vector<std::uint32_t> required; // host indices that must be in
    std::vector<std::uint32_t> excluded; // host indices that must not be in
};

} // namespace sched
