#include "sched/ask/judge_flags.hpp"

#include <fmt/format.h>

#include <utility>

namespace sched {

base::Expected<JudgedFlags> judge_flags(Hints hints, const FlaggedJob& job) {
    if (auto fits = judge_nodes(hints, job.nodes, job.most, job.capacity, job.words.nodes); !fits)
        return std::move(fits).error();
    JudgedFlags judged{std::move(hints), false, {}};
    if (judged.hints.restart == true) {
        if (job.batch && job.requeue == false)
            return base::Error{base::Code::usage,
                               fmt::format("--restart=auto: needs a job that may be requeued; leave out "
                                           "{} or say --restart=never",
                                           job.words.no_requeue)};
        if (job.batch) {
            judged.set_requeue = true;
        } else {
            judged.hints.restart.reset();
            judged.note = fmt::format("--restart=auto: has no effect here, only {} can be started again",
                                      job.words.batch);
        }
    }
    if (judged.hints.restart != true && (judged.hints.restart_on || judged.hints.restart_max)) {
        if (judged.note.empty())
            judged.note = fmt::format("--{}: has no effect without --restart=auto",
                                      judged.hints.restart_on ? "restart-on" : "restart-max");
        judged.hints.restart_on.reset();
        judged.hints.restart_max.reset();
    }
    if (judged.note.empty() && judged.hints.order == RankOrder::none && judged.hints.segment.value_or(1) > 1)
        judged.note = "--rail-order=none: ranks come in the resource manager's order, and no group of "
                      "--rail-segment is kept together by it: a group may lie in several units";
    return judged;
}

} // namespace sched
