#include "sched/ask/segments.hpp"

#include <algorithm>

namespace sched {

std::vector<std::uint32_t> sizes_of(const Request& request) {
    std::vector<std::uint32_t> sizes;
    if (request.segment == 0) return sizes;
    sizes.push_back(request.segment);
    sizes.insert(sizes.end(), request.outer_segments.begin(), request.outer_segments.end());
    return sizes;
}

std::uint32_t largest_segment(const Request& request) {
    return std::max(request.outer_segments.empty() ? request.segment : request.outer_segments.back(), 1U);
}

Steps steps_of(const PlacementIndex& index, const std::vector<std::uint32_t>& sizes) {
    return steps_of(index.largest_domain, index.largest_unit, sizes);
}

Steps steps_of(std::uint32_t largest_domain, std::uint32_t largest_unit,
               const std::vector<std::uint32_t>& sizes) {
    Steps steps;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const auto size = std::max(sizes[i], 1U);
        if (size <= largest_domain) steps.domain = size;
        if (i == 0 || size <= largest_unit) steps.unit = size;
        steps.pod = steps.whole = size;
    }
    return steps;
}

Steps steps_of(const PlacementIndex& index, const Request& request) {
    if (request.outer_segments.empty()) { // the usual case
        const auto size = std::max(request.segment, 1U);
        return {size <= index.largest_domain ? size : 1, size, size, size};
    }
    return steps_of(index, sizes_of(request));
}

void fold_segments(const PlacementIndex& index, Request& request) {
    if (request.outer_segments.empty() || !index.domains.empty()) return;
    const auto steps = steps_of(index, request);
    if (steps.pod != steps.unit) return;
    request.segment = steps.unit;
    request.outer_segments.clear();
}

} // namespace sched
