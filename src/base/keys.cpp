#include "base/keys.hpp"

#include <algorithm>
#include <array>

namespace base {
namespace {

using enum KeyType;

constexpr auto table = std::to_array<Key>({
    {"placement", "fabric", text, "", "\"/etc/railyard/fabric.json\"",
     "The fabric file that plugins, daemons and commands read."},
    {"placement", "health", text, "", "\"\"",
     "File through which restartd tells which hosts to avoid where there is a choice; empty: health.json beside "
     "restartd.journal."},
    {"placement", "spare_risk", number, "", "0",
     "Chance that more hosts are in repair than healthy ones are kept free for restarts and --rail-spares, such as "
     "0.001; 0 keeps none, and never more than half of all are kept (checkpoint.mtbf_node says how often a host fails)."},
    {"placement", "repair_time", duration, "", "\"3d\"", "How long the repair of a host takes on average."},
    {"placement", "explain_pending", boolean, "", "true",
     "restartd writes into the comment of a waiting job with a --rail flag, or of more nodes than a unit has, "
     "why it waits (railyard-why, in admin_comment)."},

    {"restartd", "listen", text, "", "\"127.0.0.1:8917\"",
     "Address and port restartd listens on; agents must reach it."},
    {"restartd", "url", text, "", "\"http://127.0.0.1:8917\"", "Where agents and railctl find restartd."},
    {"restartd", "journal", text, "", "\"/var/lib/railyard/journal.db\"",
     "The journal (SQLite); in shared storage where slurmctld fails over."},
    {"restartd", "keep_history", duration, "", "\"180d\"",
     "How long the journal keeps notes and actions that are done; \"0s\" keeps all."},
    {"restartd", "agent_uid", count, "uid", "0", "The user id agents must report as."},
    {"restartd", "operators", text_list, "", "[]",
     "Users who may drain and resume hosts, beside root and SlurmUser."},
    {"restartd", "operator_groups", text_list, "", "[]", "Groups whose members may do the same."},
    {"restartd", "open_reading", boolean, "", "false",
     "Answer reading requests from other machines without a credential."},
    {"restartd", "observe_only", boolean, "", "true",
     "Decide and record, but neither drain nor requeue: the default for a first install."},
    {"restartd", "max_drained_percent", number, "percent", "10",
     "Railyard itself drains at most this share of all hosts, rounded up to whole hosts; recoveries go on."},
    {"restartd", "max_drained_absolute", count, "hosts", "0",
     "The same as a number of hosts; 0 sets no bound."},
    {"restartd", "max_drained_per_unit", count, "hosts", "0", "The same within one unit; 0 sets no bound."},
    {"restartd", "poll_interval", duration, "", "\"1s\"",
     "How often nodes and jobs are read from the resource manager."},

    {"agent", "interval", duration, "", "\"1s\"", "Time between two reports of nodewatchd."},
    {"agent", "sysfs", text, "", "\"/sys\"", "Root of the sysfs tree with class/infiniband."},
    {"agent", "nvml", text, "", "\"libnvidia-ml.so.1\"", "NVML library to load; empty: do not watch GPUs."},
    {"agent", "kmsg", text, "", "\"/dev/kmsg\"", "Kernel log to read XIDs from; empty: do not watch it."},
    {"agent", "ignore_devices", text_list, "", "[]",
     "HCAs not to read, such as management NICs whose counters fill the kernel log."},
    {"agent", "job_socket", text, "", "\"/run/railyard/job.sock\"",
     "Socket through which jobs talk to nodewatchd."},

    {"fabricwatchd", "interval", duration, "", "\"5s\"", "Time between two sweeps of the fabric."},
    {"fabricwatchd", "ca", text, "", "\"\"",
     "HCA to sweep from, such as mlx5_0; empty: the first with an active port."},
    {"fabricwatchd", "port", count, "", "0", "Port of that HCA; 0: the first that is active."},

    {"node_loss", "silent", duration, "", "\"3s\"",
     "A host whose agent is silent for this long is suspected."},
    {"node_loss", "witness_wait", duration, "", "\"30s\"",
     "A suspicion that no second witness confirms in this time is dropped."},

    {"throttle", "reasons", text_list, "", "[\"hw_power_brake\", \"hw_thermal_slowdown\"]",
     "NVML clock event reasons that evict a job when they persist: hw_slowdown, hw_thermal_slowdown, "
     "hw_power_brake, sw_thermal_slowdown."},
    {"throttle", "window", duration, "", "\"5s\"", "A reason that holds for this long is a finding."},
    {"throttle", "clear", duration, "", "\"30s\"",
     "A finding ends when its reason has been absent for this long."},

    {"checkpoint", "mtbf_node", duration, "", "\"1500d\"",
     "Mean time between failures of one node until the journal has seen enough of them (2 % of the nodes a "
     "month: arXiv 2407.05467)."},
    {"checkpoint", "min_interval", duration, "", "\"10s\"",
     "Bounds of the checkpoint interval given to jobs: not shorter than this,"},
    {"checkpoint", "max_interval", duration, "", "\"12h\"", "and not longer than this."},
    {"checkpoint", "save_deadline_factor", number, "", "3",
     "A job asked to save gets this many times its measured checkpoint cost,"},
    {"checkpoint", "save_deadline_min", duration, "", "\"5s\"", "but at least this long"},
    {"checkpoint", "save_deadline_max", duration, "", "\"10m\"",
     "and at most this long, before it is requeued from its last checkpoint."},

    {"restart", "max_requeues", count, "requeues", "20", "A job that was requeued this often is held; 0 sets no bound."},
    {"restart", "no_progress", count, "requeues", "3", "A job requeued this often in a row without a newer checkpoint is held; 0 sets no bound."},

    {"munge", "socket", text, "", "\"\"", "munged's socket; empty: munge's own default."},
});

} // namespace

std::span<const Key> keys() {
    return table;
}

const Key* find_key(std::string_view table_name, std::string_view name) {
    const auto found = std::find_if(table.begin(), table.end(), [&](const Key& key) {
        return key.table == table_name && key.name == name;
    });
    return found == table.end() ? nullptr : &*found;
}

std::string_view type_name(KeyType type) {
    switch (type) {
    case text: return "a string";
    case boolean: return "true or false";
    case count: return "a whole number";
    case number: return "a number";
    case duration: return "a duration such as \"5s\"";
    case text_list: break;
    }
    return "a list of strings";
}

} // namespace base
