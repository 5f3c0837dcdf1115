#include "sched/slurm/submission.hpp"

#include "sched/judge_flags.hpp"
#include "sched/slurm/admin_comment.hpp"

#include <utility>

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
    auto judged =
        judge_flags(std::move(accepted.hints),
                    {submission.nodes, submission.most, submission.batch, submission.requeue, capacity, {}});
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
