// LSF's dispatcher: what a pass costs, and what a queue gains by it.
//
// First: one pass over 1,000 and more waiting gangs on 1,024 hosts, with its budget of steps and with one
// that lets it look at every gang. "To the first plan": a pass that has the first gang to start among the
// others, with nothing else that has a place. Then: a trace lived through three times. "name order" is what a
// site does by hand with bsub -m: the first gang in the queue gets the first free hosts in the order of their
// names, and nobody goes ahead of it. "whoever fits" is LSF without reservations: each gang that fits starts,
// in order. A gang runs as long as its trace says wherever it runs: that rails which do not meet slow it down
// is not counted.
//
// --trace FILE: lines "SUBMIT RUN LIMIT HOSTS" (seconds; LIMIT 0: none), by time of submission.
#include "base/cli.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/table.hpp"
#include "base/units.hpp"
#include "sched/lsf/dispatch.hpp"
#include "topo/synth/synth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <queue>
#include <random>
#include <sstream>

#include <sys/resource.h>

namespace {

using namespace sched;
using namespace sched::lsf;
using Clock = std::chrono::steady_clock;
using Hosts = std::vector<std::uint32_t>;

constexpr int hosts_a_unit = 32, units_a_pod = 4;
const base::Time start_of_trace = base::time_from_seconds(1'772'367'600);

topo::Fabric fabric_of(std::uint32_t hosts) {
    topo::SynthSpec spec;
    spec.hosts = hosts_a_unit;
    spec.units = std::min<int>(units_a_pod, static_cast<int>(hosts) / hosts_a_unit);
    spec.pods = static_cast<int>(hosts) / (hosts_a_unit * spec.units);
    auto fabric = topo::synthesise(spec);
    if (!fabric) throw std::runtime_error(fabric.error().text);
    return *std::move(fabric);
}

double quantile(std::vector<double> values, double q) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1) + 0.5)];
}

