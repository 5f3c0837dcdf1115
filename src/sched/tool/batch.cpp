// railplan batch: where several jobs go together.
#include "sched/plan/batch.hpp"

#include "base/hostlist.hpp"
#include "base/table.hpp"
#include "sched/tool/command.hpp"
#include "sched/tool/job_lines.hpp"
#include "sched/tool/job_options.hpp"
#include "sched/tool/scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace sched::tool {

namespace {

using base::Code;
using base::Error;
using base::Expected;

struct BatchOptions {
    SceneFiles files;
    std::string jobs;
    plan::BatchEffort effort;
    bool json = false;
};

struct Named {
    std::string name;
    Job job;
};

Expected<std::vector<Named>> read_jobs(const std::string& path, const topo::Fabric& fabric) {
    const auto lines = read_job_lines(path, "NAME OPTIONS");
    if (!lines) return lines.error();
    std::vector<Named> jobs;
    for (const auto& [name, rest, where] : *lines) {
        const auto options = JobOptions::parse(rest, where);
        if (!options) return options.error();
        auto job = options->resolve(fabric);
        if (!job) return std::move(job).error().within(where);
        for (auto& remark : job->remarks)
            remark = fmt::format("{}: {}", where, remark);
        if (job->switches) job->remarks.push_back(fmt::format("{}: passed over: --switches", where));
        print_remarks(*job);
        jobs.push_back({name, *std::move(job)});
    }
    return jobs;
}

struct Outcome {
    const Scene& scene;
    const std::vector<Named>& jobs;
    const std::vector<std::size_t>& planned; // indices in `jobs` of those in the plan
    const plan::BatchPlan& plan;
    std::uint64_t seed;

    std::uint64_t alone() const {
        std::uint64_t sum = 0;
        for (std::size_t i = 0; i < planned.size(); ++i)
            if (plan.placements[i] && plan.alone[i]) sum += plan.span_of(*plan.alone[i]);
        return sum;
    }
    // The position of a job in the plan; nothing if it would be rejected at submission.
    std::optional<std::size_t> place_of(std::size_t job) const {
        const auto found = std::find(planned.begin(), planned.end(), job);
        if (found == planned.end()) return {};
        return static_cast<std::size_t>(found - planned.begin());
    }
    // Nodes requested by jobs without a placement, including those that would be rejected at submission.
    std::uint64_t unplaced() const {
        auto sum = plan.cost.unplaced;
        for (const auto& job : jobs)
            if (!job.job.refusal.empty()) sum += job.job.request.nodes;
        return sum;
    }
    std::string refusal(std::size_t job) const {
        const auto i = place_of(job);
        return i ? plan.refusals[*i] : "refused at submit: " + jobs[job].job.refusal;
    }

    void print() const;
    void print_json() const;
};

void Outcome::print() const {
    base::Table table({"JOB", "NODES", "UNITS", "PODS", "ALONE", "HOSTS"});
    for (std::size_t column = 1; column < 5; ++column)
        table.align(column, base::Table::Align::right);
    std::string refused;
    for (std::size_t j = 0; j < jobs.size(); ++j) {
        const auto i = place_of(j);
        if (!i || !plan.placements[*i]) {
            table.add({jobs[j].name, fmt::to_string(jobs[j].job.request.nodes), "-", "-", "-", "-"});
            refused += fmt::format("{}: {}\n", jobs[j].name, refusal(j));
            continue;
        }
        const auto& placement = *plan.placements[*i];
        const auto& alone = *plan.alone[*i];
        table.add({jobs[j].name, fmt::to_string(placement.hosts.size()),
                   fmt::to_string(placement.score.units), fmt::to_string(placement.score.pods),
                   fmt::format("{}/{}", alone.units, alone.pods),
                   base::fold_hostlist(names_of(scene.fabric, placement.hosts))});
    }
    const auto& cost = plan.cost;
    fmt::print("{}{}span {} (units + {} × pods), each alone {}\n"
               "left behind: {} wholly free units broken up, {} free nodes in the units used\n"
               "seed {}, {} rounds\n",
               table.print(), refused, cost.span, plan.pod_weight, alone(), cost.broken, cost.left_over, seed,
               plan.rounds);
}

void Outcome::print_json() const {
    boost::json::array list;
    for (std::size_t j = 0; j < jobs.size(); ++j) {
        const auto i = place_of(j);
        boost::json::object job{{"name", jobs[j].name}};
        if (i && plan.placements[*i]) {
            const auto& placement = *plan.placements[*i];
            job["nodes"] = to_json(names_of(scene.fabric, placement.hosts));
            job["spares"] = placement.spares;
            job["score"] = to_json(placement.score);
            job["alone"] = to_json(*plan.alone[*i]);
        } else {
            job["fits"] = false;
            job["reasons"] = to_json(std::vector{refusal(j)});
        }
        list.push_back(std::move(job));
    }
    fmt::print("{}\n", base::to_text(boost::json::object{{"jobs", std::move(list)},
                                                         {"unplaced_nodes", unplaced()},
                                                         {"pod_weight", plan.pod_weight},
                                                         {"span", plan.cost.span},
                                                         {"span_alone", alone()},
                                                         {"broken_units", plan.cost.broken},
                                                         {"left_over", plan.cost.left_over},
                                                         {"seed", seed},
                                                         {"rounds", plan.rounds}}));
}

Expected<int> run_batch(const BatchOptions& options) {
    if (options.jobs == "-" && (options.files.fabric == "-" || options.files.state == "-"))
        return Error{Code::usage, "JOBS and --fabric or --state cannot both be standard input"};
    const auto scene = options.files.read();
    if (!scene) return scene.error();
    const auto jobs = read_jobs(options.jobs, scene->fabric);
    if (!jobs) return jobs.error();
    std::vector<std::size_t> planned;
    std::vector<Request> requests;
    for (std::size_t j = 0; j < jobs->size(); ++j) {
        if (!(*jobs)[j].job.refusal.empty()) continue;
        planned.push_back(j);
        requests.push_back((*jobs)[j].job.request);
    }
    const auto plan = plan::plan_batch(Placer(scene->fabric), scene->snapshot, requests, options.effort);
    const Outcome outcome{*scene, *jobs, planned, plan, options.effort.seed};
    if (options.json)
        outcome.print_json();
    else
        outcome.print();
    return outcome.unplaced() == 0 ? base::exit_done : base::exit_finding;
}

} // namespace

Command add_batch(base::Words& parent) {
    auto options = std::make_shared<BatchOptions>();
    auto* words = parent.add_subcommand("batch", "Choose the nodes for several jobs at once");
    options->files.add_to(*words);
    words->add_option("JOBS", options->jobs, "Lines NAME OPTIONS, options as of place; - for standard input")
        ->required();
    words->add_option("--seed", options->effort.seed, "Of the search")->capture_default_str();
    words->add_option("--rounds", options->effort.rounds, "Of the search, at most")->capture_default_str();
    words->add_flag("--json", options->json, "Print JSON");
    return {words, [options] { return run_batch(*options); }};
}

} // namespace sched::tool
