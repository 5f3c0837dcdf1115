#include "sched/slurm/submission.hpp"

#include "sched/slurm/admin_comment.hpp"

#include <fmt/format.h>

namespace sched {

base::Expected<Accepted> judge(const Submission& submission, const std::optional<Capacity>& capacity) {
    Accepted accepted;
    for (const auto flag : hint_flags()) {
        const auto name = hint_variable(flag);
        for (const auto variable : submission.variables) {
            if (!variable.starts_with(name) || variable.substr(name.size(), 1) != "=") continue;
            auto set = set_hint(accepted.hints, flag, variable.substr(name.size() + 1));
            if (!set) return std::move(set).error();
        }
    }
    if (auto fits = judge_nodes(accepted.hints, submission.nodes, submission.most, capacity); !fits)
        return std::move(fits).error();
    if (accepted.hints.restart == true) {
        if (submission.batch && submission.requeue == false)
            return base::Error{base::Code::usage,
                               "--restart=auto: needs a job that may be requeued; leave out "
                               "--no-requeue or say --restart=never"};
        if (submission.batch) {
            accepted.set_requeue = true;
        } else {
            accepted.hints.restart.reset();
            accepted.note =
                "--restart=auto: has no effect here, only batch jobs (sbatch) can be started again";
        }
    }
    if (accepted.hints.restart != true && (accepted.hints.restart_on || accepted.hints.restart_max)) {
        if (accepted.note.empty())
            accepted.note = fmt::format("--{}: has no effect without --restart=auto",
                                        accepted.hints.restart_on ? "restart-on" : "restart-max");
        accepted.hints.restart_on.reset();
        accepted.hints.restart_max.reset();
    }
    if (!accepted.hints.empty()) accepted.hints.no_kill = submission.no_kill;
    accepted.admin_comment = accepted.hints.empty() ? std::string(submission.admin_comment)
                                                    : merge_comment(submission.admin_comment, accepted.hints);
    return accepted;
}

} // namespace sched
