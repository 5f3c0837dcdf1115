// railplan oracle: the best placement by trying every set of hosts, and whether place() agrees.
#include "sched/plan/exhaustive.hpp"

#include "base/hostlist.hpp"
#include "base/table.hpp"
#include "sched/explain.hpp"
#include "sched/tool/command.hpp"
#include "sched/tool/job_options.hpp"
#include "sched/tool/scene.hpp"

#include <fmt/format.h>

#include <memory>

namespace sched::tool {

namespace {

using base::Code;
using base::Error;
using base::Expected;

struct OracleOptions {
    SceneFiles files;
    JobOptions job;
    std::uint64_t limit = plan::most_sets;
    bool json = false;
};

Expected<int> run_oracle(const OracleOptions& options) {
    const auto scene = options.files.read();
    if (!scene) return scene.error();
    const auto job = options.job.resolve(scene->fabric);
    if (!job) return job.error();
    print_remarks(*job);
    const Placer placer(scene->fabric);
    const auto truth = plan::exhaustive(placer.index(), scene->snapshot, job->request, options.limit);
    if (!truth) return truth.error();
    const auto placement = placer.place(scene->snapshot, job->request);
    if (!placement && placement.error().code != Code::unfit) return placement.error();
    const bool fits = !truth->hosts.empty();
    const Scored best{truth->hosts, truth->score};
    const Scored ours = placement ? Scored{placement->hosts, placement->score} : Scored{};
    const bool agrees = fits == placement.has_value() && !first_difference(best, ours);
    const auto names = names_of(scene->fabric, best.hosts);
    if (options.json) {
        boost::json::object out{{"agrees", agrees}, {"sets", truth->sets}, {"fits", fits}};
        if (fits) {
            out["equals"] = truth->best;
            out["nodes"] = to_json(names);
            out["score"] = to_json(best.score);
        }
        if (placement) out["place"] = to_json(ours.score);
        fmt::print("{}\n", base::to_text(out));
    } else if (!fits) {
        fmt::print("none of {} sets of hosts will do; place {}\n", truth->sets,
                   agrees ? "agrees: " + placement.error().text
                          : "found " + base::fold_hostlist(names_of(scene->fabric, ours.hosts)));
    } else {
        fmt::print("{} of {} sets of hosts are best, the first is {}\n", truth->best, truth->sets,
                   base::fold_hostlist(names));
        base::Table table({"TERM", "BEST", "PLACE"});
        for (std::size_t t = 0; t < term_count; ++t) {
            const auto term = static_cast<Term>(t);
            if (term == Term::moved && best.score.moved == 0 && ours.score.moved == 0) continue;
            if (of_domains(term) && best.score.domains == 0 && ours.score.domains == 0) continue;
            table.add({std::string(heading(term)), value_text(best, term),
                       placement ? value_text(ours, term) : "-"});
        }
        fmt::print("{}place {}\n", table.print(), agrees ? "agrees" : "does not agree");
    }
    return agrees ? base::exit_done : base::exit_finding;
}

} // namespace

Command add_oracle(base::Words& parent) {
    auto options = std::make_shared<OracleOptions>();
    auto* words = parent.add_subcommand("oracle", "Try every set of hosts and hold place to the best");
    options->files.add_to(*words);
    options->job.add_to(*words);
    words->add_option("--limit", options->limit, "Refuse to try more sets")->capture_default_str();
    words->add_flag("--json", options->json, "Print JSON");
    return {words, [options] { return run_oracle(*options); }};
}

} // namespace sched::tool