double mean(const std::vector<double>& values) {
    return values.empty()
               ? 0
               : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

long preemptions() {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw;
}

// ---- what a pass costs

enum class Kind { first_starts, one_shape, all_different, spans };

WaitingGang waiting_gang(std::mt19937_64& random, Kind kind, std::uint32_t i, base::Time now) {
    WaitingGang gang;
    gang.job = base::JobId(100'000 + i);
    gang.eligible = now;
    gang.limit = std::chrono::minutes(30 + random() % 3000);
    gang.request.nodes = kind == Kind::one_shape ? 64 : 1 + static_cast<std::uint32_t>(random() % 256);
    if (kind == Kind::all_different || kind == Kind::spans)
        gang.request.excluded = {i % 1024, static_cast<std::uint32_t>(random() % 1024)}; // hosts it failed on
    if (kind == Kind::spans) {
        gang.hints.span = i % 2 == 0 ? Span::unit : Span::pod;
        gang.hints.span_wait = std::chrono::hours(1);
        gang.request.nodes = 1 + static_cast<std::uint32_t>(random() % (i % 2 == 0 ? 32 : 128));
    }
    return gang;
}

Queue full_queue(std::mt19937_64& random, Kind kind, std::uint32_t hosts, std::uint32_t gangs) {
    Queue queue;
    queue.now = start_of_trace;
    queue.snapshot.states.assign(hosts, HostState::free);
    Hosts order(hosts);
    std::iota(order.begin(), order.end(), 0U);
    const std::uint32_t free = kind == Kind::first_starts ? 64 : 20;
    for (std::uint32_t at = 0, job = 1; at + free < hosts; ++job) {
        HoldingJob held;
        held.holder.job = base::JobId(job);
        const auto size =
            std::min<std::uint32_t>(1 + static_cast<std::uint32_t>(random() % 40), hosts - free - at);
        held.holder.hosts.assign(order.begin() + at, order.begin() + at + size);
        at += size;
        if (random() % 10 != 0) held.holder.ends = queue.now + std::chrono::minutes(1 + random() % 3000);
        held.since = queue.now - std::chrono::minutes(random() % 1000);
        queue.holding.push_back(held);
    }
    for (std::uint32_t i = 0; i < gangs; ++i)
        queue.waiting.push_back(waiting_gang(random, kind, i, queue.now));
    if (kind == Kind::first_starts) queue.waiting[0].request.nodes = 64;
    return queue;
}

void time_passes(base::Table& table, const topo::Fabric& fabric, const Placer& placer, const char* name,
                 Kind kind, std::uint32_t gangs, const Options& options, std::size_t rounds,
                 std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<double> took, looked, why;
    for (std::size_t i = 0; took.size() < rounds && i < 20 * rounds; ++i) {
        const auto queue = full_queue(random, kind, static_cast<std::uint32_t>(fabric.hosts.size()), gangs);
        const auto before = preemptions();
        const auto start = Clock::now();
        const auto plan = dispatch(fabric, placer, queue, options);
        const auto end = Clock::now();
        const auto text = why_waits(fabric, placer, queue, options, *plan, queue.waiting[gangs / 2].job);
        const auto told = Clock::now();
        if (preemptions() != before || !text) continue;
        took.push_back(std::chrono::duration<double, std::milli>(end - start).count());
        why.push_back(std::chrono::duration<double, std::milli>(told - end).count());
        looked.push_back(static_cast<double>(
            std::count_if(plan->verdicts.begin(), plan->verdicts.end(), [](const Verdict& verdict) {
                return verdict.kind != Verdict::Kind::not_looked_at;
            })));
    }
    table.add({name, fmt::to_string(gangs), options.steps == 0 ? "own" : "none",
               fmt::to_string(options.reservations), fmt::format("{:.2f}", quantile(took, 0.5)),
               fmt::format("{:.2f}", quantile(took, 0.99)), fmt::format("{:.2f}", quantile(took, 1)),
               fmt::format("{:.0f}", mean(looked)), fmt::format("{:.2f}", quantile(why, 0.99))});
}

// ---- a trace lived through

struct Job {
    double submit = 0, run = 0, limit = 0; // seconds
    std::uint32_t hosts = 0;
};

enum class Policy { dispatcher, name_order, whoever_fits };

struct Outcome {
    std::vector<double> wait, large_wait; // hours; of gangs of a quarter of the fabric and more
    double goodput = 0;                   // of the host time until the last ended
    double units = 0, least_units = 0;    // of gangs of more than one host, summed
    double milliseconds = 0;              // the longest pass
};

class Life {
public:
    Life(const topo::Fabric& fabric, const std::vector<Job>& jobs, Policy policy)
        : fabric_(fabric), placer_(fabric), jobs_(jobs), policy_(policy) {
        queue_.snapshot = Snapshot::all_free(fabric);
    }

    Outcome live() {
        std::size_t next = 0;
        double used = 0, last = 0;
        while (next < jobs_.size() || !ends_.empty()) {
            const auto end = ends_.empty() ? INFINITY : ends_.top().first;
            const auto come = next < jobs_.size() ? jobs_[next].submit : INFINITY;
            now_ = std::min(end, come);
            while (!ends_.empty() && ends_.top().first <= now_) {
                finish(ends_.top().second);
                ends_.pop();
            }
            for (; next < jobs_.size() && jobs_[next].submit <= now_; ++next)
                arrive(next);
            if (queue_.waiting.empty()) continue;
            for (bool more = true; more;) {
                more = policy_ == Policy::dispatcher ? plan() : by_name();
            }
        }
        for (const auto& job : jobs_)
            used += job.run * job.hosts;
        last = now_ - jobs_.front().submit;
        out_.goodput = used / (last * static_cast<double>(fabric_.hosts.size()));
        return std::move(out_);
    }

private:
    base::Time moment(double seconds) const { return start_of_trace + base::duration_from_seconds(seconds); }

    void arrive(std::size_t j) {
        WaitingGang gang;
        gang.job = base::JobId(j + 1);
        gang.request.nodes = jobs_[j].hosts;
        gang.eligible = moment(now_);
        if (jobs_[j].limit > 0) gang.limit = base::duration_from_seconds(jobs_[j].limit);
        queue_.waiting.push_back(std::move(gang));
    }
    void finish(std::size_t j) {
        const auto at =
            std::find_if(queue_.holding.begin(), queue_.holding.end(),
                         [&](const HoldingJob& held) { return held.holder.job == base::JobId(j + 1); });
        for (const auto h : at->holder.hosts)
            queue_.snapshot.states[h] = HostState::free;
        queue_.holding.erase(at);
    }
    void begin(base::JobId id, Hosts hosts) {
        const auto j = id.number() - 1;
        const auto& job = jobs_[j];
        out_.wait.push_back((now_ - job.submit) / 3600);
        if (job.hosts * 4 >= fabric_.hosts.size()) out_.large_wait.push_back(out_.wait.back());
        if (hosts.size() > 1) {
            std::vector<std::uint32_t> units;
            for (const auto h : hosts)
                units.push_back(placer_.index().unit_of[h]);
            std::sort(units.begin(), units.end());
            out_.units += static_cast<double>(std::unique(units.begin(), units.end()) - units.begin());
            out_.least_units += std::ceil(static_cast<double>(hosts.size()) / hosts_a_unit);
        }
        for (const auto h : hosts)
            queue_.snapshot.states[h] = HostState::busy;
        HoldingJob held;
        held.holder.job = id;
        if (job.limit > 0) held.holder.ends = moment(now_ + job.limit);
        held.holder.hosts = std::move(hosts);
        held.since = moment(now_);
        queue_.holding.push_back(std::move(held));
        ends_.emplace(now_ + std::max(job.run, 1.0), j);
    }

    // As often as the daemon would: once, and again where the budget ended before the queue did.
    bool plan() {
        queue_.now = moment(now_);
        const auto begun = Clock::now();
        const auto plan = dispatch(fabric_, placer_, queue_);
        const std::chrono::duration<double, std::milli> took = Clock::now() - begun;
        out_.milliseconds = std::max(out_.milliseconds, took.count());
        queue_.resume = plan->resume;
        for (const auto& start : plan->starts) {
            begin(start.job, start.placement.hosts);
            std::erase_if(queue_.waiting, [&](const WaitingGang& gang) { return gang.job == start.job; });
        }
        return !plan->starts.empty() && plan->resume.has_value();
    }
    bool by_name() {
        Hosts free;
        for (std::uint32_t h = 0; h < queue_.snapshot.states.size(); ++h) // synthetic names are in order
            if (queue_.snapshot.states[h] == HostState::free) free.push_back(h);
        for (auto at = queue_.waiting.begin(); at != queue_.waiting.end() && !free.empty();) {
            const auto count = static_cast<std::ptrdiff_t>(at->request.nodes);
            if (static_cast<std::size_t>(count) > free.size()) {
                if (policy_ == Policy::name_order) return false;
                ++at;
                continue;
            }
            begin(at->job, Hosts(free.begin(), free.begin() + count));
            free.erase(free.begin(), free.begin() + count);
            at = queue_.waiting.erase(at);
        }
        return false;
    }

    using End = std::pair<double, std::size_t>;

    const topo::Fabric& fabric_;
    const Placer placer_;
    const std::vector<Job>& jobs_;
    const Policy policy_;
    Queue queue_;
    std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
    double now_ = 0;
    Outcome out_;
};

// Sizes are powers of two below the fabric, small ones more often; limits one to three times what it takes,
// one in ten has none.
std::vector<Job> made_up(std::uint64_t seed, std::uint32_t hosts, std::size_t count) {
    std::mt19937_64 random(seed);
    std::vector<Job> jobs;
    double at = 0;
    const auto uniform = [&] { return std::uniform_real_distribution<>(0, 1)(random); };
    for (std::size_t i = 0; i < count; ++i) {
        Job job;
        at += -std::log(1 - uniform()) * 100;
        job.submit = at;
        job.hosts = std::min(hosts, 1U << static_cast<unsigned>(uniform() * uniform() * std::log2(hosts)));
        job.run = std::exp(std::log(120.0) + uniform() * std::log(600.0)); // two minutes to twenty hours
        job.limit = uniform() < 0.1 ? 0 : job.run * (1 + 2 * uniform());
        jobs.push_back(job);
    }
    return jobs;
}

base::Expected<std::vector<Job>> read_trace(const std::string& path, std::uint32_t hosts) {
    const auto text = base::read_file(path);
    if (!text) return text.error();
    std::istringstream lines(*text);
    std::vector<Job> jobs;
    for (Job job; lines >> job.submit >> job.run >> job.limit >> job.hosts;)
        if (job.hosts >= 1 && job.hosts <= hosts && job.run > 0) jobs.push_back(job);
    if (jobs.size() < 2)
        return base::Error{base::Code::input,
                           path + ": has no lines SUBMIT RUN LIMIT HOSTS that fit the fabric"};
    std::stable_sort(jobs.begin(), jobs.end(),
                     [](const Job& a, const Job& b) { return a.submit < b.submit; });
    return jobs;
}

// Submissions closer together or farther apart, so that the work would keep so much of the fabric busy.
void scale(std::vector<Job>& jobs, std::uint32_t hosts, double load) {
    double work = 0;
    for (const auto& job : jobs)
        work += job.run * job.hosts;
    const auto first = jobs.front().submit, span = std::max(jobs.back().submit - first, 1.0);
    const auto factor = work / (load * hosts * span);
    for (auto& job : jobs)
        job.submit = (job.submit - first) * factor;
}

void live_trace(base::Table& table, const std::string& name, std::vector<Job> jobs, std::uint32_t hosts,
                double load) {
    const auto fabric = fabric_of(hosts);
    scale(jobs, hosts, load);
    std::optional<Outcome> ours;
    for (const auto& [policy, title] :
         {std::pair(Policy::dispatcher, "dispatcher"), std::pair(Policy::name_order, "name order"),
          std::pair(Policy::whoever_fits, "whoever fits")}) {
        const auto out = Life(fabric, jobs, policy).live();
        if (!ours) ours = out;
        const auto ratio = [](double theirs, double mine) {
            return mine > 0 ? fmt::format("{:.2f}", theirs / mine) : std::string("-");
        };
        table.add({name, fmt::to_string(jobs.size()), title, fmt::format("{:.3f}", out.goodput),
                   ratio(ours->goodput, out.goodput), fmt::format("{:.2f}", mean(out.wait)),
                   ratio(mean(out.wait), mean(ours->wait)), fmt::format("{:.1f}", mean(out.large_wait)),
                   fmt::format("{:.1f}", quantile(out.wait, 1)),
                   fmt::format("{:.2f}", out.units / std::max(out.least_units, 1.0)),
                   policy == Policy::dispatcher ? fmt::format("{:.1f}", out.milliseconds) : "-"});
    }
}

} // namespace

int main(int argc, char** argv) {
    base::Cli cli("dispatch_bench", "Time LSF's dispatcher, and live through a trace with it.",
                  "railyard-lsf(7)");
    std::uint64_t seed = 1;
    std::size_t rounds = 200, gangs = 4000;
    std::string trace, name = "trace";
    std::size_t hosts = 0;
    std::size_t percent = 90;
    cli->add_option("--seed", seed, "Of the queues and of the trace made up")->capture_default_str();
    cli->add_option("--rounds", rounds, "Passes a row")->capture_default_str()->range(1, 1000000);
    cli->add_option("--gangs", gangs, "Of the trace made up")->capture_default_str()->range(2, 10000000);
    cli->add_option("--trace", trace, "Lines SUBMIT RUN LIMIT HOSTS instead");
    cli->add_option("--name", name, "Of the trace, for the table")->capture_default_str();
    cli->add_option("--hosts", hosts, "Of the fabric for the trace (1024 for the one made up, 128)");
    cli->add_option("--load", percent, "Percent of the fabric, by which submissions are moved")
        ->capture_default_str()
        ->range(1, 200);
    int status = 0;
    if (!cli.parse(argc, argv, status)) return status;
    const auto load = static_cast<double>(percent) / 100;

    base::Table lives({"TRACE", "GANGS", "POLICY", "GOODPUT", "RATIO", "MEAN WAIT h", "RATIO", "OF LARGE h",
                       "LONGEST h", "UNITS/LEAST", "PASS max ms"});
    for (const std::size_t column : {1U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 10U})
        lives.align(column, base::Table::Align::right);
    if (!trace.empty()) {
        const auto size = static_cast<std::uint32_t>(hosts == 0 ? 128 : hosts);
        auto jobs = read_trace(trace, size);
        if (!jobs) return cli.fail(jobs.error());
        live_trace(lives, name, *std::move(jobs), size, load);
        fmt::print("{} hosts, load {}\n{}", size, load, lives.print());
        return 0;
    }
    const auto fabric = fabric_of(1024);
    const Placer placer(fabric);
    base::Table passes({"ONE PASS, 1024 hosts", "WAITING", "BUDGET", "RESERVED", "P50 ms", "P99 ms", "MAX ms",
                        "LOOKED AT", "explain p99 ms"});
    for (std::size_t column = 1; column < 9; ++column)
        passes.align(column, base::Table::Align::right);
    Options own, all, three;
    all.steps = ~std::uint64_t{0} / 2;
    three.reservations = 3;
    const auto row = [&](const char* what, Kind kind, std::uint32_t waiting, const Options& options) {
        time_passes(passes, fabric, placer, what, kind, waiting, options, rounds, seed);
    };
    row("to the first plan", Kind::first_starts, 1000, own);
    row("one shape", Kind::one_shape, 1000, own);
    row("all different", Kind::all_different, 1000, own);
    row("spans that are wishes", Kind::spans, 1000, own);
    row("all different", Kind::all_different, 1000, three);
    row("all different", Kind::all_different, 1000, all);
    row("spans that are wishes", Kind::spans, 1000, all);
    row("all different", Kind::all_different, 10000, own);
    fmt::print("seed {}, {} passes a row\n{}\n", seed, rounds, passes.print());
    const auto size = static_cast<std::uint32_t>(hosts == 0 ? 1024 : hosts);
    live_trace(lives, fmt::format("made up, seed {}", seed), made_up(seed, size, gangs), size, load);
    fmt::print("{} hosts, load {}\n{}", size, load, lives.print());
    return 0;
}
