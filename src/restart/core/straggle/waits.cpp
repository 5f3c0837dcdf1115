// Who waits least, by step marks.
#include "restart/core/straggle/comparison.hpp"
#include "restart/core/straggle/robust.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace restart::straggle {
namespace {

// Waiting shares that differ by less are the same: the cost and error of timing a wait.
constexpr double least_spread = 0.01;
// Marks count if at least this share of the hosts makes them: a host without any may be the cause.
constexpr double most_hosts = 0.9;

// What stands out in one window.
struct Outlier {
    std::size_t host = 0;
    int place = -1; // of its rank among the host's; -1: the whole host
    double waited = 0, others = 0;
    double gain = 0; // what the job would gain: how much less it waits than the next ones
};

std::vector<double> waits_of(const PaceWindow& window) {
    std::vector<double> waits;
    for (const auto& rank : window.ranks)
        waits.push_back(rank.waited);
    return waits;
}

// All processes of the job except one host's.
std::vector<double> waits_beside(const Comparison& job, std::size_t back, std::size_t but,
                                 const std::vector<std::size_t>& hosts) {
    std::vector<double> waits;
    for (const auto host : hosts)
        if (host != but)
            for (const auto& rank : job.at(host, back).ranks)
                waits.push_back(rank.waited);
    return waits;
}

// The host of the role that waits least, if it differs enough from its equals and delays the whole job.
std::optional<Outlier> outlier_in(const Comparison& job, const std::vector<std::size_t>& role,
                                  std::size_t back, double least) {
    Outlier found;
    double lowest = 2;
    for (const auto host : role) {
        const auto& ranks = job.at(host, back).ranks;
        for (std::size_t i = 0; i < ranks.size(); ++i)
            if (ranks[i].waited < lowest) {
                lowest = ranks[i].waited;
                found.host = host;
                found.place = static_cast<int>(i);
            }
    }
    if (lowest > 1) return {};
    const auto peers = waits_beside(job, back, found.host, role);
    if (peers.size() < 2) return {}; // no measure of noise
    const auto fit = robust::fit(peers);
    const double spread = std::max(fit.spread, least_spread);
    if (fit.centre - lowest < robust::outlying(peers.size()) * spread) return {};
    const auto own = waits_of(job.at(found.host, back));
    const double host_lag = fit.centre - robust::median(own);
    // If all of its processes wait equally little, the cause is the host and not one of its GPUs.
    if (own.size() == 1 || host_lag >= 0.6 * (fit.centre - lowest)) {
        found.place = -1;
        lowest = robust::median(own);
    }
    found.waited = lowest;
    found.others = fit.centre;
    std::vector<std::size_t> all(job.hosts.size());
    for (std::size_t i = 0; i < all.size(); ++i)
        all[i] = i;
    found.gain = robust::quantile(waits_beside(job, back, found.host, all), 0.1) - lowest;
    if (found.gain < least) return {};
    return found;
}

std::optional<Outlier> outlier(const Comparison& job, std::size_t back, double least) {
    std::optional<Outlier> worst;
    for (const auto& role : job.roles)
        if (auto found = outlier_in(job, role, back, least); found && (!worst || found->gain > worst->gain))
            worst = found;
    return worst;
}

// The processes of a host are in the order of their ranks, and use its GPUs in that order.
int gpu_at(const PaceWindow& window, int place) {
    if (place < 0 || window.gpus.size() != window.ranks.size()) return -1;
    return static_cast<int>(window.gpus[static_cast<std::size_t>(place)].gpu);
}

} // namespace

Suspect by_waits(const Comparison& job, double least, bool& seen) {
    std::size_t marking = 0, ranks = 0;
    for (std::size_t host = 0; host < job.hosts.size(); ++host) {
        bool all = true;
        for (std::size_t back = 0; back < job.windows; ++back)
            all = all && !job.at(host, back).ranks.empty();
        marking += all ? 1 : 0;
        ranks += all ? job.at(host, 0).ranks.size() : 0;
    }
    seen = static_cast<double>(marking) >= most_hosts * static_cast<double>(job.hosts.size()) && ranks >= 3;
    if (!seen) return {};
    std::vector<Outlier> found;
    for (std::size_t back = 0; back < job.windows; ++back)
        if (auto one = outlier(job, back, least)) found.push_back(*one);
    // The one that stands out most often.
    const Outlier* suspect = nullptr;
    std::ptrdiff_t often = 0;
    for (const auto& one : found) {
        const auto n = std::count_if(found.begin(), found.end(),
                                     [&](const Outlier& other) { return other.host == one.host; });
        if (n > often) {
            often = n;
            suspect = &one;
        }
    }
    if (suspect == nullptr || often < static_cast<std::ptrdiff_t>(least_pace_windows)) return {};
    double waited = 0, others = 0, gain = 0;
    std::ptrdiff_t of_gpu = 0;
    for (const auto& one : found) {
        if (one.host != suspect->host) continue;
        waited += one.waited / static_cast<double>(often);
        others += one.others / static_cast<double>(often);
        gain += one.gain / static_cast<double>(often);
        of_gpu += one.place >= 0 && one.place == suspect->place ? 1 : 0;
    }
    Straggler straggler;
    straggler.host = job.hosts[suspect->host]->host;
    if (2 * of_gpu > often) straggler.gpu = gpu_at(job.at(suspect->host, 0), suspect->place);
    straggler.score = gain;
    straggler.confidence = 0.8 * static_cast<double>(often) / static_cast<double>(job.windows);
    straggler.evidence.push_back(
        fmt::format("it waits {:.0f} % of its time for others, its equals {:.0f} %, in {} of {} windows",
                    waited * 100, others * 100, often, job.windows));
    if (job.hosts.size() < 4) straggler.confidence -= 0.1; // few to compare with
    add_causes(job, suspect->host, straggler);
    return straggler;
}

} // namespace restart::straggle
