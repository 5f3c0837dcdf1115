#include "sched/request.hpp"

#include <fmt/format.h>

namespace sched {

base::Expected<Span> parse_span(std::string_view word) {
    if (word == "unit") return Span::unit;
    if (word == "pod") return Span::pod;
    if (word == "fabric") return Span::fabric;
    return base::Error{base::Code::input, fmt::format("{}: must be unit, pod or fabric", word)};
}

std::string_view to_string(Span span) {
    switch (span) {
    case Span::unit: return "unit";
    case Span::pod: return "pod";
    case Span::fabric: return "fabric";
    case Span::any: break;
    }
    return "any";
}

base::Expected<RankOrder> parse_order(std::string_view word) {
    if (word == "ring") return RankOrder::ring;
    if (word == "tree") return RankOrder::tree;
    if (word == "none") return RankOrder::none;
    return base::Error{base::Code::input, fmt::format("{}: must be ring, tree or none", word)};
}

std::string_view to_string(RankOrder order) {
    switch (order) {
    case RankOrder::ring: return "ring";
    case RankOrder::tree: return "tree";
    case RankOrder::none: break;
    }
    return "none";
}

} // namespace sched
