// What makes a host or one of its GPUs slow, by the readings of GPUs: how much of their time they work, their
// clocks, their PCIe links, and whether they have anything to do.
//
// Neither clock nor utilization shows who is slow. A GPU whose kernels wait for another one has 100 %
// utilization, a higher clock than that one and a fifth of its power: the GPU that works longer than its
// equals is the one that they wait for. At its power limit a GPU's clock depends on the work, so only the
// clocks of equals at their limits are compared; below it something else holds a lower clock down.
#include "restart/core/straggle/comparison.hpp"
#include "restart/core/straggle/robust.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

namespace restart::straggle {
namespace {

// Equal GPUs at equal work differ in their clocks by one or two percent.
constexpr double least_clock_spread = 0.01;
// Without marks only differences that are clearly not noise.
constexpr double clear_clock = 0.1, clear_idle = 0.15;
constexpr double narrow_link = 0.6; // of its equals' bandwidth: a link with half the lanes, or a slower one
// At its power limit, and held down by heat or a brake, for this share of the time: enough to judge by a
// clock, or to slow a job down.
constexpr double some_capped = 0.1, much_slowed = 0.2;
// The share of its power limit that a waiting GPU draws, measured on an H100.
constexpr double waiting_power = 0.18;

using Reading = std::function<std::optional<double>(const GpuPace&)>;

// The median of the windows, as a host may be slow by chance in one of them; none if one of them lacks it.
std::optional<double> middle_of(const Comparison& job, std::size_t host, std::size_t place,
                                const Reading& reading) {
    std::array<double, most_pace_windows> values{};
    for (std::size_t back = 0; back < job.windows; ++back) {
        const auto& gpus = job.at(host, back).gpus;
        const auto value = place < gpus.size() ? reading(gpus[place]) : std::nullopt;
        if (!value) return {};
        values[back] = *value;
    }
    std::sort(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(job.windows));
    return (values[(job.windows - 1) / 2] + values[job.windows / 2]) / 2;
}

using Role = std::vector<std::size_t>;

struct Middles {
    std::vector<double> values;                              // of all GPUs of a role
    std::vector<std::pair<std::size_t, std::size_t>> places; // host and place of each
    std::size_t lacking = 0;                                 // GPUs without such a reading
    std::vector<bool> of_work{}; // GPUs for which such a reading shows only what they work at; empty: none
};

Middles middles_of(const Comparison& job, const Role& role, const Reading& reading) {
    Middles middles;
    for (const auto host : role)
        for (std::size_t place = 0; place < job.at(host, 0).gpus.size(); ++place)
            if (const auto middle = middle_of(job, host, place, reading)) {
                middles.values.push_back(*middle);
                middles.places.emplace_back(host, place);
            } else {
                ++middles.lacking;
            }
    return middles;
}

const Role& role_of(const Comparison& job, std::size_t host) {
    return *std::find_if(job.roles.begin(), job.roles.end(), [&](const auto& role) {
        return std::find(role.begin(), role.end(), host) != role.end();
    });
}

// Only this host's GPUs, one of which may be known to be the cause; none: any host of the role.
struct Among {
    std::optional<std::size_t> host{};
    bool one_gpu = false;
    bool has(std::size_t other) const { return !host || *host == other; }
};

// The GPU that is furthest from its equals.
struct Off {
    std::size_t host = 0, place = 0;
    double value = 0, equals = 0, spreads = 0;
    double share() const { return 1 - value / equals; }
};
enum class Side { below, above };

std::optional<Off> furthest(const Middles& middles, Side side, double least_spread, const Among& among) {
    if (middles.values.size() < 3) return {};
    const auto fit = robust::fit(middles.values);
    if (fit.centre <= 0) return {};
    const double spread = std::max(fit.spread, least_spread);
    // This many might be this far off by chance.
    const auto candidates = !among.one_gpu ? middles.values.size()
                                           : static_cast<std::size_t>(std::count_if(
                                                 middles.places.begin(), middles.places.end(),
                                                 [&](const auto& place) { return among.has(place.first); }));
    const double clear = robust::outlying(candidates);
    std::optional<Off> most;
    std::size_t as_far = 0;
    for (std::size_t i = 0; i < middles.values.size(); ++i) {
        if (!middles.of_work.empty() && middles.of_work[i]) continue;
        const double distance =
            side == Side::below ? fit.centre - middles.values[i] : middles.values[i] - fit.centre;
        as_far += distance >= clear * spread ? 1 : 0;
        if (among.has(middles.places[i].first) && (!most || distance / spread > most->spreads))
            most = Off{middles.places[i].first, middles.places[i].second, middles.values[i], fit.centre,
                       distance / spread};
    }
    if (!most || most->spreads < clear) return {};
    // If this many are, they have another role and are not slower for it.
    if (!among.host && as_far > 2 && 10 * as_far > middles.values.size()) return {};
    return most;
}

std::optional<Off> lowest_clock(const Middles& middles, const Among& among) {
    return furthest(middles, Side::below, least_clock_spread * robust::median(middles.values), among);
}

// How much of its time a GPU works, and how this is known.
struct Works {
    Middles middles;
    bool by_power = false;
};
Works works_of(const Comparison& job, const Role& role) {
    Works works{middles_of(job, role, &GpuPace::sm_active), false};
    if (works.middles.lacking == 0) return works;
    return {middles_of(job, role,
                       [](const GpuPace& gpu) -> std::optional<double> {
                           if (!gpu.power_w || gpu.limit_w.value_or(0) <= 0) return {};
                           const double share = *gpu.power_w / *gpu.limit_w;
                           return std::max(0.0, (share - waiting_power) / (1 - waiting_power));
                       }),
            true};
}

// Whether it works as long as most of its equals; true if not known.
bool works_as_long(const Works& works, const Off& off) {
    const auto at =
        std::find(works.middles.places.begin(), works.middles.places.end(), std::pair(off.host, off.place));
    return at == works.middles.places.end() ||
           works.middles.values[static_cast<std::size_t>(at - works.middles.places.begin())] >=
               robust::median(works.middles.values);
}

bool is_capped(const GpuPace& gpu) {
    return gpu.capped.value_or(0) >= some_capped;
}

// At the power limit, by the clocks there.
std::optional<Off> low_at_limit(const Comparison& job, const Role& role, const Among& among) {
    return lowest_clock(
        middles_of(job, role,
                   [](const GpuPace& gpu) { return is_capped(gpu) ? gpu.capped_mhz : std::nullopt; }),
        among);
}

// Below the power limit: those at it are among the equals, as they are not faster for it.
std::optional<Off> low_below_limit(const Comparison& job, const Role& role, const Among& among) {
    auto middles = middles_of(job, role, &GpuPace::sm_mhz);
    for (const auto& [host, place] : middles.places)
        middles.of_work.push_back(is_capped(job.at(host, 0).gpus[place]));
    return lowest_clock(middles, among);
}

// Held down by heat or a brake for the largest share of the time, which is `value`.
std::optional<Off> slowed(const Comparison& job, const Role& role, const Among& among) {
    const auto middles = middles_of(job, role, &GpuPace::slowed);
    std::optional<Off> most;
    for (std::size_t i = 0; i < middles.values.size(); ++i)
        if (among.has(middles.places[i].first) && middles.values[i] >= much_slowed &&
            (!most || middles.values[i] > most->value))
            most = Off{middles.places[i].first, middles.places[i].second, middles.values[i],
                       robust::median(middles.values), 0};
    // If all are, none is slower for it than the others.
    return most && most->equals < much_slowed / 2 ? most : std::nullopt;
}

// How much less of its time a kernel ran on the host's GPUs than on its equals'.
struct Idle {
    std::size_t host = 0;
    double busy = 0, equals = 0;
};
std::optional<Idle> idlest(const Comparison& job, const Role& role, const Among& among) {
    std::vector<double> all;
    std::vector<std::pair<std::size_t, double>> hosts;
    for (const auto host : role) {
        std::vector<double> own;
        for (std::size_t place = 0; place < job.at(host, 0).gpus.size(); ++place)
            if (const auto busy = middle_of(job, host, place, &GpuPace::busy)) own.push_back(*busy);
        if (own.empty()) continue;
        hosts.emplace_back(host, robust::median(own));
        all.push_back(hosts.back().second);
    }
    if (all.size() < 3) return {};
    const auto fit = robust::fit(all);
    std::optional<Idle> low;
    for (const auto& [host, busy] : hosts)
        if (among.has(host) && (!low || busy < low->busy)) low = Idle{host, busy, fit.centre};
    if (!low || fit.centre - low->busy < robust::outlying(all.size()) * std::max(fit.spread, 0.01)) return {};
    return low;
}

const GpuPace& gpu_of(const Comparison& job, const Off& off) {
    return job.at(off.host, 0).gpus[off.place];
}

std::string clock_text(const Off& low) {
    return fmt::format("its SM clock is {:.0f} MHz, that of its equals {:.0f} MHz", low.value, low.equals);
}
std::string limit_text(const Off& low) {
    return fmt::format(
        "its SM clock at its power limit is {:.0f} MHz, that of its equals at theirs {:.0f} MHz", low.value,
        low.equals);
}
std::string slowed_text(const Off& off) {
    return fmt::format("heat or a power brake holds its clocks down for {:.0f} % of the time, those of its "
                       "equals for {:.0f} %",
                       off.value * 100, off.equals * 100);
}
std::string link_text(const Off& low) {
    return fmt::format("its PCIe link can carry {:.1f} GB/s, that of its equals {:.1f} GB/s", low.value,
                       low.equals);
}
std::string idle_text(const Idle& idle) {
    return fmt::format(
        "its GPUs have kernels to run {:.0f} % of the time, those of its equals {:.0f} %: they "
        "wait for the host, its CPU or its input",
        idle.busy * 100, idle.equals * 100);
}
std::string works_text(const Comparison& job, const Off& off, bool by_power) {
    const auto& gpu = gpu_of(job, off);
    if (!by_power)
        return fmt::format(
            "{:.0f} % of its multiprocessors have something to do, {:.0f} % of its equals': it "
            "works while they wait",
            off.value * 100, off.equals * 100);
    const double limit = gpu.limit_w.value_or(0);
    return fmt::format("it draws {:.0f} W of at most {:.0f} W, its equals {:.0f} W: it works while they wait",
                       gpu.power_w.value_or(0), limit,
                       limit * (waiting_power + (1 - waiting_power) * off.equals));
}

} // namespace

void add_causes(const Comparison& job, std::size_t host, Straggler& straggler) {
    const auto& role = role_of(job, host);
    const Among among{host, straggler.gpu >= 0};
    // A further reading: which of its GPUs it is, if the waiting did not show it.
    const auto blame = [&](const std::optional<Off>& off, const auto& text) {
        if (!off) return false;
        const auto gpu = static_cast<int>(gpu_of(job, *off).gpu);
        if (straggler.gpu >= 0 && straggler.gpu != gpu) return false;
        straggler.gpu = gpu;
        straggler.evidence.push_back(text(*off));
        straggler.confidence += 0.15;
        return true;
    };
    const auto link = furthest(middles_of(job, role, &GpuPace::pcie_gbs), Side::below, 0.5, among);
    if (link && link->value < 0.8 * link->equals && blame(link, link_text)) return;
    if (blame(slowed(job, role, among), slowed_text)) return;
    const auto works = works_of(job, role);
    // A GPU that is slow but has less to do does not make its host slow.
    if (const auto low = low_at_limit(job, role, among);
        low && works_as_long(works, *low) && blame(low, limit_text))
        return;
    if (blame(low_below_limit(job, role, among), clock_text)) return;
    const auto memory_text = [](const Off& low) {
        return fmt::format("its memory clock is {:.0f} MHz, that of its equals {:.0f} MHz", low.value,
                           low.equals);
    };
    if (blame(lowest_clock(middles_of(job, role, &GpuPace::mem_mhz), among), memory_text)) return;
    if (const auto idle = idlest(job, role, among); idle && straggler.gpu < 0) {
        straggler.evidence.push_back(idle_text(*idle));
        straggler.confidence += 0.15;
        return;
    }
    if (blame(furthest(works.middles, Side::above, 0.01, among), [&](const Off& off) {
            return works_text(job, off, works.by_power) +
                   ", at a clock that is not lower than theirs: it has more to do than they";
        }))
        return;
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
    const auto offer_gpu = [&](const Off& off, double score, double confidence, std::string text) {
        offer(off.host, static_cast<int>(gpu_of(job, off).gpu), score, confidence, std::move(text));
    };
    std::vector<Works> of_roles;
    std::vector<double> all; // that GPUs of any role work
    for (const auto& role : job.roles) {
        const auto& works = of_roles.emplace_back(works_of(job, role)).middles.values;
        all.insert(all.end(), works.begin(), works.end());
    }
    const double long_working = robust::quantile(all, 0.9);
    for (std::size_t i = 0; i < job.roles.size(); ++i) {
        const auto& role = job.roles[i];
        const auto& works = of_roles[i];
        // A GPU that is slow but has less to do delays no other.
        if (const auto low = low_at_limit(job, role, {});
            low && low->share() >= clear_clock && works_as_long(works, *low))
            offer_gpu(*low, low->share(), 0.5, limit_text(*low));
        // Below the limit its power is lower for the same reason.
        if (const auto low = low_below_limit(job, role, {});
            low && low->share() >= clear_clock && (works.by_power || works_as_long(works, *low)))
            offer_gpu(*low, low->share(), 0.5, clock_text(*low));
        if (const auto off = slowed(job, role, {}))
            offer_gpu(*off, std::max(least, 0.05), 0.4, slowed_text(*off));
        const auto link = furthest(middles_of(job, role, &GpuPace::pcie_gbs), Side::below, 0.5, {});
        if (link && link->value <= narrow_link * link->equals)
            offer_gpu(*link, std::max(least, 0.05), 0.4, link_text(*link));
        if (const auto idle = idlest(job, role, {}); idle && idle->equals - idle->busy >= clear_idle)
            offer(idle->host, -1, idle->equals - idle->busy, 0.5, idle_text(*idle));
        if (const auto off = furthest(works.middles, Side::above, 0.01, {}))
            offer_gpu(*off, off->value - long_working, works.by_power ? 0.4 : 0.5,
                      works_text(job, *off, works.by_power));
    }
    if (worst)
        worst->evidence.emplace_back(
            "its processes make no step marks: whether the others wait for it is not "
            "seen");
    return worst;
}

} // namespace restart::straggle
