#include "traces/job_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace trace {
namespace {

constexpr int gpus = 8, rails = 8;
constexpr double memory_mhz = 2619, pcie_gbs = 63, link_gbps = 400;
constexpr double limit_w = 700, waiting_w = 124, free_mhz = 1980; // a clock that nothing holds down
constexpr double looks = 30;                                      // in a window

// What the seed decides, and what stays as it is from window to window.
struct Job {
    Job(const JobShape& given, std::uint32_t seed) : shape(given), random(seed) {
        compute_s = between(3, 12);
        rail_s = compute_s * between(0.2, 0.5);
        chips.resize(static_cast<std::size_t>(shape.hosts * gpus));
        for (auto& chip : chips)
            chip = {normal(0.01), normal(0.03)};
        at_limit = pick(10) < 6;
        mhz = between(1300, 1470);
        watts = between(366, 620);
    }
    double between(double low, double high) { return std::uniform_real_distribution(low, high)(random); }
    double normal(double sigma) { return std::normal_distribution(0.0, sigma)(random); }
    int pick(int n) { return std::uniform_int_distribution(0, n - 1)(random); }

    int stage_of(int host) const { return host * shape.stages / shape.hosts; }
    double load_of(int stage) const { return shape.uneven && stage == 0 ? 0.75 : 1; }
    // Stages have more or fewer parameters: bytes of a step and rail in units of what one link carries in
    // rail_s.
    double bytes_of(int stage) const { return shape.uneven && stage == 0 ? 0.6 : 1; }
    struct Chip {
        double slower, draws; // by how much than the mean, below the power limit
    };
    const Chip& chip(int host, int gpu) const { return chips[static_cast<std::size_t>(host * gpus + gpu)]; }
    // Of a GPU while it works, with the clock at so much of what it should be, by heat or a brake or not.
    double mhz_of(int host, int gpu, double clock) const {
        const double usual =
            at_limit ? mhz * (shape.uneven && stage_of(host) == 0 ? 0.85 : 1) * (1 - chip(host, gpu).slower)
                     : free_mhz;
        return usual * clock;
    }
    double watts_of(int host, int gpu) const {
        return at_limit ? limit_w : watts * (1 + chip(host, gpu).draws);
    }

    const JobShape& shape;
    std::mt19937 random;
    double compute_s = 0, rail_s = 0; // of a step
    std::vector<Chip> chips;
    bool at_limit = false;     // of its power, while a GPU works
    double mhz = 0, watts = 0; // then, and otherwise
};

// What is wrong, as factors of what is usual.
struct Wrong {
    int host = -1, gpu = -1, rail = -1, first = -1, last = -1; // hosts of a leaf
    double compute = 1, clock = 1, pcie = 1, rate = 1, speed = 1, resent = 0, cpu = 0;
    bool throttled = false, seen = false; // and the driver says so
};

struct Decoys {
    int idle_host = 0, idle_gpu = 0; // of low clock, with less to do
    int resending_host = 0, resending_rail = 0;
    int writing_host = 0;
    int stumbling_host = 0, stumbling_window = 0;
};

double rounded(double value) {
    return restart::rounded(std::max(0.0, value));
}

// Of a GPU that works for this share of a window and waits for the rest; `idle`: of low clock, with less to
// do.
restart::GpuPace reading(Job& job, int host, int gpu, double share, const Wrong& wrong, bool idle) {
    const auto mixed = [&](double working, double waiting) {
        return share * working + (1 - share) * waiting;
    };
    const auto part = [&](double of) { return rounded(std::clamp(of, 0.0, 1.0)); };
    const bool capped = job.at_limit && !wrong.throttled;
    const double mhz = job.mhz_of(host, gpu, wrong.clock * (idle ? 0.93 : 1));
    const double watts = job.watts_of(host, gpu) * (wrong.throttled ? wrong.clock : 1);
    const double grain = std::sqrt(share * (1 - share) / looks); // of a share that so many looks find
    restart::GpuPace pace;
    pace.gpu = static_cast<std::uint32_t>(gpu);
    pace.sm_mhz = rounded(mixed(mhz, free_mhz) + job.normal(grain) * (free_mhz - mhz));
    pace.mem_mhz = memory_mhz;
    pace.power_w = rounded(mixed(watts, waiting_w) * (1 + job.normal(0.01)));
    pace.limit_w = limit_w;
    pace.capped = capped ? part(share + job.normal(grain)) : 0;
    if (capped) pace.capped_mhz = rounded(mhz * (1 + job.normal(0.004)));
    pace.slowed = wrong.seen ? part(share + job.normal(grain)) : 0;
    pace.pcie_gbs = rounded(pcie_gbs * wrong.pcie);
    if (job.shape.gpm) {
        pace.sm_active = part(0.95 * share + job.normal(0.01));
        pace.tensor_active = part(0.6 * share);
    }
    return pace;
}

} // namespace

