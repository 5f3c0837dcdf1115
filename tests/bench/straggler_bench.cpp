// What the judge of stragglers makes of made-up jobs whose culprit is known (tests/traces/job_trace), beside
// what is done without it: the host whose step time, bytes or clock lies furthest from the mean, from three
// standard deviations on. Those are right when they name the culprit's host; ours is when it names the GPU,
// the port or the leaf. Then what a judgement costs. The jobs obey the physics that the judge assumes: the
// table shows what it makes of noise, decoys and mild cases, not that clusters are so.
#include "base/cli.hpp"
#include "base/table.hpp"
#include "restart/core/straggle/judge.hpp"
#include "traces/job_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

namespace {

using namespace restart;
using trace::Culprit;
using trace::JobShape;
using trace::JobTrace;

constexpr double least = 0.05;

struct Count {
    int right = 0, wrong = 0, silent = 0;
    void add(bool found, bool is_right) { ++(!found ? silent : is_right ? right : wrong); }
    std::string text() const { return fmt::format("{} / {} / {}", right, wrong, silent); }
};

double steps_of(const PaceWindow& window) {
    return window.ranks.empty() ? 0 : window.ranks.front().steps;
}
double bytes_of(const PaceWindow& window) {
    double sum = 0;
    for (const auto& port : window.ports)
        sum += port.mb_s;
    return sum;
}
double clock_of(const PaceWindow& window) {
    double low = 1e9;
    for (const auto& gpu : window.gpus)
        low = std::min(low, gpu.sm_mhz.value_or(1e9));
    return low;
}

// -1: none lies so far off.
int furthest(const std::vector<PacedHost>& hosts, double (*value)(const PaceWindow&)) {
    std::vector<double> values;
    double mean = 0, variance = 0;
    for (const auto& host : hosts) {
        double sum = 0;
        for (const auto* window : host.windows)
            sum += value(*window) / static_cast<double>(host.windows.size());
        values.push_back(sum);
        mean += sum / static_cast<double>(hosts.size());
    }
    for (const double one : values)
        variance += (one - mean) * (one - mean) / static_cast<double>(values.size());
    int found = -1;
    double most = 3 * std::sqrt(variance);
    for (std::size_t i = 0; i < values.size(); ++i)
        if (variance > 0 && std::abs(values[i] - mean) > most) {
            most = std::abs(values[i] - mean);
            found = static_cast<int>(i);
        }
    return found;
}

bool names(const JobTrace& job, const std::vector<PacedHost>& hosts, int suspect) {
    if (suspect < 0) return false;
    if (suspect == job.host) return true;
    const auto& leaves = hosts[static_cast<std::size_t>(suspect)].leaves;
    return !job.leaf.empty() && std::any_of(leaves.begin(), leaves.end(),
                                            [&](const auto& leaf) { return leaf.second == job.leaf; });
}

void confusion(const JobShape& shape, int jobs, std::uint32_t seed) {
    fmt::print(
        "{} hosts of 8 GPUs and 8 rails in {} stages{}, {} step marks{}{}; {} jobs of each kind, seed {};\n"
        "right / wrong / silent\n",
        shape.hosts, shape.stages, shape.uneven ? " of unequal load" : "", shape.marks ? "with" : "without",
        fmt::format("{}{}", shape.gpm ? ", with GPM" : "", shape.ras ? " and with NCCL's RAS" : ""),
        shape.severity < 1 ? ", mild cases" : "", jobs, seed);
    base::Table table({"CULPRIT", "COSTS", "RESTARTD", "CONFIDENCE", "STEP TIME", "BYTES", "CLOCK"});
    std::vector<Culprit> culprits(std::begin(trace::culprits), std::end(trace::culprits));
    culprits.push_back(Culprit::gone);
    for (const auto culprit : culprits) {
        std::array<Count, 4> counts{};
        double cost = 0, confidence = 0;
        for (int i = 0; i < jobs; ++i) {
            const JobTrace job(shape, culprit, seed + static_cast<std::uint32_t>(i));
            const auto hosts = job.hosts();
            const auto made = judge_stragglers(hosts, least);
            const bool found = made.verdict == StragglerVerdict::found;
            counts[0].add(found, found && job.is(made.suspect));
            confidence += found ? made.suspect.confidence : 0;
            cost += job.cost / jobs;
            const std::array naive{&steps_of, &bytes_of, &clock_of};
            for (std::size_t n = 0; n < naive.size(); ++n) {
                const int suspect = furthest(hosts, naive[n]);
                counts[n + 1].add(suspect >= 0, names(job, hosts, suspect));
            }
        }
        const int named = counts[0].right + counts[0].wrong;
        table.add({std::string(to_string(culprit)), fmt::format("{:.0f} %", cost * 100), counts[0].text(),
                   named == 0 ? "-" : fmt::format("{:.2f}", confidence / named), counts[1].text(),
                   counts[2].text(), counts[3].text()});
    }
    fmt::print("{}\n", table.print());
}

void costs(std::uint32_t seed) {
    base::Table table({"HOSTS", "A JUDGEMENT", "A HOST"});
    for (const int hosts : {8, 32, 128, 512}) {
        JobShape shape;
        shape.hosts = hosts;
        const JobTrace job(shape, Culprit::half_rail, seed);
        const auto paces = job.hosts();
        constexpr int times = 20;
        const auto began = std::chrono::steady_clock::now();
        std::size_t kept = 0; // so that nothing is left out
        for (int i = 0; i < times; ++i)
            kept += judge_stragglers(paces, least).suspect.host.size();
        const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - began;
        if (kept == 0) fmt::print("nothing was found\n");
        table.add({std::to_string(hosts), fmt::format("{:.2f} ms", took.count() / times / 1000),
                   fmt::format("{:.1f} us", took.count() / times / hosts)});
    }
    fmt::print("{}", table.print());
}

} // namespace

int main(int argc, char** argv) {
    base::Cli cli("straggler_bench", "Judges jobs with known stragglers, beside naive ways.", "HACKING");
    std::uint32_t given = 100;
    std::uint32_t seed = 1;
    cli->add_option("--jobs", given, "Jobs of each kind")->capture_default_str();
    cli->add_option("--seed", seed, "Seed of the first one")->capture_default_str();
    int status = 0;
    if (!cli.parse(argc, argv, status)) return status;
    const int jobs = static_cast<int>(std::clamp(given, 1U, 100'000U));
    const JobShape plain, mild{.severity = 0.3}, staged{.hosts = 128, .stages = 4, .uneven = true},
        wide{.hosts = 512, .stages = 8, .uneven = true};
    const auto without_marks = [](JobShape shape, bool gpm) {
        shape.marks = false;
        shape.gpm = gpm;
        return shape;
    };
    confusion(plain, jobs, seed);
    confusion(mild, jobs, seed);
    confusion(staged, jobs, seed);
    confusion(wide, std::max(1, jobs / 10), seed);
    confusion(without_marks(plain, false), jobs, seed);
    for (const auto& shape : {plain, mild, staged})
        confusion(without_marks(shape, true), jobs, seed);
    confusion({.marks = false, .ras = true}, jobs, seed);
    confusion({.ras = true}, jobs, seed);
    costs(seed);
    return 0;
}
