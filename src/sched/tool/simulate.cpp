// railplan simulate: simulates a queue of gangs as dispatched by restartd under LSF.
#include "base/hostlist.hpp"
#include "base/table.hpp"
#include "base/units.hpp"
#include "sched/lsf/dispatch.hpp"
#include "sched/tool/command.hpp"
#include "sched/tool/job_lines.hpp"
#include "sched/tool/job_options.hpp"
#include "sched/tool/scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

namespace sched::tool {

namespace {

using base::Code;
using base::Duration;
using base::Error;
using base::Expected;
using base::Time;

struct SimulateOptions {
    SceneFiles files;
    std::string jobs;
    lsf::Options dispatch;
    bool json = false;
};

// A gang of the trace, and its result. Times count from the start of the trace.
struct Gang {
    std::string name;
    Job job;
    Duration submit{}, run{};
    std::optional<Duration> limit;

    std::optional<Duration> started;
    Placement placement;
    bool ahead = false; // of a waiting gang
    std::string why;    // it never started

    Duration runs() const { return limit ? std::min(run, *limit) : run; }
};

constexpr Duration longest = std::chrono::hours(24 * 3650); // for any time in a line

Expected<Duration> duration_of(std::string_view what, const std::string& word) {
    auto duration = base::parse_duration(word);
    if (!duration) return std::move(duration).error().within(std::string(what));
    if (*duration > longest)
        return Error{Code::input,
                     fmt::format("{}: {}: must be at most {}", what, word, base::format_duration(longest))};
    return duration;
}

// Parses " SUBMIT RUN LIMIT JOB OPTIONS" after the name.
Expected<Gang> parse_gang(const JobLine& line, const topo::Fabric& fabric) {
    std::string_view rest = line.rest;
    const auto word = [&] {
        rest.remove_prefix(std::min(rest.find_first_not_of(" \t\r"), rest.size()));
        const auto end = std::min(rest.find_first_of(" \t\r"), rest.size());
        const std::string found(rest.substr(0, end));
        rest.remove_prefix(end);
        return found;
    };
    Gang gang;
    gang.name = line.name;
    const auto submit = duration_of("when it is submitted", word());
    if (!submit) return submit.error();
    const auto run = duration_of("how long it runs", word());
    if (!run) return run.error();
    gang.submit = *submit;
    gang.run = std::max<Duration>(*run, std::chrono::seconds(1));
    if (const auto limit = word(); limit != "-") {
        const auto parsed = duration_of("its run limit, - for none", limit);
        if (!parsed) return parsed.error();
        gang.limit = std::max<Duration>(*parsed, std::chrono::seconds(1));
    }
    const auto options = JobOptions::parse(rest, line.where);
    if (!options) return options.error();
    auto job = options->resolve(fabric);
    if (!job) return std::move(job).error();
    gang.job = *std::move(job);
    return gang;
}

Expected<std::vector<Gang>> read_gangs(const std::string& path, const topo::Fabric& fabric) {
    const auto lines = read_job_lines(path, "NAME SUBMIT RUN LIMIT JOB OPTIONS");
    if (!lines) return lines.error();
    std::vector<Gang> gangs;
    for (const auto& line : *lines) {
        auto gang = parse_gang(line, fabric);
        if (!gang) {
            if (gang.error().text.starts_with(line.where)) return gang.error();
            return std::move(gang).error().within(line.where);
        }
        for (auto& remark : gang->job.remarks)
            remark = fmt::format("{}: {}", line.where, remark);
        print_remarks(gang->job);
        gangs.push_back(*std::move(gang));
    }
    return gangs;
}

// The dispatcher's time base: any will do, as only differences matter.
constexpr Time origin{std::chrono::hours(24 * 365)};

class Life {
public:
    Life(const Scene& scene, const lsf::Options& options, std::vector<Gang>& gangs)
        : fabric_(scene.fabric), placer_(scene.fabric), options_(options), gangs_(gangs) {
        options_.steps = ~std::uint64_t{0} / 2; // every gang is judged at every time
        queue_.snapshot = scene.snapshot;
        for (std::size_t g = 0; g < gangs.size(); ++g) {
            gangs[g].why = gangs[g].job.refusal.empty() ? "" : "refused at submit: " + gangs[g].job.refusal;
            if (gangs[g].why.empty()) to_come_.emplace(gangs[g].submit, g);
        }
    }

