// railplan compare: place()'s choice next to a recorded one.
#include "base/hostlist.hpp"
#include "base/table.hpp"
#include "sched/ask/segments.hpp"
#include "sched/explain.hpp"
#include "sched/search/found.hpp"
#include "sched/search/nested_fit.hpp"
#include "sched/tool/command.hpp"
#include "sched/tool/job_options.hpp"
#include "sched/tool/scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

namespace sched::tool {

namespace {

using base::Code;
using base::Error;
using base::Expected;

struct CompareOptions {
    SceneFiles files;
    JobOptions job;
    std::string chosen;
    bool json = false;
};

// How the recorded hosts violate the request; empty if they do not.
std::vector<std::string> breaches(const topo::Fabric& fabric, const PlacementIndex& index,
                                  const Request& request, const Scored& recorded) {
    std::vector<std::string> out;
    const auto count = recorded.hosts.size();
    if (count < request.nodes || count > std::max(request.nodes, request.most))
        out.push_back(fmt::format("are {} and not {}", count,
                                  request.most > request.nodes
                                      ? fmt::format("{} to {}", request.nodes, request.most)
                                      : fmt::to_string(request.nodes)));
    const auto in = [&](std::uint32_t h) {
        return std::find(recorded.hosts.begin(), recorded.hosts.end(), h) != recorded.hosts.end();
    };
    for (const auto h : request.required)
        if (!in(h)) out.push_back(fmt::format("lack {}, which is required", fabric.hosts[h].name));
    for (const auto h : request.excluded)
        if (in(h)) out.push_back(fmt::format("hold {}, which is excluded", fabric.hosts[h].name));
    const bool split = request.span == Span::domain && recorded.score.domains > 1;
    if (split || recorded.score.tier > widest_tier(request.span))
        out.push_back(fmt::format("do not keep --rail-span={}", to_string(request.span)));
    const auto steps = steps_of(index, request);
    if (steps.any() && count > request.spares) {
        const HostKind kind = [&](std::uint32_t h) { return in(h) ? 1 : 0; };
        std::size_t ranks = 0;
        for (std::uint32_t p = 0; p < index.pods.size(); ++p)
            ranks += room_in_pod(index, steps, p, kind).most;
        if (ranks < count - request.spares)
            out.push_back(is_nested(index, steps)
                              ? fmt::format("split a segment of {}", segments_text(sizes_of(request)))
                              : fmt::format("split a segment of {} over units", request.segment));
    }
    return out;
}

// Restores the recorded hosts to their state before the job had them.
void set_free(Snapshot& snapshot, const std::vector<std::uint32_t>& hosts, const Request& request) {
    std::size_t changed = 0;
    for (const auto h : hosts) {
        auto& state = snapshot.states[h];
        if (state == HostState::free || (request.shared && state == HostState::mixed)) continue;
        state = HostState::free;
        ++changed;
    }
    if (changed > 0)
        fmt::print(stderr, "railplan: {} of the hosts chosen {} not free in the state: taken as free\n",
                   changed, changed == 1 ? "is" : "are");
}

struct Verdict {
    const topo::Fabric& fabric;
    Scored recorded;
    std::optional<Scored> ours; // nullopt: place() rejects the request
    std::string refusal;
    std::vector<std::string> breaches;
    std::optional<Term> decided;

