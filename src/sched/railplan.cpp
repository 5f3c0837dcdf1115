// railplan(1): placements without a cluster.
#include "base/cli.hpp"
#include "base/file.hpp"
#include "base/hostlist.hpp"
#include "base/json.hpp"
#include "sched/place.hpp"
#include "topo/fabric_json.hpp"

#include <fmt/format.h>

namespace {

using base::Code;
using base::Error;
using base::Expected;

struct Options {
    std::string fabric, state, span, exclude, require;
    std::uint32_t nodes = 0;
    bool json = false;
};

// The indices of a host list's hosts. Errors name the option and the first host the fabric does not have.
Expected<std::vector<std::uint32_t>> hosts_of(const topo::Fabric& fabric, std::string_view option,
                                              const std::string& list) {
    auto names = base::expand_hostlist(list);
    if (!names) return std::move(names).error().within(option);
    std::vector<std::uint32_t> hosts;
    for (const auto& name : *names) {
        const auto host = fabric.find_host(name);
        if (!host) return Error{Code::usage, fmt::format("{}: {}: no such host in the fabric", option, name)};
        hosts.push_back(*host);
    }
    return hosts;
}

Expected<sched::Request> request_of(const topo::Fabric& fabric, const Options& options) {
    sched::Request request;
    request.nodes = options.nodes;
    if (!options.span.empty()) {
        const auto span = sched::parse_span(options.span);
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

Expected<sched::Snapshot> read_state(const std::string& path, const topo::Fabric& fabric) {
    const auto text = base::read_file(path);
    if (!text) return text.error();
    std::vector<std::string> unknown;
    auto snapshot = sched::parse_state(*text, path == "-" ? "standard input" : path, fabric, &unknown);
    if (snapshot && !unknown.empty())
        fmt::print(stderr, "railplan: passed over, not in the fabric: {}\n", base::fold_hostlist(unknown));
    return snapshot;
}

boost::json::array to_json(const std::vector<std::string>& texts) {
    boost::json::array out;
    for (const auto& text : texts)
        out.emplace_back(text);
    return out;
}

std::vector<std::string> names_of(const topo::Fabric& fabric, const std::vector<std::uint32_t>& hosts) {
    std::vector<std::string> names;
    names.reserve(hosts.size());
    for (const auto h : hosts)
        names.push_back(fabric.hosts[h].name);
    return names;
}

void print_placement(const topo::Fabric& fabric, const sched::Placement& placement, bool json) {
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

Expected<int> run_place(const Options& options) {
    if (options.fabric == "-" && options.state == "-")
        return Error{Code::usage,
                     "--fabric and --state cannot both be standard input: name a file for one of them"};
    const auto fabric = topo::read_fabric(options.fabric);
    if (!fabric) return fabric.error();
    const auto snapshot = read_state(options.state, *fabric);
    if (!snapshot) return snapshot.error();
    const auto request = request_of(*fabric, options);
    if (!request) return request.error();
    const auto placement = sched::place(*fabric, *snapshot, *request);
    if (placement) {
        print_placement(*fabric, *placement, options.json);
        return base::exit_done;
    }
    if (placement.error().code != Code::unfit) return placement.error();
    print_refusal(placement.error().text, options.json);
    return base::exit_finding;
}

} // namespace

int main(int argc, char** argv) {
    base::Cli cli("railplan", "Place gangs on a fabric and say why, without a cluster.", "railplan(1)");
    Options options;
    cli->require_subcommand(1);
    auto* place = cli->add_subcommand("place", "Choose the nodes for one job");
    place->add_option("--fabric", options.fabric, "Fabric file (fabric.json), - for standard input")
        ->required();
    place
        ->add_option("--state", options.state,
                     "Lines HOST STATE [HEALTH], as sinfo -h -N -o \"%N %T\" prints; - for standard input")
        ->required();
    place->add_option("--nodes", options.nodes, "How many nodes the job needs, all at once")->required();
    place->add_option("--rail-span", options.span, "Largest part the job may span: unit, pod or fabric");
    place->add_option("--exclude", options.exclude, "Hosts that must not be used, as n[001-004,007]");
    place->add_option("--require", options.require, "Hosts that must be in");
    place->add_flag("--json", options.json, "Print JSON");

    int status = 0;
    if (!cli.parse(argc, argv, status)) return status;
    const auto done = run_place(options);
    if (!done) return cli.fail(done.error());
    return base::finish_output(cli, *done);
}
