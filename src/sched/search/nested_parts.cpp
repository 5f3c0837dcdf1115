#include "sched/search/nested_parts.hpp"

#include <algorithm>
#include <memory>

namespace sched {

namespace {

NestedParts count_parts(const Loads& loads) {
    const auto& index = loads.index();
    NestedParts parts;
    const auto add = [&](const UnitLoad& load, std::uint32_t first, std::uint32_t size, bool joined) {
        NestedPart part{first, size, 0, 0, 0, joined, true};
        for (auto i = first; i < first + size; ++i)
            part.candidates += loads.candidate(index.order[i]) ? 1 : 0;
        part.free = part.candidates;
        if (load.free != load.candidates) {
            part.free = 0;
            for (auto i = first; i < first + size; ++i)
                part.free += loads.free(index.order[i]) ? 1 : 0;
        }
        bool penalised = false;
        for (auto i = first; (load.impaired > 0 || load.required > 0) && i < first + size; ++i) {
            const auto h = index.order[i];
            if (!loads.candidate(h)) continue;
            part.required += loads.is_required(h) ? 1 : 0;
            penalised = penalised || loads.penalty(h) != 0;
        }
        part.plain = !penalised && part.required == 0;
        parts.all.push_back(part);
    };
    for (std::uint32_t u = 0; u < index.units.size(); ++u) {
        parts.first_of.push_back(static_cast<std::uint32_t>(parts.all.size()));
        if (index.domains.empty()) {
            add(loads.unit(u), index.units[u].first, index.units[u].size, false);
            continue;
        }
        for (auto d = index.first_domain[u]; d < index.first_domain[u + 1]; ++d)
            add(loads.unit(u), index.domains[d].first, index.domains[d].size, index.domains[d].joined);
    }
    parts.first_of.push_back(static_cast<std::uint32_t>(parts.all.size()));
    return parts;
}

} // namespace

const NestedParts& nested_parts(const Loads& loads) {
    if (!loads.parts_) loads.parts_ = std::make_shared<const NestedParts>(count_parts(loads));
    return *loads.parts_;
}

std::span<const NestedPart> unit_parts(const Loads& loads, std::uint32_t unit) {
    const auto& parts = nested_parts(loads);
    return std::span(parts.all).subspan(parts.first_of[unit],
                                        parts.first_of[unit + 1] - parts.first_of[unit]);
}

std::vector<std::uint32_t> look_of_parts(const Loads& loads, std::uint32_t unit) {
    std::vector<std::uint32_t> look;
    for (const auto& part : unit_parts(loads, unit))
        if (part.candidates > 0) look.push_back(part.candidates * 2 + (part.whole() ? 1 : 0));
    std::sort(look.begin(), look.end());
    look.push_back(loads.unit(unit).whole ? 1 : 0); // only a part without hosts has a smaller number
    return look;
}

} // namespace sched
