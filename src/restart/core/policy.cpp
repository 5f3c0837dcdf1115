#include "restart/core/policy.hpp"

namespace restart {

Policy Policy::from(const base::Conf& conf) {
    Policy policy;
    policy.observe_only = conf.boolean("restartd", "observe_only");
    policy.max_drained_percent = conf.number("restartd", "max_drained_percent");
    policy.max_drained_absolute = conf.count("restartd", "max_drained_absolute");
    policy.max_drained_per_unit = conf.count("restartd", "max_drained_per_unit");
    policy.report_interval = conf.duration("agent", "interval");
    policy.silent = conf.duration("node_loss", "silent");
    policy.witness_wait = conf.duration("node_loss", "witness_wait");
    policy.mtbf_node = conf.duration("checkpoint", "mtbf_node");
    policy.min_interval = conf.duration("checkpoint", "min_interval");
    policy.max_interval = conf.duration("checkpoint", "max_interval");
    policy.save_factor = conf.number("checkpoint", "save_deadline_factor");
    policy.save_min = conf.duration("checkpoint", "save_deadline_min");
    policy.save_max = conf.duration("checkpoint", "save_deadline_max");
    policy.max_requeues = conf.count("restart", "max_requeues");
    policy.no_progress = conf.count("restart", "no_progress");
    return policy;
}

} // namespace restart
