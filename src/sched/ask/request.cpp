#include "sched/ask/request.hpp"

#include "base/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace sched {

base::Expected<Span> parse_span(std::string_view word) {
    if (word == "domain") return Span::domain;
    if (word == "unit") return Span::unit;
    if (word == "pod") return Span::pod;
    if (word == "fabric") return Span::fabric;
    return base::Error{base::Code::input, fmt::format("{}: must be domain, unit, pod or fabric", word)};
}

std::string_view to_string(Span span) {
    switch (span) {
    case Span::domain: return "domain";
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

base::Expected<std::vector<std::uint32_t>> parse_segments(std::string_view text) {
    constexpr std::uint32_t most = 1'000'000;
    std::vector<std::uint32_t> sizes;
    const auto refuse = [](std::string what) { return base::Error{base::Code::input, std::move(what)}; };
    for (bool more = true; more;) {
        const auto colon = text.find(':');
        more = colon != std::string_view::npos;
        const auto size = base::parse_count(text.substr(0, colon));
        if (!size || *size < 1 || *size > most)
            return refuse(sizes.empty() && !more
                              ? fmt::format("must be a whole number of hosts from 1 to {}", most)
                              : fmt::format("must be sizes from 1 to {} with colons between them, such as "
                                            "2:8:32",
                                            most));
        if (!sizes.empty() && (*size <= sizes.back() || *size % sizes.back() != 0))
            return refuse(fmt::format("groups of {} are not made of whole groups of {}: each size must be a "
                                      "multiple of the one before",
                                      *size, sizes.back()));
        if (sizes.size() == most_segments) return refuse(fmt::format("at most {} sizes", most_segments));
        sizes.push_back(static_cast<std::uint32_t>(*size));
        if (more) text.remove_prefix(colon + 1);
    }
    return sizes;
}

std::string segments_text(const std::vector<std::uint32_t>& sizes) {
    return fmt::format("{}", fmt::join(sizes, ":"));
}

} // namespace sched
