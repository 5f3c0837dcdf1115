#include "restart/core/straggle/judge.hpp"

#include "restart/core/straggle/comparison.hpp"
#include "restart/core/straggle/robust.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace restart {
namespace straggle {
namespace {

// Two neighbours in the order of bytes a second that differ by more than this have two roles. Hosts of one
// role move the same bytes in the same time; retransmissions and other programs' traffic are a few percent.
constexpr double other_role = 1.25;

double bytes_of(const Comparison& job, std::size_t host) {
    std::vector<double> sums;
    for (std::size_t back = 0; back < job.windows; ++back) {
        double sum = 0;
        for (const auto& port : job.at(host, back).ports)
            sum += port.mb_s;
        sums.push_back(sum);
    }
    return robust::median(std::move(sums));
}

} // namespace

std::optional<Comparison> compare(const std::vector<PacedHost>& all) {
    Comparison job;
    job.windows = most_pace_windows;
    for (const auto& host : all) {
        if (host.windows.size() < least_pace_windows) continue;
        job.hosts.push_back(&host);
        job.windows = std::min(job.windows, host.windows.size());
    }
    if (job.hosts.size() < 2) return {};
    job.coverage = static_cast<double>(job.hosts.size()) / static_cast<double>(all.size());
    std::vector<double> bytes(job.hosts.size());
    for (std::size_t host = 0; host < bytes.size(); ++host)
        bytes[host] = std::max(1.0, bytes_of(job, host));
    std::vector<std::size_t> order(bytes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return bytes[a] < bytes[b]; });
    for (std::size_t i = 0; i < order.size(); ++i) {
        if (i == 0 || bytes[order[i]] > other_role * bytes[order[i - 1]]) job.roles.emplace_back();
        job.roles.back().push_back(order[i]);
    }
    // Back to the order of the job's nodes.
    for (auto& role : job.roles)
        std::sort(role.begin(), role.end());
    return job;
}

int rail_of(const PacedHost& host, const std::vector<PortPace>& ports, std::size_t place) {
    const auto known = host.rails.find(ports[place].port);
    return known == host.rails.end() || known->second < 0 ? static_cast<int>(place) : known->second;
}

} // namespace straggle

std::string name_of(const Straggler& straggler) {
    const auto rail = straggler.rail >= 0 ? fmt::format(" (rail {})", straggler.rail) : std::string();
    if (!straggler.leaf.empty()) return fmt::format("leaf {}{}", straggler.leaf, rail);
    if (straggler.host.empty()) return fmt::format("rail {}", straggler.rail);
    if (!straggler.port.empty()) return fmt::format("{} {}{}", straggler.host, straggler.port, rail);
    if (straggler.gpu >= 0) return fmt::format("{} gpu {}", straggler.host, straggler.gpu);
    return straggler.host;
}

std::string_view to_string(StragglerVerdict verdict) {
    switch (verdict) {
    case StragglerVerdict::none: return "none";
    case StragglerVerdict::found: return "found";
    case StragglerVerdict::unknown: break;
    }
    return "unknown";
}

namespace {
// So that the number is the same after it was written and read.
double thousandths(double share) {
    return std::round(share * 1000) / 1000;
}
} // namespace

StragglerJudgement judge_stragglers(const std::vector<PacedHost>& hosts, double least) {
    StragglerJudgement made;
    const auto job = straggle::compare(hosts);
    if (!job) {
        made.missing.push_back(
            fmt::format("the paces of two hosts or more over {} windows", least_pace_windows));
        return made;
    }
    bool marks = false, gpus = false, rails = false;
    auto suspect = straggle::by_waits(*job, least, marks);
    // Waiting is better evidence than a clock: if the marks blame no host, no clock does.
    if (auto by_gpus = straggle::by_gpus(*job, least, gpus); !marks) suspect = std::move(by_gpus);
    const auto weight = [](const straggle::Suspect& of) { return of ? of->score * of->confidence : 0; };
    if (auto by_rails = straggle::by_rails(*job, least, rails); weight(by_rails) > weight(suspect))
        suspect = std::move(by_rails);
    if (auto by_stillness = straggle::by_stillness(*job); weight(by_stillness) > weight(suspect))
        suspect = std::move(by_stillness);
    if (auto by_ras = straggle::by_ras(*job, least); weight(by_ras) > weight(suspect))
        suspect = std::move(by_ras);
    else if (suspect)
        straggle::add_ras(*job, *suspect);
    made.gpus = straggle::gpu_states(*job);
    if (!marks)
        made.missing.emplace_back("step marks (railckpt_mark) of its processes: who waits for whom is not "
                                  "seen");
    if (!gpus) made.missing.emplace_back("clocks and power of its GPUs");
    if (!rails) made.missing.emplace_back("peaks of the traffic on its InfiniBand ports");
    if (suspect) {
        suspect->confidence =
            thousandths(std::clamp(suspect->confidence * std::sqrt(job->coverage), 0.05, 0.97));
        suspect->score = thousandths(suspect->score);
        made.verdict = StragglerVerdict::found;
        made.suspect = *std::move(suspect);
    } else if (marks || (gpus && rails)) {
        made.verdict = StragglerVerdict::none;
    }
    return made;
}

} // namespace restart