    std::string_view winner() const {
        if (!ours) return "recorded";
        if (!decided) return "equal";
        return better(*ours, recorded) ? "ours" : "recorded";
    }
    void print() const;
    void print_json() const;
};

std::string difference(double ours, double recorded) {
    const double by = ours - recorded;
    if (by == 0) return "";
    return by == static_cast<double>(static_cast<long>(by)) ? fmt::format("{:+.0f}", by)
                                                            : fmt::format("{:+.3f}", by);
}

void Verdict::print() const {
    fmt::print("recorded  {}\n", base::fold_hostlist(names_of(fabric, recorded.hosts)));
    fmt::print("ours      {}\n", ours ? base::fold_hostlist(names_of(fabric, ours->hosts)) : refusal);
    if (ours) {
        base::Table table({"TERM", "RECORDED", "OURS", "DIFFERENCE"});
        table.align(3, base::Table::Align::right);
        for (std::size_t t = 0; t < term_count; ++t) {
            const auto term = static_cast<Term>(t);
            if (term == Term::moved && recorded.score.moved == 0 && ours->score.moved == 0) continue;
            if (of_domains(term) && recorded.score.domains == 0 && ours->score.domains == 0) continue;
            table.add({std::string(heading(term)), value_text(recorded, term), value_text(*ours, term),
                       difference(value(*ours, term), value(recorded, term))});
        }
        fmt::print("{}", table.print());
    }
    for (const auto& breach : breaches)
        fmt::print("the recorded hosts {}\n", breach);
    const auto who = winner();
    if (!ours)
        fmt::print("ours does not fit\n");
    else if (who == "equal")
        fmt::print("both are as good\n");
    else
        fmt::print("{} is better: {}\n", who, heading(*decided));
}

void Verdict::print_json() const {
    boost::json::object out{{"better", winner()}};
    out["decided"] = decided ? boost::json::value(to_string(*decided)) : boost::json::value();
    out["recorded"] = {{"nodes", to_json(names_of(fabric, recorded.hosts))},
                       {"score", to_json(recorded.score)},
                       {"breaches", to_json(breaches)}};
    if (ours)
        out["ours"] = {{"nodes", to_json(names_of(fabric, ours->hosts))}, {"score", to_json(ours->score)}};
    else
        out["ours"] = {{"fits", false}, {"reasons", to_json(std::vector{refusal})}};
    fmt::print("{}\n", base::to_text(out));
}

Expected<int> run_compare(const CompareOptions& options) {
    auto scene = options.files.read();
    if (!scene) return scene.error();
    auto hosts = hosts_named(scene->fabric, "--chosen", options.chosen);
    if (!hosts) return hosts.error();
    if (hosts->empty()) return Error{Code::usage, "--chosen: names no host"};
    std::sort(hosts->begin(), hosts->end());
    hosts->erase(std::unique(hosts->begin(), hosts->end()), hosts->end());
    const auto job = options.job.resolve(scene->fabric, static_cast<std::uint32_t>(hosts->size()));
    if (!job) return job.error();
    print_remarks(*job);
    set_free(scene->snapshot, *hosts, job->request);
    const Placer placer(scene->fabric);
    const auto placement = place_job(placer, scene->snapshot, *job);
    if (!placement && placement.error().code != Code::unfit) return placement.error();
    Verdict verdict{scene->fabric,
                    {*hosts, score_of(placer.index(), scene->snapshot, job->request, *hosts)},
                    {},
                    {},
                    {},
                    {}};
    verdict.breaches = breaches(scene->fabric, placer.index(), job->request, verdict.recorded);
    if (placement) {
        verdict.ours = Scored{placement->hosts, placement->score};
        verdict.decided = first_difference(*verdict.ours, verdict.recorded);
    } else {
        verdict.refusal = placement.error().text;
    }
    if (options.json)
        verdict.print_json();
    else
        verdict.print();
    return verdict.winner() == "equal" && verdict.breaches.empty() ? base::exit_done : base::exit_finding;
}

} // namespace

Command add_compare(base::Words& parent) {
    auto options = std::make_shared<CompareOptions>();
    auto* words = parent.add_subcommand("compare", "Hold a recorded placement against ours, term by term");
    options->files.add_to(*words);
    words
        ->add_option("--chosen", options->chosen,
                     "Hosts that were chosen, as squeue -h -j JOB -o %N prints, or a file of them (a/b)")
        ->required();
    options->job.add_to(*words);
    words->add_flag("--json", options->json, "Print JSON");
    return {words, [options] { return run_compare(*options); }};
}

} // namespace sched::tool
