// Hosts that should be there: gaps in the numbering of a unit's hosts, units that are smaller than the
// others.
#include "topo/check/parts.hpp"

#include "base/hostlist.hpp"
#include "topo/numbered_name.hpp"

#include <fmt/format.h>

#include <iterator>
#include <optional>

namespace topo::checks {
namespace {

// The hosts of a unit that are named alike but for one number, and those numbers, ascending.
struct Series {
    NumberedName name;
    std::vector<std::uint32_t> numbers;
};

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

// At most a quarter of a unit is said to be missing; more than that was never there.
bool few(std::size_t missing, std::size_t of) {
    return missing > 0 && missing * 4 <= of;
}

// Names between the first and the last of the series that no host of the fabric has.
std::vector<std::string> gaps(const Fabric& fabric, const Series& series) {
    const auto& numbers = series.numbers;
    const auto skipped = numbers.back() - numbers.front() + 1 - numbers.size();
    std::vector<std::string> names;
    if (skipped > numbers.size()) return names; // not numbered one by one
    for (std::size_t i = 1; i < numbers.size(); ++i)
        for (auto n = numbers[i - 1] + 1; n < numbers[i]; ++n)
            if (auto name = series.name.at(n); !fabric.find_host(name)) names.push_back(std::move(name));
    return names;
}

// The next names before the first or behind the last of the series; nothing when other hosts have them.
std::vector<std::string> beyond(const Fabric& fabric, const Series& series, std::size_t count) {
    const auto first = series.numbers.front(), last = series.numbers.back();
    const auto free = [&](std::uint32_t from) {
        std::vector<std::string> names;
        for (auto n = from; n < from + count; ++n)
            if (auto name = series.name.at(n); !fabric.find_host(name)) names.push_back(std::move(name));
        return names.size() == count ? names : std::vector<std::string>();
    };
    // Before the first only where that closes a gap to another unit.
    if (first > count + 1 && fabric.find_host(series.name.at(first - static_cast<std::uint32_t>(count) - 1)))
        if (auto names = free(first - static_cast<std::uint32_t>(count)); !names.empty()) return names;
    return free(last + 1);
}

void report(const Fabric& fabric, const Unit& unit, std::size_t usual, Findings& findings) {
    const auto series = series_of(fabric, unit);
    const auto size = unit.hosts.size();
    const bool alone = fabric.units.size() == 1;
    auto names = series ? gaps(fabric, *series) : std::vector<std::string>();
    if (!alone && size + names.size() > usual) return; // a number that was left out
    const auto count = alone ? names.size() : usual - size;
    if (count == 0) return;
    if (series && names.size() < count) {
        const auto more = beyond(fabric, *series, count - names.size());
        if (more.empty()) return;
        names.insert(names.end(), more.begin(), more.end());
    }
    Finding finding{"host.missing", Severity::warning, {unit.name}, {}, {}};
    if (!names.empty()) finding.ends.insert(finding.ends.begin(), base::fold_hostlist(names));
    const auto sizes =
        alone ? fmt::format("{} is numbered around it", unit.name)
              : fmt::format("{} ({}) has {} where other units have {}", unit.name,
                            host_names(fabric, unit.hosts), counted(size, "host", "hosts"), usual);
    if (!few(count, size + count)) {
        if (alone) return;
        finding = {"unit.size", Severity::info, {unit.name}, sizes, "nothing, if it was built so"};
    } else {
        finding.evidence = names.empty() ? sizes
                                         : fmt::format("{} {} not seen: {}", finding.ends.front(),
                                                       count == 1 ? "is" : "are", sizes);
        finding.fix = "look whether the host is powered, booted and cabled";
    }
    findings.push_back(std::move(finding));
}

} // namespace

void missing(const Fabric& fabric, Findings& findings) {
    std::map<std::size_t, std::size_t, std::greater<>> sizes; // of units, greatest first, and how many are so
    for (const Unit& unit : fabric.units)
        ++sizes[unit.hosts.size()];
    // The greatest size that at least a quarter of the units have.
    const auto usual = std::find_if(sizes.begin(), sizes.end(),
                                    [&](const auto& size) { return size.second * 4 >= fabric.units.size(); });
    for (const Unit& unit : fabric.units)
        if (fabric.units.size() == 1 || (usual != sizes.end() && unit.hosts.size() < usual->first))
            report(fabric, unit, usual->first, findings);
}

} // namespace topo::checks
