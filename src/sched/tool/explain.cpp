#include "sched/tool/explain.hpp"

#include "base/file.hpp"
#include "base/hostlist.hpp"
#include "sched/explain_json.hpp"
#include "sched/explain_show.hpp"
#include "sched/slurm/queue_text.hpp"
#include "sched/tool/scene.hpp"

#include <fmt/format.h>

namespace sched::tool {

namespace {

using base::Code;
using base::Error;
using base::Expected;

// First the sentence, then the tables.
Expected<void> print_explanation(const boost::json::object& explanation, bool json) {
    const boost::json::value value(explanation);
    if (json) {
        fmt::print("{}\n", base::to_text(value));
        return {};
    }
    const auto text = show_explanation(base::Reader(value));
    if (!text) return text.error();
    fmt::print("{}", *text);
    return {};
}

} // namespace

void ExplainOptions::add_to(base::Words& words) {
    words.add_flag("--explain", explain, "Tell what decided, term by term, or when the job will fit");
    words.add_option("--jobs", jobs,
                     "Lines JOB END HOSTLIST, as squeue -h -t R -o \"%A %e %N\" prints: for --explain");
    words.add_option("--reasons", reasons,
                     "Lines HOST REASON, as sinfo -h -N -o \"%N %E\" prints: for --explain");
    words.add_option("--now", now, "The moment of --state, as 2026-03-01T14:20:00; the present by default");
}

Expected<Circumstances> ExplainOptions::read(const topo::Fabric& fabric,
                                             std::optional<base::Duration> wish_ends_in) const {
    Circumstances out;
    out.now = base::now();
    if (!explain)
        for (const auto& [name, given] :
             {std::pair("--jobs", &jobs), std::pair("--reasons", &reasons), std::pair("--now", &now)})
            if (!given->empty()) return Error{Code::usage, fmt::format("{}: needs --explain", name)};
    if (!now.empty()) {
        const auto moment = parse_moment(now);
        if (!moment) return Error{Code::usage, "--now: " + moment.error().text};
        out.now = *moment;
    }
    if (!jobs.empty()) {
        const auto text = base::read_file(jobs);
        if (!text) return text.error();
        auto holders = parse_holders(*text, jobs, fabric);
        if (!holders) return std::move(holders).error();
        out.holders = *std::move(holders);
    }
    if (!reasons.empty()) {
        const auto text = base::read_file(reasons);
        if (!text) return text.error();
        auto why = parse_reasons(*text, reasons, fabric);
        if (!why) return std::move(why).error();
        out.remarks.why = *std::move(why);
    }
    if (wish_ends_in) out.wish_ends = out.now + *wish_ends_in;
    return out;
}

Expected<int> explain_place(const topo::Fabric& fabric, const Snapshot& snapshot, const Request& request,
                            const Circumstances& circumstances, bool json) {
    const Placer placer(fabric);
    const auto placement = placer.place(snapshot, request);
    if (placement) {
        auto budget = explaining(placer);
        if (!placement->exact) budget.cut();
        const auto explanation =
            explain_placement(fabric, placer, snapshot, request, placement->hosts, budget);
        if (!json) fmt::print("nodes  {}\n", base::fold_hostlist(names_of(fabric, placement->hosts)));
        const auto printed = print_explanation(to_json(fabric, placer.index(), explanation), json);
        if (!printed) return printed.error();
        return base::exit_done;
    }
    if (placement.error().code != Code::unfit) return placement.error();
    const auto forecast = outlook(fabric, placer, snapshot, request, circumstances);
    if (!forecast) return forecast.error();
    if (!json) fmt::print("does not fit: ");
    const auto printed = print_explanation(to_json(fabric, *forecast, circumstances.now), json);
    if (!printed) return printed.error();
    return base::exit_finding;
}

} // namespace sched::tool
