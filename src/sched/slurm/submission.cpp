#include "sched/slurm/submission.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sched {

Limits Limits::of(const topo::Fabric& fabric) {
    Limits limits;
    for (const auto& unit : fabric.units) {
        const auto hosts = static_cast<std::uint32_t>(unit.hosts.size());
        limits.unit = std::max(limits.unit, hosts);
        limits.fabric += hosts;
    }
    for (const auto& pod : fabric.pods) {
        std::uint32_t hosts = 0;
        for (const auto unit : pod.units)
            hosts += static_cast<std::uint32_t>(fabric.units[unit].hosts.size());
        limits.pod = std::max(limits.pod, hosts);
    }
    return limits;
}

base::Expected<void> judge_nodes(const Hints& hints, std::uint32_t nodes,
                                 const std::optional<Limits>& limits) {
    if (!limits || !hints.span) return {};
    const auto never = [&](std::uint32_t most, std::string_view what,
                           std::string_view way_out) -> base::Error {
        return {base::Code::unfit,
                fmt::format("--rail-span={}: {} nodes never fit, {} has {}: ask for {}at most {} nodes",
                            to_string(*hints.span), nodes, what, most, way_out, most)};
    };
    switch (*hints.span) {
    case Span::unit:
        if (nodes <= limits->unit) return {};
        return never(limits->unit, "the largest unit of this fabric",
                     nodes <= limits->pod      ? "--rail-span=pod or "
                     : nodes <= limits->fabric ? "--rail-span=fabric or "
                                               : "");
    case Span::pod:
        if (nodes <= limits->pod) return {};
        return never(limits->pod, "the largest pod of this fabric",
                     nodes <= limits->fabric ? "--rail-span=fabric or " : "");
    case Span::fabric:
        if (nodes <= limits->fabric) return {};
        return never(limits->fabric, "the whole fabric", "");
    case Span::any: break;
    }
    return {};
}

base::Expected<Accepted> judge(const Submission& submission, const std::optional<Limits>& limits) {
    Accepted accepted;
    for (const std::string_view flag : {"rail-span", "restart", "ckpt-dir"}) {
        const auto name = hint_variable(flag);
        for (const auto variable : submission.variables) {
            if (!variable.starts_with(name) || variable.substr(name.size(), 1) != "=") continue;
            auto set = set_hint(accepted.hints, flag, variable.substr(name.size() + 1));
            if (!set) return std::move(set).error();
        }
    }
    if (auto fits = judge_nodes(accepted.hints, submission.nodes, limits); !fits)
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
    accepted.admin_comment = accepted.hints.empty() ? std::string(submission.admin_comment)
                                                    : merge_comment(submission.admin_comment, accepted.hints);
    return accepted;
}

} // namespace sched