std::string_view to_string(Culprit culprit) {
    switch (culprit) {
    case Culprit::none: return "none";
    case Culprit::gpu_clock: return "GPU clock";
    case Culprit::gpu_limit: return "GPU clock at the limit";
    case Culprit::gpu_load: return "GPU with more to do";
    case Culprit::pcie: return "PCIe link";
    case Culprit::half_rail: return "port at half rate";
    case Culprit::resending: return "port that resends";
    case Culprit::slow_port: return "slow port, silent";
    case Culprit::host_cpu: return "host's CPU or input";
    case Culprit::slow_leaf: return "leaf";
    case Culprit::gone: return "process that is gone";
    }
    return {};
}

std::string host_name(int host) {
    return fmt::format("n{:03}", host + 1);
}

std::string JobTrace::leaf_of(int of, int on) const {
    return fmt::format("leaf{}-{}", of / shape_.hosts_a_leaf, on);
}

JobTrace::JobTrace(const JobShape& shape, Culprit culprit, std::uint32_t seed) : shape_(shape) {
    Job job(shape_, seed);
    Wrong wrong;
    wrong.host = job.pick(shape_.hosts);
    wrong.gpu = job.pick(gpus);
    wrong.rail = job.pick(rails);
    // Only what holds the job up is a culprit: not in the stage that has time to spare.
    while (job.load_of(job.stage_of(wrong.host)) < 1)
        wrong.host = job.pick(shape_.hosts);
    wrong.first = wrong.last = wrong.host;
    const bool of_rail = culprit == Culprit::half_rail || culprit == Culprit::resending ||
                         culprit == Culprit::slow_port || culprit == Culprit::slow_leaf;
    switch (culprit) {
    case Culprit::none: break;
    case Culprit::gpu_clock:
    case Culprit::gpu_limit:
    case Culprit::gpu_load:
        wrong.clock = job.between(0.6, 0.85);
        wrong.throttled = culprit == Culprit::gpu_clock;
        wrong.seen = wrong.throttled && job.pick(2) == 0;
        job.at_limit = job.at_limit || culprit == Culprit::gpu_limit;
        break;
    case Culprit::pcie:
        wrong.pcie = 0.25;
        wrong.compute = job.between(1.15, 1.6);
        break;
    case Culprit::half_rail: wrong.rate = wrong.speed = 0.5; break;
    case Culprit::resending:
        wrong.speed = job.between(0.4, 0.7);
        wrong.resent = job.between(20, 2000);
        break;
    case Culprit::slow_port: wrong.speed = job.between(0.4, 0.7); break;
    case Culprit::host_cpu: wrong.cpu = job.between(0.15, 0.6); break;
    case Culprit::slow_leaf:
        wrong.speed = job.between(0.4, 0.7);
        wrong.first = wrong.host / shape_.hosts_a_leaf * shape_.hosts_a_leaf;
        wrong.last = std::min(wrong.first + shape_.hosts_a_leaf, shape_.hosts) - 1;
        break;
    case Culprit::gone: cost = 1; break;
    }
    const auto milder = [&](double& factor) { factor = 1 - (1 - factor) * shape_.severity; };
    for (auto* factor : {&wrong.clock, &wrong.speed})
        milder(*factor);
    wrong.compute = wrong.clock < 1 ? 1 / wrong.clock : 1 + (wrong.compute - 1) * shape_.severity;
    if (culprit == Culprit::gpu_load) wrong.clock = 1;
    wrong.cpu *= shape_.severity;
    if (culprit == Culprit::none) {
        wrong = {};
    } else if (of_rail) {
        rail = wrong.rail;
        if (culprit == Culprit::slow_leaf)
            leaf = leaf_of(wrong.host, rail);
        else
            host = wrong.host;
    } else {
        host = wrong.host;
        if (culprit != Culprit::host_cpu) gpu = wrong.gpu;
    }
    Decoys decoys{job.pick(shape_.hosts), job.pick(gpus),         job.pick(shape_.hosts),  job.pick(rails),
                  job.pick(shape_.hosts), job.pick(shape_.hosts), job.pick(shape_.windows)};

    windows_.resize(static_cast<std::size_t>(shape_.hosts));
    for (int k = 0; k < shape_.windows; ++k) {
        // How long each process computes.
        std::vector<double> busy(static_cast<std::size_t>(shape_.hosts * gpus)), late(busy.size()),
            works(busy.size());
        double slowest = 0, slowest_beside = 0;
        for (int h = 0; h < shape_.hosts; ++h)
            for (int g = 0; g < gpus; ++g) {
                const auto at = static_cast<std::size_t>(h * gpus + g);
                double time = job.compute_s * job.load_of(job.stage_of(h)) *
                              (1 + job.chip(h, g).slower + job.normal(0.01));
                if (h == decoys.idle_host && g == decoys.idle_gpu) time *= 0.9;
                if (h == decoys.stumbling_host && k == decoys.stumbling_window) time *= 1.3;
                slowest_beside = std::max(slowest_beside, time);
                works[at] = time;
                if (!of_rail && h == wrong.host && (g == wrong.gpu || wrong.cpu > 0)) {
                    late[at] = wrong.cpu * job.compute_s;
                    time *= wrong.compute;
                    if (wrong.pcie == 1) works[at] = time; // copies take nothing
                }
                busy[at] = time;
                slowest = std::max(slowest, time + late[at]);
            }
        // How long each ring takes: as its slowest link.
        std::vector<double> speed(static_cast<std::size_t>(shape_.stages * rails), 1.0);
        if (of_rail)
            for (int h = wrong.first; h <= wrong.last; ++h)
                speed[static_cast<std::size_t>(job.stage_of(h) * rails + wrong.rail)] = wrong.speed;
        double longest = 0, longest_beside = 0;
        for (int s = 0; s < shape_.stages; ++s)
            for (int r = 0; r < rails; ++r) {
                const double time = job.rail_s * job.bytes_of(s);
                longest = std::max(longest, time / speed[static_cast<std::size_t>(s * rails + r)]);
                longest_beside = std::max(longest_beside, time);
            }
        const double step = slowest + longest;
        if (culprit != Culprit::none && culprit != Culprit::gone)
            cost += (1 - (slowest_beside + longest_beside) / step) / shape_.windows;

        for (int h = 0; h < shape_.hosts; ++h) {
            restart::PaceWindow window;
            const int stage = job.stage_of(h);
            for (int g = 0; g < gpus; ++g) {
                const auto at = static_cast<std::size_t>(h * gpus + g);
                const double waits = 1 - (busy[at] + late[at]) / step;
                if (shape_.marks)
                    window.ranks.push_back({static_cast<std::uint32_t>(h * gpus + g), rounded(1 / step),
                                            rounded(std::clamp(waits + job.normal(0.005), 0.0, 1.0))});
                const bool sick = !of_rail && h == wrong.host && g == wrong.gpu;
                const bool idle = h == decoys.idle_host && g == decoys.idle_gpu;
                const double share = std::min(1.0, works[at] / step);
                auto pace = reading(job, h, g, share, sick ? wrong : Wrong(), idle);
                pace.busy = rounded(std::clamp(0.99 - late[at] / step + job.normal(0.005), 0.0, 1.0));
                window.gpus.push_back(pace);
            }
            for (int r = 0; r < rails; ++r) {
                restart::PortPace port;
                port.port = fmt::format("mlx5_{}:1", r);
                const double ring = speed[static_cast<std::size_t>(stage * rails + r)];
                const double link = 2 * link_gbps * 1000 / 8 * 0.9; // both ways, MB/s
                const double takes = job.rail_s * job.bytes_of(stage);
                port.mb_s = link * takes / step;
                port.peak_mb_s = link * ring;
                if (h == decoys.writing_host) port.mb_s += 0.03 * link;
                port.mb_s = rounded(port.mb_s * (1 + job.normal(0.03)));
                port.peak_mb_s = rounded(std::max(port.mb_s, port.peak_mb_s * (1 + job.normal(0.03))));
                port.gbps = link_gbps;
                double waits = 1e5 * std::exp(job.normal(0.5));
                if (std::abs(job.normal(1)) > 2) port.resent = rounded(job.between(0, 0.3));
                if (h == decoys.resending_host && r == decoys.resending_rail) port.resent = 3;
                if (of_rail && r == wrong.rail) {
                    if (h == wrong.host && culprit != Culprit::slow_leaf) {
                        port.gbps *= wrong.rate;
                        port.resent += wrong.resent;
                    }
                    // Who sends to a port that takes too little waits for credits: the one before it in its
                    // ring, or all that must leave the leaf.
                    int before = h + 1;
                    if (before >= shape_.hosts || job.stage_of(before) != stage) {
                        before = h;
                        while (before > 0 && job.stage_of(before - 1) == stage)
                            --before;
                    }
                    const bool leaf_waits =
                        culprit == Culprit::slow_leaf && h >= wrong.first && h <= wrong.last;
                    if ((culprit != Culprit::slow_leaf && before == wrong.host) || leaf_waits)
                        waits *= job.between(15, 40);
                }
                port.waits = rounded(waits);
                window.ports.push_back(std::move(port));
            }
            if (culprit == Culprit::gone) stand_still(window, h == host ? gpu : -1);
            windows_[static_cast<std::size_t>(h)].push_back(std::move(window));
        }
    }
    if (shape_.ras) ask_ras(culprit, seed);
}

