#include "restart/core/facts/policy.hpp"

#include "base/host_group.hpp"

namespace restart {

Policy Policy::from(const base::Conf& conf) {
    Policy policy;
    policy.observe_only = conf.restartd.observe_only;
    policy.max_drained_percent = conf.restartd.max_drained_percent;
    policy.max_drained_absolute = conf.restartd.max_drained_absolute;
    policy.max_drained_per_unit = conf.restartd.max_drained_per_unit;
    policy.max_drained_per_leaf = conf.restartd.max_drained_per_leaf;
    policy.max_drained_per_pod = conf.restartd.max_drained_per_pod;
    policy.max_drained_per_hour = conf.restartd.max_drained_per_hour;
    policy.report_interval = conf.agent.interval;
    policy.silent = conf.node_loss.silent;
    policy.witness_wait = conf.node_loss.witness_wait;
    policy.group_wait = conf.node_loss.group_wait;
    policy.lost_window = conf.node_loss.lost_window;
    policy.max_lost_percent = conf.node_loss.max_lost_percent;
    policy.max_lost_per_unit = conf.node_loss.max_lost_per_unit;
    for (const auto& text : conf.topology.groups)
        if (const auto group = base::parse_group(text)) // the configuration has rejected others
            for (const auto& host : group->hosts)
                policy.racks.try_emplace(host, group->name);
    policy.switch_restart = conf.topology.switch_restart;
    policy.mtbf_node = conf.checkpoint.mtbf_node;
    policy.repair_time = conf.placement.repair_time;
    policy.lemon_half_life = conf.learning.lemon_half_life;
    policy.prior_faults = conf.learning.prior_faults;
    policy.min_interval = conf.checkpoint.min_interval;
    policy.max_interval = conf.checkpoint.max_interval;
    policy.save_factor = conf.checkpoint.save_deadline_factor;
    policy.save_min = conf.checkpoint.save_deadline_min;
    policy.save_max = conf.checkpoint.save_deadline_max;
    policy.max_requeues = conf.restart.max_requeues;
    policy.no_progress = conf.restart.no_progress;
    policy.horizon = conf.restart.horizon;
    policy.requeue_time = conf.restart.requeue_time;
    policy.restart_time = conf.restart.restart_time;
    policy.repair = RepairPolicy::from(conf.repair);
    policy.straggler_every = conf.straggler.every;
    policy.straggler_least = conf.straggler.least_percent / 100;
    policy.straggler_confidence = conf.straggler.confidence;
    if (conf.restartd.resource_manager != "lsf" || !conf.idle_checks.partition.empty())
        policy.idle_checks = IdleCheckPolicy::from(conf.idle_checks);
    policy.start_within = conf.lsf.start_within;
    policy.cut_off_after = conf.agent.cut_off_after;
    return policy;
}

} // namespace restart