    Expected<void> live() {
        for (auto now = next({}); now; now = next(now)) {
            queue_.now = origin + *now;
            std::erase_if(queue_.holding, [&](const lsf::HoldingJob& job) {
                const auto& gang = gangs_[job.holder.job.number() - 1];
                return *gang.started + gang.runs() <= *now;
            });
            for (; !to_come_.empty() && to_come_.begin()->first <= *now; to_come_.erase(to_come_.begin()))
                arrive(to_come_.begin()->second);
            const auto plan = lsf::dispatch(fabric_, placer_, queue_, options_);
            if (!plan) return plan.error();
            for (const auto& start : plan->starts)
                begin(start, *now);
        }
        const auto plan = lsf::dispatch(fabric_, placer_, queue_, options_);
        if (!plan) return plan.error();
        for (const auto& waits : queue_.waiting) {
            auto why = lsf::why_waits(fabric_, placer_, queue_, options_, *plan, waits.job);
            gangs_[waits.job.number() - 1].why = why ? *std::move(why) : std::move(why).error().text;
        }
        return {};
    }

private:
    // The time of the next event: a gang is submitted or ends, or a wish for a span ends.
    std::optional<Duration> next(std::optional<Duration> now) const {
        std::optional<Duration> first;
        const auto see = [&](Duration at) {
            if ((!now || at > *now) && (!first || at < *first)) first = at;
        };
        if (!to_come_.empty()) see(to_come_.begin()->first);
        for (const auto& job : queue_.holding) {
            const auto& gang = gangs_[job.holder.job.number() - 1];
            see(*gang.started + gang.runs());
        }
        for (const auto& gang : queue_.waiting)
            if (gang.hints.span_wait) see(gang.eligible - origin + *gang.hints.span_wait);
        return first;
    }

    void arrive(std::size_t g) {
        lsf::WaitingGang gang;
        gang.job = base::JobId(g + 1);
        gang.request = gangs_[g].job.request;
        gang.hints = gangs_[g].job.hints;
        gang.eligible = queue_.now;
        gang.limit = gangs_[g].limit;
        queue_.waiting.push_back(std::move(gang));
    }

    void begin(const lsf::Start& start, Duration now) {
        auto& gang = gangs_[start.job.number() - 1];
        gang.started = now;
        gang.placement = start.placement;
        gang.ahead = start.backfilled;
        lsf::HoldingJob job;
        job.holder = {start.job, start.ends, start.placement.hosts};
        job.since = queue_.now;
        queue_.holding.push_back(std::move(job));
        std::erase_if(queue_.waiting, [&](const lsf::WaitingGang& waits) { return waits.job == start.job; });
    }

    const topo::Fabric& fabric_;
    const Placer placer_;
    lsf::Options options_;
    std::vector<Gang>& gangs_;
    std::multimap<Duration, std::size_t> to_come_; // by submission, then in file order
    lsf::Queue queue_;
};

// Sums over the gangs that started.
struct Sums {
    std::size_t started = 0, ahead = 0;
    Duration waited{}, longest{}, last{};
    double used = 0; // host seconds

