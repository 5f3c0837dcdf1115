#include "topo/check/series.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace topo::checks {

void Series::add(std::vector<std::uint32_t> more) {
    std::sort(more.begin(), more.end());
    std::set<std::uint32_t> all(numbers.begin(), numbers.end());
    for (const auto n : more)
        if (n >= *all.begin() && n <= *all.rbegin() + 1) all.insert(n);
    for (auto n = more.rbegin(); n != more.rend(); ++n)
        if (*n + 1 == *all.begin()) all.insert(*n);
    numbers.assign(all.begin(), all.end());
}

std::optional<Series> series_of(const Fabric& fabric, const Unit& unit) {
    std::map<std::pair<std::string_view, std::string_view>, Series> all;
    for (const auto h : unit.hosts)
        if (const auto name = numbered(fabric.hosts[h].name)) {
            auto& series = all[{name->stem, name->tail}];
            series.name = *name;
            series.numbers.push_back(name->number);
        }
    if (all.size() != 1 || all.begin()->second.numbers.size() < unit.hosts.size()) return {};
    auto series = std::move(all.begin()->second);
    std::sort(series.numbers.begin(), series.numbers.end());
    return series;
}

} // namespace topo::checks