// The marks are those of the last steps; kernels of all others spin, and nothing goes over the rails.
void JobTrace::stand_still(restart::PaceWindow& window, int without) {
    for (auto& port : window.ports)
        port.mb_s = port.peak_mb_s = 0.1;
    for (auto& one : window.gpus) {
        one.busy = 1;
        one.sm_mhz = free_mhz;
        one.power_w = waiting_w;
        one.capped = one.slowed = 0;
        one.capped_mhz.reset();
        if (one.sm_active) one.sm_active = 0.007;
        if (one.tensor_active) one.tensor_active = 0;
    }
    if (without < 0) return;
    auto& gone = window.gpus[static_cast<std::size_t>(without)];
    gone.busy = 0;
    gone.sm_active.reset();
    gone.tensor_active.reset();
    if (!window.ranks.empty()) window.ranks.erase(window.ranks.begin() + without);
}

// What NCCL's RAS says of a job, by numbers of its own, so that the rest is the same without it.
void JobTrace::ask_ras(Culprit culprit, std::uint32_t seed) {
    std::mt19937 random(seed + 1);
    const auto pick = [&](int n) { return std::uniform_int_distribution(0, n - 1)(random); };
    const auto name = [&](int of, std::size_t window, restart::RasSign sign) {
        windows_[static_cast<std::size_t>(of)][window].ras.push_back(sign);
    };
    const int late_host = pick(shape_.hosts), late_gpu = pick(gpus);
    for (std::size_t k = 0; k < static_cast<std::size_t>(shape_.windows); ++k) {
        const auto operations = [&] { return static_cast<std::uint64_t>(1 + pick(40)); };
        name(late_host, k, {late_gpu, false, operations()});
        // Between two operations anybody may be behind, or not be heard once.
        name(pick(shape_.hosts), k, {pick(gpus), false, operations()});
        if (pick(4) == 0) name(pick(shape_.hosts), k, {pick(gpus), true, 0});
        if (culprit == Culprit::gone)
            name(host, k, {gpu, true, 0});
        else if (gpu >= 0 && pick(10) > 0)
            name(host, k, {gpu, false, operations()});
        else if (culprit == Culprit::host_cpu && pick(10) > 0)
            for (int g = 0; g < gpus; ++g)
                name(host, k, {g, false, operations()});
    }
}

std::vector<restart::PacedHost> JobTrace::hosts() const {
    std::vector<restart::PacedHost> made;
    for (int h = 0; h < shape_.hosts; ++h) {
        restart::PacedHost paced;
        paced.host = host_name(h);
        for (const auto& window : windows_[static_cast<std::size_t>(h)])
            paced.windows.push_back(&window);
        for (int r = 0; r < rails; ++r) {
            paced.rails[fmt::format("mlx5_{}:1", r)] = r;
            paced.leaves[fmt::format("mlx5_{}:1", r)] = leaf_of(h, r);
        }
        made.push_back(std::move(paced));
    }
    return made;
}

bool JobTrace::is(const restart::Straggler& suspect) const {
    if (!leaf.empty()) return suspect.leaf == leaf && suspect.rail == rail;
    if (host < 0 || suspect.host != host_name(host)) return false;
    if (gpu >= 0) return suspect.gpu == gpu;
    return suspect.rail == rail && suspect.gpu == -1;
}

} // namespace trace
