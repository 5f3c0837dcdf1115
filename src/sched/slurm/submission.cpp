#include "sched/slurm/submission.hpp"

#include "sched/ask/judge_flags.hpp"
#include "sched/slurm/admin_comment.hpp"

#include <utility>

#include <fmt/format.h>

namespace sched {
namespace {

using base::Code;
using base::Error;
using base::Expected;

// Slurm's own options of the same meaning. --consolidate-segments is always the behaviour. False: there is no
// --segment, or it matches our flag.
Expected<bool> take_own_words(const Submission& submission, Hints& hints) {
    if (submission.exclusive_topo_of_nothing)
        return Error{Code::usage,
                     "--exclusive=topo: Slurm has no topology.conf here and would keep no node free of other "
                     "jobs: ask for all nodes of a unit with --rail-span=unit, or have that file written "
                     "(railtopo export)"};
    const bool segment = submission.segment > 1;
    if (submission.spread_segments &&
        (segment || hints.segment.value_or(1) > 1 || !hints.outer_segments.empty()))
        return Error{Code::usage, "--spread-segments: Railyard places segments in as few units as hold them: "
                                  "leave it out"};
    if (!segment) return false;
    if (hints.segment && (*hints.segment != submission.segment || !hints.outer_segments.empty()))
        return Error{Code::usage,
                     fmt::format("--segment={} and --rail-segment={} contradict each other: both say how "
                                 "many nodes are kept in one unit; give one",
                                 submission.segment, segments_text(hints))};
    return !std::exchange(hints.segment, submission.segment);
}

} // namespace

Expected<Accepted> judge(const Submission& submission, const std::optional<Capacity>& capacity) {
    Accepted accepted;
    for (const auto flag : hint_flags()) {
        const auto name = hint_variable(flag);
        for (const auto variable : submission.variables) {
            if (!variable.starts_with(name) || variable.substr(name.size(), 1) != "=") continue;
            auto set = set_hint(accepted.hints, flag, variable.substr(name.size() + 1));
            if (!set) return std::move(set).error();
        }
    }
    const auto taken = take_own_words(submission, accepted.hints);
    if (!taken) return taken.error();
    auto judged =
        judge_flags(std::move(accepted.hints),
                    {submission.nodes, submission.most, submission.batch, submission.requeue, capacity, {}});
    if (!judged && *taken)
        return std::move(judged).error().within(
            fmt::format("--segment={0} counts as --rail-segment={0}", submission.segment));
    if (!judged) return std::move(judged).error();
    accepted.hints = std::move(judged->hints);
    accepted.set_requeue = judged->set_requeue;
    accepted.note = std::move(judged->note);
    if (!accepted.hints.empty()) accepted.hints.no_kill = submission.no_kill;
    accepted.admin_comment = accepted.hints.empty() ? std::string(submission.admin_comment)
                                                    : merge_comment(submission.admin_comment, accepted.hints);
    return accepted;
}

} // namespace sched
