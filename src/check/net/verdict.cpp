#include "check/net/verdict.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace check::net {

namespace {

const double failed_by = std::log(1000.0);

double bandwidth_slowness(const Measured& measured) {
    return -std::log(std::min(measured.gbps, measured.gbps_back));
}
double latency_slowness(const Measured& measured) {
    return std::log(measured.latency_us);
}

std::vector<Cell> cells_of(const Gathered& gathered, double (*slowness)(const Measured&)) {
    std::vector<std::vector<double>> of_rail(gathered.most_rails());
    std::vector<double> all;
    for (const auto& one : gathered.measures)
        if (one.measured) {
            of_rail[one.rail].push_back(slowness(*one.measured));
            all.push_back(of_rail[one.rail].back());
        }
    const double rest = quantile(std::move(all), 0.5);
    std::vector<double> level;
    for (auto& values : of_rail)
        level.push_back(values.empty() ? rest : quantile(std::move(values), 0.5));
    std::vector<Cell> cells;
    for (const auto& one : gathered.measures)
        cells.push_back(
            {one.a, one.b, one.rail, one.measured ? slowness(*one.measured) : level[one.rail] + failed_by});
    return cells;
}

std::string how_much(const Slow& slow) {
    if (slow.culprit.slowness > failed_by * 0.8) return "does not work";
    std::string text;
    if (slow.bandwidth_share < 1)
        text = fmt::format("{:.0f} % of the others' bandwidth", 100 * slow.bandwidth_share);
    if (slow.latency_times > 1)
        text +=
            fmt::format("{}{:.3g} times the others' latency", text.empty() ? "" : ", ", slow.latency_times);
    return text;
}

std::string who(const Gathered& gathered, const Slow& slow) {
    const auto& culprit = slow.culprit;
    switch (culprit.part) {
    case Part::rail:
        if (gathered.hosts.size() == 2)
            return fmt::format("rail {} of {} or {}", *culprit.rail, gathered.hosts[0], gathered.hosts[1]);
        return fmt::format("rail {} on all hosts", *culprit.rail);
    case Part::leaf: return fmt::format("leaf {} (rail {})", slow.leaf, *culprit.rail);
    case Part::host: return fmt::format("host {}", slow.host);
    case Part::cable: break;
    }
    return fmt::format("{} {} (rail {}){}", slow.host, slow.device, *culprit.rail,
                       slow.leaf.empty() ? "" : ", cabled to " + slow.leaf);
}

bool same_part(const Culprit& a, const Culprit& b) {
    return a.part == b.part && a.host == b.host && a.rail == b.rail && a.leaf == b.leaf;
}

} // namespace

Verdict judge(const Gathered& gathered, const Leaves& leaves, const Bars& bars) {
    Verdict made;
    const auto hosts = static_cast<std::uint32_t>(gathered.hosts.size());
    const auto rails = static_cast<std::uint32_t>(gathered.most_rails());
    made.bandwidth = fit(cells_of(gathered, bandwidth_slowness), hosts, rails);
    made.latency = fit(cells_of(gathered, latency_slowness), hosts, rails);
    const auto add = [&](const Culprit& culprit, bool bandwidth) {
        auto known = std::find_if(made.slow.begin(), made.slow.end(),
                                  [&](const Slow& one) { return same_part(one.culprit, culprit); });
        if (known == made.slow.end()) known = made.slow.insert(known, Slow{culprit, {}, {}, {}});
        (bandwidth ? known->bandwidth_share : known->latency_times) =
            std::exp(bandwidth ? -culprit.slowness : culprit.slowness);
        known->culprit.slowness = std::max(known->culprit.slowness, culprit.slowness);
    };
    for (const auto& one : culprits(made.bandwidth, leaves.of_end, bars.bandwidth))
        add(one, true);
    if (bars.latency)
        for (const auto& one : culprits(made.latency, leaves.of_end, *bars.latency))
            add(one, false);
    for (auto& slow : made.slow) {
        const auto& [part, host, rail, leaf, slowness] = slow.culprit;
        if (host) slow.host = gathered.hosts[*host];
        if (host && rail) {
            slow.device = gathered.rails[*host][*rail].device;
            const auto end = static_cast<std::size_t>(*host) * rails + *rail;
            if (!leaves.of_end.empty() && leaves.of_end[end]) slow.leaf = leaves.names[*leaves.of_end[end]];
        }
        if (leaf) slow.leaf = leaves.names[*leaf];
        slow.how_much = how_much(slow);
        slow.says = who(gathered, slow) + ": " + slow.how_much;
    }
    std::stable_sort(made.slow.begin(), made.slow.end(),
                     [](const Slow& a, const Slow& b) { return a.culprit.slowness > b.culprit.slowness; });
    for (std::uint32_t host = 0; host < hosts; ++host)
        for (const auto& rail : gathered.rails[host])
            if (rail.address.empty())
                made.unusable.push_back(fmt::format("{} {}", gathered.hosts[host], rail.trouble));
    return made;
}

} // namespace check::net
