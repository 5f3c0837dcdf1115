// railplan place: the nodes for one job.
#include "sched/place.hpp"

#include "base/hostlist.hpp"
#include "sched/tool/command.hpp"
#include "sched/tool/explain.hpp"
#include "sched/tool/scene.hpp"

#include <fmt/format.h>

#include <memory>

namespace sched::tool {

namespace {

using base::Code;
using base::Error;
using base::Expected;

struct Options {
    SceneFiles files;
    ExplainOptions explain;
    std::string span, exclude, require;
    std::uint32_t nodes = 0;
    bool json = false;
};

Expected<Request> request_of(const topo::Fabric& fabric, const Options& options) {
    Request request;
    request.nodes = options.nodes;
    if (!options.span.empty()) {
        const auto span = parse_span(options.span);
        if (!span) return Error{Code::usage, fmt::format("--rail-span={}", span.error().text)};
        request.span = *span;
    }
    auto required = hosts_of(fabric, "--require", options.require);
    if (!required) return std::move(required).error();
    request.required = *std::move(required);
    auto excluded = hosts_of(fabric, "--exclude", options.exclude);
    if (!excluded) return std::move(excluded).error();
    request.excluded = *std::move(excluded);
    return request;
}

void print_placement(const topo::Fabric& fabric, const Placement& placement, bool json) {
    const auto names = names_of(fabric, placement.hosts);
    const auto& score = placement.score;
    if (json) {
        const boost::json::object out{{"nodes", to_json(names)},
                                      {"units", score.units},
                                      {"pods", score.pods},
                                      {"score",
                                       {{"tier", score.tier},
                                        {"pods", score.pods},
                                        {"units", score.units},
                                        {"misaligned_rails", score.misaligned_rails},
                                        {"avoidance", score.avoidance},
                                        {"broken_units", score.broken_units},
                                        {"left_over", score.left_over}}},
                                      {"reasons", to_json(placement.reasons)}};
        fmt::print("{}\n", base::to_text(out));
        return;
    }
    fmt::print("nodes  {}\nunits  {}\npods   {}\n", base::fold_hostlist(names), score.units, score.pods);
    for (const auto& reason : placement.reasons)
        fmt::print("why    {}\n", reason);
}

void print_refusal(const std::string& text, bool json) {
    if (json)
        fmt::print("{}\n", base::to_text(boost::json::object{{"fits", false}, {"reasons", to_json({text})}}));
    else
        fmt::print("does not fit: {}\n", text);
}

Expected<int> run(const Options& options) {
    const auto scene = options.files.read();
    if (!scene) return scene.error();
    const auto request = request_of(scene->fabric, options);
    if (!request) return request.error();
    const auto circumstances = options.explain.read(scene->fabric);
    if (!circumstances) return circumstances.error();
    if (options.explain.explain)
        return explain_place(scene->fabric, scene->snapshot, *request, *circumstances, options.json);
    const auto placement = place(scene->fabric, scene->snapshot, *request);
    if (placement) {
        print_placement(scene->fabric, *placement, options.json);
        return base::exit_done;
    }
    if (placement.error().code != Code::unfit) return placement.error();
    print_refusal(placement.error().text, options.json);
    return base::exit_finding;
}

} // namespace

Command add_place(CLI::App& parent) {
    auto options = std::make_shared<Options>();
    auto* words = parent.add_subcommand("place", "Choose the nodes for one job");
    options->files.add_to(*words);
    words->add_option("--nodes", options->nodes, "How many nodes the job needs, all at once")->required();
    words->add_option("--rail-span", options->span, "Largest part the job may span: unit, pod or fabric");
    words->add_option("--exclude", options->exclude, "Hosts that must not be used, as n[001-004,007]");
    words->add_option("--require", options->require, "Hosts that must be in");
    options->explain.add_to(*words);
    words->add_flag("--json", options->json, "Print JSON");
    return {words, [options] { return run(*options); }};
}

} // namespace sched::tool
