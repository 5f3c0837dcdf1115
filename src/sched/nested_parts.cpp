#include "sched/nested_parts.hpp"

namespace sched {

NestedParts nested_parts(const Loads& loads) {
    const auto& index = loads.index();
    NestedParts parts;
    const auto add = [&](std::uint32_t first, std::uint32_t size, bool joined) {
        NestedPart part{first, size, 0, 0, 0, joined, !loads.idle_bound()};
        std::uint32_t penalised = 0;
        for (auto i = first; i < first + size; ++i) {
            const auto h = index.order[i];
            const std::uint32_t in = loads.candidate(h) ? 1 : 0;
            part.free += loads.free(h) ? 1 : 0;
            part.candidates += in;
            part.required += in & (loads.is_required(h) ? 1U : 0U);
            penalised += in & (loads.penalty(h) != 0 ? 1U : 0U);
        }
        part.plain = part.plain && penalised == 0 && part.required == 0;
        parts.all.push_back(part);
    };
    for (std::uint32_t u = 0; u < index.units.size(); ++u) {
        parts.first_of.push_back(static_cast<std::uint32_t>(parts.all.size()));
        if (index.domains.empty()) {
            add(index.units[u].first, index.units[u].size, false);
            continue;
        }
        for (auto d = index.first_domain[u]; d < index.first_domain[u + 1]; ++d)
            add(index.domains[d].first, index.domains[d].size, index.domains[d].joined);
    }
    parts.first_of.push_back(static_cast<std::uint32_t>(parts.all.size()));
    return parts;
}

} // namespace sched
