// Hosts that should be there: gaps in the numbering of a unit's hosts, units that are smaller than the
// others.
#include "topo/check/nameless.hpp"
#include "topo/check/parts.hpp"
#include "topo/check/series.hpp"

#include "base/hostlist.hpp"
#include "topo/numbered_name.hpp"

#include <fmt/format.h>

#include <iterator>
#include <optional>
#include <set>

namespace topo::checks {
namespace {

// The port at which a host is plugged into most of its unit's leaves, the first of several beside each other
// on a leaf that rails share; none where they differ.
int port_of(const Fabric& fabric, const Unit& unit, std::uint32_t h) {
    Mode<int> ports;
    for (const Hca& hca : fabric.hosts[h].hcas)
        for (const HcaPort& port : hca.ports) {
            if (hca.rail == none || port.leaf == none || unit.leaves[at(hca.rail)] != port.leaf) continue;
            ports.add(switch_port(fabric, port));
        }
    if (ports.empty()) return none;
    if (ports.count() * 2 > ports.total()) return ports.value();
    const int first = ports.counts().begin()->first, last = ports.counts().rbegin()->first;
    return at(last - first) < ports.total() ? first : none;
}

// Of the missing names, those between neighbours whose ports on the leaves also leave a gap: a place reserved
// for a host.
std::vector<std::string> with_free_ports(const Fabric& fabric, const Nameless& nameless, const Unit& unit,
                                         std::vector<std::string> names) {
    std::map<std::uint32_t, int> ports; // by number
    for (const auto h : unit.hosts)
        if (const auto name = numbered(fabric.hosts[h].name))
            if (const int port = port_of(fabric, unit, h); port != none) ports.emplace(name->number, port);
    std::set<int> taken;
    Mode<int> strides; // ports from one host to the next
    for (auto next = ports.begin(), last = ports.end(); next != ports.end(); last = next++) {
        taken.insert(next->second);
        if (last != ports.end() && next->first == last->first + 1) strides.add(next->second - last->second);
    }
    for (const auto& host : nameless.hosts())
        if (&fabric.units[at(host.unit)] == &unit) taken.insert(host.port);
    const int stride = strides.empty() ? 1 : strides.value();
    std::erase_if(names, [&](const std::string& name) {
        const auto number = numbered(name)->number;
        const auto above = ports.upper_bound(number);
        if (above == ports.begin() || above == ports.end()) return true;
        const auto below = std::prev(above);
        const auto place = [&](std::uint32_t n) {
            return below->second + stride * static_cast<int>(n - below->first);
        };
        return above->second != place(above->first) || taken.contains(place(number));
    });
    return names;
}

// The first numbers of the units.
class Firsts {
public:
    void add(std::uint32_t number) { ++units_[number]; }
    // Whether most units begin at this number.
    bool of(std::uint32_t number) const {
        std::size_t all = 0;
        for (const auto& [first, units] : units_)
            all += units;
        const auto found = units_.find(number);
        return found != units_.end() && found->second > 1 && found->second * 2 >= all;
    }

private:
    std::map<std::uint32_t, std::size_t> units_;
};

// At most a quarter of a unit is reported as missing; a larger part never existed.
bool few(std::size_t missing, std::size_t of) {
    return missing > 0 && missing * 4 <= of;
}

// Names between the first and the last of the series that no host in the fabric has.
std::vector<std::string> gaps(const Fabric& fabric, const Series& series) {
    const auto& numbers = series.numbers;
    const auto skipped = numbers.back() - numbers.front() + 1 - numbers.size();
    std::vector<std::string> names;
    if (skipped > numbers.size()) return names; // not numbered consecutively
    for (std::size_t i = 1; i < numbers.size(); ++i)
        for (auto n = numbers[i - 1] + 1; n < numbers[i]; ++n)
            if (auto name = series.name.at(n); !fabric.find_host(name)) names.push_back(std::move(name));
    return names;
}

// The next names before the first or after the last of the series; nothing if other hosts have them.
std::vector<std::string> beyond(const Fabric& fabric, const Series& series, std::size_t count,
                                const Firsts& firsts) {
    const auto first = series.numbers.front(), last = series.numbers.back();
    const auto free = [&](std::uint32_t from) {
        std::vector<std::string> names;
        for (auto n = from; n < from + count; ++n)
            if (auto name = series.name.at(n); !fabric.find_host(name)) names.push_back(std::move(name));
        return names.size() == count ? names : std::vector<std::string>();
    };
    // Before the first only if that closes a gap to another unit, if most units begin there, or if no names
    // are free after the last.
    const bool begins = first > count && firsts.of(first - static_cast<std::uint32_t>(count));
    if (begins || (first > count + 1 &&
                   fabric.find_host(series.name.at(first - static_cast<std::uint32_t>(count) - 1))))
        if (auto names = free(first - static_cast<std::uint32_t>(count)); !names.empty()) return names;
    if (auto names = free(last + 1); !names.empty() || first <= count) return names;
    return free(first - static_cast<std::uint32_t>(count));
}

void report(const Fabric& fabric, const Nameless& nameless, const Unit& unit, std::size_t seen,
            std::size_t usual, const Firsts& firsts, Findings& findings) {
    auto series = series_of(fabric, unit);
    if (series) series->add(nameless.numbers(static_cast<int>(&unit - fabric.units.data())));
    const auto size = series ? std::max(seen, series->numbers.size()) : seen;
    const bool alone = fabric.units.size() == 1;
    auto names = series ? gaps(fabric, *series) : std::vector<std::string>();
    // More numbers are missing than hosts: only those with a reserved place count.
    const bool whole = seen == unit.hosts.size(); // all hosts seen have a name
    const bool place_kept = !(alone && whole) && names.size() > usual - std::min(size, usual);
    if (place_kept) {
        names = with_free_ports(fabric, nameless, unit, std::move(names));
        if (names.empty() && (alone || whole)) return;
    }
    const auto count = names.empty() && size < usual ? usual - size
                       : alone || place_kept         ? names.size()
                                                     : usual - std::min(size, usual);
    if (count == 0) return;
    if (series && names.size() < count) {
        const auto next = beyond(fabric, *series, count - names.size(), firsts);
        if (next.empty()) return;
        if (series->numbers.size() >= seen) // the numbers of all hosts seen are known
            names.insert(names.end(), next.begin(), next.end());
    }
    Finding finding{"host.missing", Severity::warning, {unit.name}, {}, {}};
    if (!names.empty()) finding.ends.insert(finding.ends.begin(), base::fold_hostlist(names));
    const auto sizes =
        alone        ? fmt::format("{} is numbered around it", unit.name)
        : place_kept ? fmt::format("{} ({}) is numbered and cabled around {}", unit.name,
                                   host_names(fabric, unit.hosts), count == 1 ? "it" : "them")
                     : fmt::format("{} ({}) has {} where other units have {}", unit.name,
                                   host_names(fabric, unit.hosts), counted(size, "host", "hosts"), usual);
    if (!few(count, size + count)) {
        if (alone || place_kept) return;
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

void missing(const Fabric& fabric, const Nameless& nameless, Findings& findings) {
    // Units of hosts with similar names are of one kind; if any kind has few, all units are.
    std::vector<std::string> kinds;
    std::map<std::string, std::size_t> units;
    for (const Unit& unit : fabric.units)
        ++units[kinds.emplace_back(name_shape(fabric.hosts[unit.hosts.front()].name))];
    constexpr std::size_t enough = 4;
    if (std::any_of(units.begin(), units.end(), [&](const auto& kind) { return kind.second < enough; }))
        kinds.assign(fabric.units.size(), std::string());
    // The sizes for each kind, largest first, with their frequency.
    std::map<std::string, std::map<std::size_t, std::size_t, std::greater<>>> sizes;
    std::vector<std::size_t> seen; // hosts of each unit, those without a name too
    Firsts firsts;
    for (const Unit& unit : fabric.units) {
        const auto u = seen.size();
        seen.push_back(unit.hosts.size() + nameless.whole(static_cast<int>(u)));
        ++sizes[kinds[u]][seen.back()];
        if (const auto series = series_of(fabric, unit)) firsts.add(series->numbers.front());
    }
    for (std::size_t u = 0; u < seen.size(); ++u) {
        const auto all = static_cast<std::size_t>(std::count(kinds.begin(), kinds.end(), kinds[u]));
        const auto& own = sizes.at(kinds[u]);
        // The greatest size that at least a quarter of the units have, or most where no number says who is
        // missing.
        const bool known = series_of(fabric, fabric.units[u]).has_value();
        const auto usual = std::find_if(own.begin(), own.end(), [&](const auto& size) {
            return known ? size.second * 4 >= all : size.second * 2 > all;
        });
        report(fabric, nameless, fabric.units[u], seen[u], usual == own.end() ? seen[u] : usual->first,
               firsts, findings);
    }
}

} // namespace topo::checks