    explicit Sums(const std::vector<Gang>& gangs) {
        for (const auto& gang : gangs) {
            if (!gang.started) continue;
            const auto wait = *gang.started - gang.submit;
            ++started;
            ahead += gang.ahead ? 1 : 0;
            waited += wait;
            longest = std::max(longest, wait);
            last = std::max(last, *gang.started + gang.runs());
            used += base::to_seconds(gang.runs()) * static_cast<double>(gang.placement.hosts.size());
        }
    }
    double mean_wait() const {
        return started == 0 ? 0 : base::to_seconds(waited) / static_cast<double>(started);
    }
    double goodput(std::size_t hosts) const {
        return last == Duration{} ? 0 : used / (base::to_seconds(last) * static_cast<double>(hosts));
    }
};

void print_gangs(const Scene& scene, const std::vector<Gang>& gangs) {
    base::Table table({"JOB", "NODES", "SUBMITTED", "WAITED", "ENDED", "UNITS", "PODS", "HOSTS"});
    for (std::size_t column = 1; column < 7; ++column)
        table.align(column, base::Table::Align::right);
    std::string never;
    for (const auto& gang : gangs) {
        const auto submitted = base::format_duration(gang.submit);
        if (!gang.started) {
            table.add(
                {gang.name, fmt::to_string(gang.job.request.nodes), submitted, "-", "-", "-", "-", "-"});
            never += fmt::format("{}: {}\n", gang.name, gang.why);
            continue;
        }
        const auto& hosts = gang.placement.hosts;
        const auto& score = gang.placement.score;
        table.add({gang.name, fmt::to_string(hosts.size()), submitted,
                   base::format_duration(*gang.started - gang.submit),
                   base::format_duration(*gang.started + gang.runs()), fmt::to_string(score.units),
                   fmt::to_string(score.pods), base::fold_hostlist(names_of(scene.fabric, hosts))});
    }
    const Sums sums(gangs);
    fmt::print("{}{}{} of {} started, {} of them ahead of one that waited; mean wait {}, longest {}; {:.1f} "
               "% of the "
               "host time until {} used\n",
               table.print(), never, sums.started, gangs.size(), sums.ahead,
               base::human_duration(base::duration_from_seconds(sums.mean_wait())),
               base::human_duration(sums.longest), 100 * sums.goodput(scene.fabric.hosts.size()),
               base::format_duration(sums.last));
}

void print_gangs_json(const Scene& scene, const std::vector<Gang>& gangs) {
    boost::json::array list;
    for (const auto& gang : gangs) {
        boost::json::object job{{"name", gang.name}, {"submitted", base::to_seconds(gang.submit)}};
        if (gang.started) {
            job["started"] = base::to_seconds(*gang.started);
            job["ended"] = base::to_seconds(*gang.started + gang.runs());
            job["ahead"] = gang.ahead;
            job["nodes"] = to_json(names_of(scene.fabric, gang.placement.hosts));
            job["spares"] = gang.placement.spares;
            job["score"] = to_json(gang.placement.score);
        } else {
            job["why"] = gang.why;
        }
        list.push_back(std::move(job));
    }
    const Sums sums(gangs);
    fmt::print("{}\n",
               base::to_text(boost::json::object{{"jobs", std::move(list)},
                                                 {"started", sums.started},
                                                 {"ahead", sums.ahead},
                                                 {"mean_wait", sums.mean_wait()},
                                                 {"longest_wait", base::to_seconds(sums.longest)},
                                                 {"goodput", sums.goodput(scene.fabric.hosts.size())}}));
}

Expected<int> run_simulate(const SimulateOptions& options) {
    if (options.jobs == "-" && (options.files.fabric == "-" || options.files.state == "-"))
        return Error{Code::usage, "JOBS and --fabric or --state cannot both be standard input"};
    const auto scene = options.files.read();
    if (!scene) return scene.error();
    auto gangs = read_gangs(options.jobs, scene->fabric);
    if (!gangs) return gangs.error();
    if (auto lived = Life(*scene, options.dispatch, *gangs).live(); !lived) return std::move(lived).error();
    if (options.json)
        print_gangs_json(*scene, *gangs);
    else
        print_gangs(*scene, *gangs);
    const bool all =
        std::all_of(gangs->begin(), gangs->end(), [](const Gang& gang) { return gang.started.has_value(); });
    return all ? base::exit_done : base::exit_finding;
}

} // namespace

Command add_simulate(base::Words& parent) {
    auto options = std::make_shared<SimulateOptions>();
    auto* words =
        parent.add_subcommand("simulate", "Live through a queue of gangs as restartd does under LSF");
    options->files.add_to(*words);
    words
        ->add_option("JOBS", options->jobs,
                     "Lines NAME SUBMIT RUN LIMIT OPTIONS, options as of place; - for standard input")
        ->required();
    words->add_option("--reservations", options->dispatch.reservations, "Gangs that are promised a moment")
        ->capture_default_str()
        ->range(1, 1000);
    words->add_option("--spare-floor", options->dispatch.spare_floor, "Hosts kept free for restarts")
        ->capture_default_str();
    words->add_flag("--json", options->json, "Print JSON");
    return {words, [options] { return run_simulate(*options); }};
}

} // namespace sched::tool
