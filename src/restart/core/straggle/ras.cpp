// What NCCL's RAS adds to the rest (judge.hpp): who does not answer it, and who has launched less than most.
#include "restart/core/straggle/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace restart::straggle {
namespace {

// The weight of its reports. A process that does not answer RAS may not be the one that others wait for; one
// that is behind is seen at most twice a minute, between any two operations.
constexpr double silent_alone = 0.5;
constexpr double agrees = 0.1, disagrees = 0.1;

// In how many windows RAS names processes of a host, and which GPU it names in most of these.
struct Named {
    std::size_t often = 0;
    std::uint64_t behind = 0; // at most
    int gpu = -1;
    bool has(int other) const { return other < 0 || gpu < 0 || gpu == other; }
};

Named named(const Comparison& job, std::size_t host, bool silent) {
    Named found;
    std::map<int, std::size_t> gpus;
    for (std::size_t back = 0; back < job.windows; ++back) {
        bool any = false;
        for (const auto& sign : job.at(host, back).ras) {
            if (silent ? !sign.silent : sign.behind == 0) continue;
            any = true;
            found.behind = std::max(found.behind, sign.behind);
            ++gpus[sign.gpu];
        }
        found.often += any ? 1 : 0;
    }
    if (const auto most = std::max_element(gpus.begin(), gpus.end(),
                                           [](const auto& a, const auto& b) { return a.second < b.second; });
        most != gpus.end() && 2 * most->second > found.often &&
        std::count_if(gpus.begin(), gpus.end(),
                      [&](const auto& one) { return one.second == most->second; }) == 1)
        found.gpu = most->first;
    return found;
}

std::string silent_text(const Comparison& job, const Named& found) {
    return fmt::format("NCCL's RAS: {} not answered in {} of {} windows",
                       found.gpu < 0 ? "processes of it have"
                                     : fmt::format("its process of GPU {} has", found.gpu),
                       found.often, job.windows);
}

std::string behind_text(const Comparison& job, const Named& found) {
    return fmt::format(
        "NCCL's RAS: {} launched less than most ranks in {} of {} windows, by up to {} operations",
        found.gpu < 0 ? "processes of it have" : fmt::format("GPU {} has", found.gpu), found.often,
        job.windows, found.behind);
}

std::string weighed(std::string text, double confidence) {
    return fmt::format("{} (confidence {:+.2f})", text, confidence);
}

} // namespace

Suspect by_ras(const Comparison& job, double least) {
    std::vector<std::pair<std::size_t, Named>> silent;
    for (std::size_t host = 0; host < job.hosts.size(); ++host)
        if (const auto found = named(job, host, true); found.often >= least_pace_windows)
            silent.emplace_back(host, found);
    // If a quarter of the hosts is silent, the cause is the network between the RAS threads.
    if (silent.empty() || 4 * silent.size() > job.hosts.size()) return {};
    const auto& [host, found] =
        *std::max_element(silent.begin(), silent.end(),
                          [](const auto& a, const auto& b) { return a.second.often < b.second.often; });
    Straggler straggler;
    straggler.host = job.hosts[host]->host;
    straggler.gpu = found.gpu;
    straggler.score = std::max(least, 0.05);
    straggler.confidence = silent_alone * static_cast<double>(found.often) / static_cast<double>(job.windows);
    straggler.evidence.push_back(weighed(silent_text(job, found), straggler.confidence));
    if (silent.size() > 1)
        straggler.evidence.push_back(fmt::format("so have processes of {} other hosts", silent.size() - 1));
    straggler.evidence.emplace_back("how much of its time the job waits for it is not seen");
    return straggler;
}

void add_ras(const Comparison& job, Straggler& suspect) {
    std::size_t others = 0;
    std::string other;
    const auto suspects_host = [&](std::size_t host) { return job.hosts[host]->host == suspect.host; };
    for (std::size_t host = 0; host < job.hosts.size(); ++host) {
        const auto silent = named(job, host, true), behind = named(job, host, false);
        const bool is_silent = silent.often >= least_pace_windows,
                   is_behind = behind.often >= least_pace_windows;
        if (!is_silent && !is_behind) continue;
        const auto& found = is_silent ? silent : behind;
        if (!suspects_host(host) || !found.has(suspect.gpu)) {
            if (others++ == 0) other = job.hosts[host]->host;
            continue;
        }
        suspect.evidence.push_back(
            weighed(is_silent ? silent_text(job, found) : behind_text(job, found), agrees));
        suspect.confidence += agrees;
    }
    // Being behind does not show why: a slow rail or leaf may be the cause, whose ends launch normally.
    if (others == 0 || suspect.host.empty() || suspect.rail >= 0) return;
    suspect.evidence.push_back(
        weighed(fmt::format("NCCL's RAS names {}{} in most windows", other,
                            others == 1 ? "" : fmt::format(" and processes of {} other hosts", others - 1)),
                -disagrees));
    suspect.confidence -= disagrees;
}

} // namespace restart::straggle
