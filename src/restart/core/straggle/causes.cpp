// What makes a host or one of its GPUs slow, by the readings of GPUs: their clocks, their PCIe links, and
// whether they have anything to do.
#include "restart/core/straggle/comparison.hpp"
#include "restart/core/straggle/robust.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace restart::straggle {
namespace {

// Equal GPUs at equal work differ in their clocks by one or two percent.
constexpr double least_clock_spread = 0.01;
// Without marks only what nobody takes for noise.
constexpr double clear_clock = 0.1, clear_idle = 0.15;
constexpr double narrow_link = 0.6; // of what its equals' carry: a link of half the lanes, or a slower one

using Field = std::optional<double> GpuPace::*;

// The mean over the windows; none where one of them lacks it.
std::optional<double> mean_of(const Comparison& job, std::size_t host, std::size_t place, Field field) {
    double sum = 0;
    for (std::size_t back = 0; back < job.windows; ++back) {
        const auto& gpus = job.at(host, back).gpus;
        if (place >= gpus.size() || !(gpus[place].*field)) return {};
        sum += *(gpus[place].*field);
    }
    return sum / static_cast<double>(job.windows);
}

struct Means {
    std::vector<double> values;                              // of all GPUs of a role
    std::vector<std::pair<std::size_t, std::size_t>> places; // host and place of each
};

Means means_of(const Comparison& job, const std::vector<std::size_t>& role, Field field) {
    Means means;
    for (const auto host : role)
        for (std::size_t place = 0; place < job.at(host, 0).gpus.size(); ++place)
            if (const auto mean = mean_of(job, host, place, field)) {
                means.values.push_back(*mean);
                means.places.emplace_back(host, place);
            }
    return means;
}

const std::vector<std::size_t>& role_of(const Comparison& job, std::size_t host) {
    return *std::find_if(job.roles.begin(), job.roles.end(), [&](const auto& role) {
        return std::find(role.begin(), role.end(), host) != role.end();
    });
}

// A GPU of `host`, or of any host of the role, that lies furthest below its equals.
struct Low {
    std::size_t host = 0, place = 0;
    double value = 0, equals = 0, spreads = 0;
    double share() const { return 1 - value / equals; }
};
std::optional<Low> lowest(const Means& means, double least_spread, std::optional<std::size_t> only) {
    if (means.values.size() < 3) return {};
    const auto fit = robust::fit(means.values);
    if (fit.centre <= 0) return {};
    std::optional<Low> low;
    for (std::size_t i = 0; i < means.values.size(); ++i)
        if ((!only || means.places[i].first == *only) && (!low || means.values[i] < low->value))
            low = Low{means.places[i].first, means.places[i].second, means.values[i], fit.centre,
                      (fit.centre - means.values[i]) / std::max(fit.spread, least_spread * fit.centre)};
    if (!low || low->spreads < robust::outlying(means.values.size())) return {};
    return low;
}

// How much less of its time a kernel ran on the host's GPUs than on its equals'.
struct Idle {
    std::size_t host = 0;
    double busy = 0, equals = 0;
};
std::optional<Idle> idlest(const Comparison& job, const std::vector<std::size_t>& role,
                           std::optional<std::size_t> only) {
    std::vector<double> all;
    std::vector<std::pair<std::size_t, double>> hosts;
    for (const auto host : role) {
        std::vector<double> own;
        for (std::size_t place = 0; place < job.at(host, 0).gpus.size(); ++place)
            if (const auto busy = mean_of(job, host, place, &GpuPace::busy)) own.push_back(*busy);
        if (own.empty()) continue;
        hosts.emplace_back(host, robust::median(own));
        all.push_back(hosts.back().second);
    }
    if (all.size() < 3) return {};
    const auto fit = robust::fit(all);
    std::optional<Idle> low;
    for (const auto& [host, busy] : hosts)
        if ((!only || host == *only) && (!low || busy < low->busy)) low = Idle{host, busy, fit.centre};
    if (!low || fit.centre - low->busy < robust::outlying(all.size()) * std::max(fit.spread, 0.01)) return {};
    return low;
}

std::uint32_t index_of(const Comparison& job, std::size_t host, std::size_t place) {
    return job.at(host, 0).gpus[place].gpu;
}

std::string clock_text(const Low& low) {
    return fmt::format("its SM clock is {:.0f} MHz, that of its equals {:.0f} MHz", low.value, low.equals);
}
std::string link_text(const Low& low) {
    return fmt::format("its PCIe link can carry {:.1f} GB/s, that of its equals {:.1f} GB/s", low.value,
                       low.equals);
}
std::string idle_text(const Idle& idle) {
    return fmt::format(
        "its GPUs have kernels to run {:.0f} % of the time, those of its equals {:.0f} %: they "
        "wait for the host, its CPU or its input",
        idle.busy * 100, idle.equals * 100);
}

} // namespace

