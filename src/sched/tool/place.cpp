// railplan place: the nodes for one job.
#include "sched/place.hpp"

#include "base/hostlist.hpp"
#include "sched/tool/command.hpp"
#include "sched/tool/explain.hpp"
#include "sched/tool/job_options.hpp"
#include "sched/tool/scene.hpp"

#include <fmt/format.h>

#include <memory>

namespace sched::tool {

namespace {

using base::Code;
using base::Error;
using base::Expected;

struct PlaceOptions {
    SceneFiles files;
    ExplainOptions explain;
    JobOptions job;
    bool json = false;
};

void print_placement(const topo::Fabric& fabric, const Placement& placement, bool json) {
    const auto names = names_of(fabric, placement.hosts);
    const auto& score = placement.score;
    if (json) {
        boost::json::object out{{"nodes", to_json(names)},
                                {"units", score.units},
                                {"pods", score.pods},
                                {"score", to_json(score)},
                                {"reasons", to_json(placement.reasons)}};
        if (placement.spares > 0) out["spares"] = placement.spares;
        if (!placement.exact) {
            out["exact"] = false;
            out["fewest"] = {{"pods", placement.fewest.pods}, {"units", placement.fewest.units}};
        }
        fmt::print("{}\n", base::to_text(out));
        return;
    }
    const auto spares = names.end() - static_cast<std::ptrdiff_t>(placement.spares);
    fmt::print("nodes  {}\n", base::fold_hostlist({names.begin(), spares}));
    if (placement.spares > 0) fmt::print("spares {}\n", base::fold_hostlist({spares, names.end()}));
    fmt::print("units  {}\npods   {}\n", score.units, score.pods);
    for (const auto& reason : placement.reasons)
        fmt::print("why    {}\n", reason);
}

// A rejection at submission can never become a placement, another one can.
void print_refusal(const std::string& text, bool at_submit, bool json) {
    if (!json) {
        fmt::print("{}: {}\n", at_submit ? "refused at submit" : "does not fit", text);
        return;
    }
    boost::json::object out{{"fits", false}};
    if (at_submit) out["refused_at_submit"] = true;
    out["reasons"] = to_json({text});
    fmt::print("{}\n", base::to_text(out));
}

Expected<int> run_place(const PlaceOptions& options) {
    const auto scene = options.files.read();
    if (!scene) return scene.error();
    const auto job = options.job.resolve(scene->fabric);
    if (!job) return job.error();
    print_remarks(*job);
    const auto circumstances = options.explain.read(scene->fabric, job->wish_ends_in);
    if (!circumstances) return circumstances.error();
    if (options.explain.explain)
        return explain_place(scene->fabric, scene->snapshot, job->request, *circumstances, options.json);
    if (!job->refusal.empty()) {
        print_refusal(job->refusal, true, options.json);
        return base::exit_finding;
    }
    const auto placement = place_job(Placer(scene->fabric), scene->snapshot, *job);
    if (placement) {
        print_placement(scene->fabric, *placement, options.json);
        return base::exit_done;
    }
    if (placement.error().code != Code::unfit) return placement.error();
    print_refusal(placement.error().text, false, options.json);
    return base::exit_finding;
}

} // namespace

Command add_place(base::Words& parent) {
    auto options = std::make_shared<PlaceOptions>();
    auto* words = parent.add_subcommand("place", "Choose the nodes for one job");
    options->files.add_to(*words);
    options->job.add_to(*words);
    options->explain.add_to(*words);
    words->add_flag("--json", options->json, "Print JSON");
    return {words, [options] { return run_place(*options); }};
}

} // namespace sched::tool
