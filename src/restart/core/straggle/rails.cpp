// What makes a rail slow, by the counters of the job's ports.
//
// Which hosts are affected is seen in each host on its own, against its own other rails. So rings of
// different stages of a pipeline, which share a rail but not its speed, need not be distinguished. Which of
// the hosts is the cause is then decided by what is wrong at one of them.
#include "restart/core/straggle/comparison.hpp"
#include "restart/core/straggle/robust.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

namespace restart::straggle {
namespace {

constexpr double least_traffic = 10; // MB/s; less is not a collective
// A rail whose peak is lower than its host's others by less than this counts as equally fast.
constexpr double slower = 1.15;
constexpr double burst = 1.2;      // times the mean: such a peak shows the speed while bytes flow
constexpr double lower_rate = 0.8; // of its equals' link rate
constexpr double resends = 10;   // per second, from which they may slow a link down (NVSentinel warns at this
                                 // many slow restarts of RoCE)
constexpr double many_waits = 5; // times the median's
constexpr double least_waits = 1e4; // ticks a second: less is noise on any link

// A port of one host on one rail, as medians over the windows.
struct Cell {
    std::size_t host = 0;
    int rail = 0;
    std::string port, leaf;
    double mean = 0, peak = 0, resent = 0, gbps = 0;
    std::optional<double> waits;
    double against = 0;    // log of its peak against its host's other rails; below 0: slower
    std::size_t often = 0; // windows in which it was slower
};

double against_others(const std::vector<PortPace>& ports, std::size_t place) {
    std::vector<double> others;
    for (std::size_t i = 0; i < ports.size(); ++i)
        if (i != place && ports[i].mb_s >= least_traffic && ports[i].peak_mb_s > 0)
            others.push_back(std::log(ports[i].peak_mb_s));
    if (others.size() < 2 || ports[place].peak_mb_s <= 0) return 0;
    return std::log(ports[place].peak_mb_s) - robust::median(std::move(others));
}

std::vector<Cell> cells_of(const Comparison& job, std::size_t host) {
    std::vector<Cell> cells;
    const auto& newest = job.at(host, 0).ports;
    for (std::size_t place = 0; place < newest.size(); ++place) {
        Cell cell;
        cell.host = host;
        cell.rail = rail_of(*job.hosts[host], newest, place);
        cell.port = newest[place].port;
        if (const auto leaf = job.hosts[host]->leaves.find(cell.port); leaf != job.hosts[host]->leaves.end())
            cell.leaf = leaf->second;
        std::vector<double> mean, peak, resent, waits, against;
        for (std::size_t back = 0; back < job.windows; ++back) {
            const auto& ports = job.at(host, back).ports;
            if (place >= ports.size() || ports[place].port != cell.port) continue; // a port appeared or went
            mean.push_back(ports[place].mb_s);
            peak.push_back(ports[place].peak_mb_s);
            resent.push_back(ports[place].resent);
            if (ports[place].waits) waits.push_back(*ports[place].waits);
            against.push_back(against_others(ports, place));
            cell.often += against.back() <= -std::log(slower) ? 1 : 0;
        }
        cell.mean = robust::median(mean);
        cell.peak = robust::median(peak);
        cell.resent = robust::median(resent);
        cell.gbps = newest[place].gbps;
        if (!waits.empty()) cell.waits = robust::median(waits);
        cell.against = robust::median(against);
        if (cell.mean >= least_traffic) cells.push_back(std::move(cell));
    }
    return cells;
}

// The ports of one rail, in the order of the job's nodes; all of them, and the slower ones.
struct Rail {
    int rail = 0;
    std::vector<Cell> all, slow;
    double lost = 0; // the share of the time by which its traffic takes longer than the other rails'
};

void place_blame(const Rail& rail, const Cell& cell, double confidence, std::string text,
                 const Comparison& job, Straggler& straggler) {
    straggler.host = job.hosts[cell.host]->host;
    straggler.port = cell.port;
    straggler.rail = rail.rail;
    straggler.confidence = confidence;
    straggler.evidence.insert(straggler.evidence.begin(), std::move(text));
}

// A fault at one port that needs no comparison of speeds.
bool blame_reading(const Rail& rail, const Comparison& job, Straggler& straggler) {
    std::vector<double> rates, resent;
    for (const auto& cell : rail.all) {
        rates.push_back(cell.gbps);
        resent.push_back(cell.resent);
    }
    const double usual = robust::median(rates), few = robust::median(resent);
    const auto slowest = std::min_element(rail.slow.begin(), rail.slow.end(),
                                          [](const Cell& a, const Cell& b) { return a.gbps < b.gbps; });
    if (slowest->gbps > 0 && slowest->gbps < lower_rate * usual) {
        place_blame(rail, *slowest, 0.9,
                    fmt::format("its link runs at {:.0f} Gb/s, those of its equals at {:.0f} Gb/s",
                                slowest->gbps, usual),
                    job, straggler);
        return true;
    }
    const auto worst = std::max_element(rail.slow.begin(), rail.slow.end(),
                                        [](const Cell& a, const Cell& b) { return a.resent < b.resent; });
    if (worst->resent >= resends && worst->resent >= 10 * few) {
        place_blame(
            rail, *worst, 0.85,
            fmt::format("it sends {:.3g} packets a second again, its equals {:.3g}", worst->resent, few), job,
            straggler);
        return true;
    }
    return false;
}

// One that is slower than its rail: no ring then, or the only one of it that is seen.
bool blame_slowest(const Rail& rail, const Comparison& job, Straggler& straggler) {
    std::vector<double> peaks;
    for (const auto& cell : rail.slow)
        peaks.push_back(cell.against);
    const auto worst = std::min_element(rail.slow.begin(), rail.slow.end(),
                                        [](const Cell& a, const Cell& b) { return a.against < b.against; });
    if (rail.slow.size() > 1 && robust::median(peaks) - worst->against < std::log(slower)) return false;
    place_blame(
        rail, *worst, 0.8,
        fmt::format("its peak is {:.0f} % of that of its host's other rails, and of no other host's so "
                    "low",
                    std::exp(worst->against) * 100),
        job, straggler);
    return true;
}

// Who waits for credits: all hosts of a leaf, or those that send to the one that accepts nothing.
void blame_by_waits(const Rail& rail, const Comparison& job, Straggler& straggler) {
    std::vector<double> waits;
    for (const auto& cell : rail.all)
        if (cell.waits) waits.push_back(*cell.waits);
    if (waits.size() < 2) return;
    const double usual = robust::quantile(waits, 0.25);
    std::vector<std::size_t> waiting;                                  // places in rail.slow
    std::map<std::string, std::pair<std::size_t, std::size_t>> leaves; // waiting and all, by leaf
    for (std::size_t i = 0; i < rail.slow.size(); ++i) {
        const auto& cell = rail.slow[i];
        const bool waits_much = cell.waits && *cell.waits >= least_waits && *cell.waits >= many_waits * usual;
        if (waits_much) waiting.push_back(i);
        auto& leaf = leaves[cell.leaf];
        leaf.first += waits_much ? 1 : 0;
        ++leaf.second;
    }
    if (waiting.empty()) return;
    const auto worst = std::max_element(leaves.begin(), leaves.end(), [](const auto& a, const auto& b) {
        return a.second.first < b.second.first;
    });
    const auto& [on_leaf, of_leaf] = worst->second;
    if (!worst->first.empty() && on_leaf >= 2 && 10 * on_leaf >= 6 * of_leaf &&
        10 * on_leaf >= 8 * waiting.size()) {
        straggler.leaf = worst->first;
        straggler.confidence = leaves.size() > 1 ? 0.75 : 0.5;
        straggler.evidence.insert(straggler.evidence.begin(),
                                  fmt::format("{} of the {} hosts on it wait for credits {:.0f} times as "
                                              "often as the rail's others",
                                              on_leaf, of_leaf, many_waits));
        return;
    }
    if (waiting.size() > 2) return;
    const auto& before = rail.slow[waiting.back()];
    const auto& next = rail.slow[(waiting.back() + 1) % rail.slow.size()];
    place_blame(
        rail, next, 0.55,
        fmt::format("{} waits for credits {:.3g} ticks a second, the rail's others {:.3g}: what it sends "
                    "goes to the next of the ring",
                    job.hosts[before.host]->host, *before.waits, usual),
        job, straggler);
}

Straggler judged(const Rail& rail, const Comparison& job) {
    Straggler straggler;
    straggler.rail = rail.rail;
    straggler.score = rail.lost;
    straggler.confidence = 0.4;
    std::vector<double> against;
    for (const auto& cell : rail.slow)
        against.push_back(cell.against);
    straggler.evidence.push_back(
        fmt::format("rail {} has {:.0f} % of the peak of the same hosts' other rails, on {} of {} hosts, and "
                    "moves as many bytes",
                    rail.rail, std::exp(robust::median(against)) * 100, rail.slow.size(), rail.all.size()));
    if (!blame_reading(rail, job, straggler) && !blame_slowest(rail, job, straggler))
        blame_by_waits(rail, job, straggler);
    return straggler;
}

} // namespace

Suspect by_rails(const Comparison& job, double least, bool& seen) {
    std::map<int, Rail> rails;
    std::size_t with_traffic = 0, bursty = 0, ports = 0;
    for (std::size_t host = 0; host < job.hosts.size(); ++host) {
        auto cells = cells_of(job, host);
        with_traffic += cells.size() >= 3 ? 1 : 0;
        for (auto& cell : cells) {
            ++ports;
            bursty += cell.peak >= burst * cell.mean ? 1 : 0;
            auto& rail = rails[cell.rail];
            rail.rail = cell.rail;
            rail.all.push_back(std::move(cell));
        }
    }
    // Steps shorter than a second leave no peaks: then the speed while bytes flow is not seen.
    seen = 10 * with_traffic >= 9 * job.hosts.size() && 2 * bursty >= ports;
    if (!seen) return {};
    const Rail* worst = nullptr;
    for (auto& [number, rail] : rails) {
        const auto is_slow = [](const Cell& cell) { return cell.often >= least_pace_windows; };
        if (std::none_of(rail.all.begin(), rail.all.end(), is_slow)) continue;
        // A rail that is barely slow is not slow in each window of each of its hosts: a host left out may be
        // the cause.
        std::copy_if(rail.all.begin(), rail.all.end(), std::back_inserter(rail.slow), [&](const Cell& cell) {
            return is_slow(cell) || cell.against <= -std::log(slower) / 2;
        });
        std::vector<double> lost;
        for (const auto& cell : rail.slow)
            lost.push_back(cell.mean / cell.peak * (1 - std::exp(cell.against)));
        rail.lost = robust::median(std::move(lost));
        if (rail.lost >= least && (worst == nullptr || rail.lost > worst->lost)) worst = &rail;
    }
    return worst == nullptr ? Suspect() : judged(*worst, job);
}

} // namespace restart::straggle