void add_causes(const Comparison& job, std::size_t host, Straggler& straggler) {
    const auto& role = role_of(job, host);
    // One reading more: which of its GPUs it is, where the waiting did not tell.
    const auto blame = [&](const Low& low, std::string text) {
        const auto gpu = static_cast<int>(index_of(job, low.host, low.place));
        if (straggler.gpu >= 0 && straggler.gpu != gpu) return false;
        straggler.gpu = gpu;
        straggler.evidence.push_back(std::move(text));
        straggler.confidence += 0.15;
        return true;
    };
    const auto link = lowest(means_of(job, role, &GpuPace::pcie_gbs), 0.01, host);
    if (link && link->value < 0.8 * link->equals && blame(*link, link_text(*link))) return;
    const auto clock = lowest(means_of(job, role, &GpuPace::sm_mhz), least_clock_spread, host);
    if (clock && blame(*clock, clock_text(*clock))) return;
    const auto memory = lowest(means_of(job, role, &GpuPace::mem_mhz), least_clock_spread, host);
    if (memory && blame(*memory, fmt::format("its memory clock is {:.0f} MHz, that of its equals {:.0f} MHz",
                                             memory->value, memory->equals)))
        return;
    if (const auto idle = idlest(job, role, host); idle && straggler.gpu < 0) {
        straggler.evidence.push_back(idle_text(*idle));
        straggler.confidence += 0.15;
        return;
    }
    if (!job.at(host, 0).gpus.empty()) straggler.evidence.emplace_back("no reading of its GPUs says why");
}

Suspect by_gpus(const Comparison& job, double least, bool& seen) {
    std::size_t read = 0;
    for (std::size_t host = 0; host < job.hosts.size(); ++host) {
        const auto& gpus = job.at(host, 0).gpus;
        read += !gpus.empty() && gpus.front().sm_mhz && gpus.front().busy ? 1 : 0;
    }
    seen = 10 * read >= 9 * job.hosts.size();
    if (!seen) return {};
    Suspect worst;
    const auto offer = [&](std::size_t host, int gpu, double score, double confidence, std::string text) {
        if (score < least || (worst && worst->score >= score)) return;
        worst = Straggler{job.hosts[host]->host, gpu, {}, -1, {}, score, confidence, {std::move(text)}};
    };
    // Power tells a GPU that computes from one whose kernels wait; without marks it is all that does.
    for (const auto& role : job.roles) {
        const auto clock = lowest(means_of(job, role, &GpuPace::sm_mhz), least_clock_spread, {});
        if (clock && clock->share() >= clear_clock)
            offer(clock->host, static_cast<int>(index_of(job, clock->host, clock->place)), clock->share(),
                  0.5, clock_text(*clock));
        const auto link = lowest(means_of(job, role, &GpuPace::pcie_gbs), 0.01, {});
        if (link && link->value <= narrow_link * link->equals)
            offer(link->host, static_cast<int>(index_of(job, link->host, link->place)), std::max(least, 0.05),
                  0.4, link_text(*link));
        if (const auto idle = idlest(job, role, {}); idle && idle->equals - idle->busy >= clear_idle)
            offer(idle->host, -1, idle->equals - idle->busy, 0.5, idle_text(*idle));
    }
    if (worst)
        worst->evidence.emplace_back(
            "its processes make no step marks: whether the others wait for it is not "
            "seen");
    return worst;
}

} // namespace restart::straggle
