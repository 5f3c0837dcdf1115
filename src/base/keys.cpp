#include "base/keys.hpp"

#include "base/conf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

namespace base {
namespace {

using Form = Bounds::Form;

constexpr Bounds any;
constexpr Bounds from(std::string_view least, std::string_view most) {
    return {.least = least, .most = most};
}
constexpr Bounds at_least(std::string_view least) {
    return {.least = least};
}
constexpr Bounds at_most(std::string_view most) {
    return {.most = most};
}
constexpr Bounds not_below(std::string_view key) {
    return {.not_below = key};
}
constexpr Bounds one_of(std::string_view words) {
    return {.words = words};
}
constexpr Bounds of(Form form) {
    return {.form = form};
}

// The steps of a repair ladder.
constexpr std::string_view rungs = "nothing, wait, gpu_reset, reboot, power_cycle, hands";

template <class T, std::size_t at = 0> constexpr KeyType type_of() {
    if constexpr (std::is_same_v<T*, std::variant_alternative_t<at, Slot>>)
        return static_cast<KeyType>(at);
    else
        return type_of<T, at + 1>();
}

// A row refers to its key's member, so it cannot name a key that does not exist or misspell it.
#define KEY(table, name)                                                                                     \
    ConfTable::table, #table, #name, type_of<decltype(std::declval<Conf>().table.name)>(),                   \
        [](Conf& conf) -> Slot { return &conf.table.name; }

constexpr auto table = std::to_array<Key>({
    {KEY(placement, fabric), "", any, "\"/etc/railyard/fabric.json\"",
     "Plugins, daemons and commands read the fabric from this file."},
    {KEY(placement, health), "", any, "\"\"",
     "restartd reports through this file which hosts to avoid where there is a choice; empty means "
     "health.json beside restartd.journal."},
    {KEY(placement, spare_risk), "probability", from("0", "1"), "0",
     "So many healthy hosts are kept free for restarts and --rail-spares that the chance of more being in "
     "repair is no higher than this, such as 0.001; 0 keeps none, and never more than half of all are kept "
     "(checkpoint.mtbf_node says how often a host fails)."},
    {KEY(placement, repair_time), "", at_least("1s"), "\"3d\"",
     "The repair of a host takes this long on average."},
    {KEY(placement, explain_pending), "", any, "true",
     "restartd writes into the comment of a waiting job with a --rail flag, or of more nodes than a unit "
     "has, why it waits (railyard-why, in admin_comment); under LSF into a message of each of the first 100 "
     "gangs (bpost)."},
    {KEY(placement, budget), "", from("1ms", "100ms"), "\"5ms\"",
     "A request may hold slurmctld up for about this long while 4,096 hosts are searched for its best place, "
     "and in proportion on more; then it takes the best place found so far, and railplan and explain say so; "
     "what fits is placed whatever this is."},
    {KEY(placement, pack), "", one_of("gangs, all"), "\"gangs\"",
     "Jobs of more than one node (gangs), or all jobs, are placed also without a --rail flag: with all, "
     "those of one node take hosts that are in use already and have room for them, and else the unit with "
     "the fewest free hosts that will do, so that whole units stay free for gangs."},

    {KEY(topology, groups), "", of(Form::group), "[]",
     "Each of these groups is a rack, whose hosts share power and cooling, such as r7=n[001-032]: what slows "
     "most of them at once is one fault of the rack."},
    {KEY(topology, switch_restart), "", any, "\"3m\"",
     "A failed switch or rack has this long to come back before jobs leave its hosts; once restarts of "
     "switches were seen, it is half as long again as the longest of the last ten."},

    {KEY(restartd, resource_manager), "", one_of("slurm, lsf"), "\"slurm\"",
     "restartd reads and acts through this one: Slurm, or LSF, where it also chooses the hosts of gangs "
     "(railyard-lsf(7))."},
    {KEY(restartd, listen), "", of(Form::listen), "\"127.0.0.1:8917\"",
     "restartd listens on this address and port, which agents must reach."},
    {KEY(restartd, url), "", of(Form::url), "[\"http://127.0.0.1:8917\"]",
     "Agents and railctl find restartd at one of these addresses: where several may serve, that of each, and "
     "whoever stands by sends them on; one may stand without brackets."},
    {KEY(restartd, user), "", any, "\"\"",
     "restartd runs as this user, and agents and railctl obey nobody else's answers; empty: SlurmUser of "
     "each host's slurm.conf, or slurm where there is none."},
    {KEY(restartd, journal), "", of(Form::filled), "\"/var/lib/railyard/journal.db\"",
     "The journal (SQLite) is this file, in shared storage where slurmctld fails over."},
    {KEY(restartd, lease), "", at_least("2s"), "\"10s\"",
     "Another restartd with the same journal takes over when this one has not renewed its lease for this "
     "long; "
     "it stops acting after seven tenths of that."},
    {KEY(restartd, keep_history), "", any, "\"180d\"",
     "The journal keeps notes and actions that are done for this long; \"0s\" keeps all."},
    {KEY(restartd, keep_events), "MiB", at_most("65536"), "128",
     "The journal keeps so much of what restartd was told, from which restartd --replay does its decisions "
     "again; 0 keeps none."},
    {KEY(restartd, agent_uid), "uid", at_most("4294967294"), "0",
     "Agents must report as the user with this id."},
    {KEY(restartd, operators), "", any, "[]",
     "These users may drain and resume hosts and read everything, beside root, SlurmUser and Slurm's "
     "administrators."},
    {KEY(restartd, operator_groups), "", any, "[]", "Members of these groups may do the same."},
    {KEY(restartd, open_reading), "", any, "false",
     "Reading requests from other machines are answered without a credential, but for what PrivateData "
     "hides."},
    {KEY(restartd, metrics_token), "", any, "\"\"",
     "A request may read the metrics, and nothing else, from any machine with a token of this file, one a "
     "line (Authorization: Bearer)."},
    {KEY(restartd, observe_only), "", any, "true",
     "restartd decides and records, but neither drains nor requeues: the default for a first install."},
    {KEY(restartd, maintenance), "", of(Form::window), "[]",
     "In these windows, by restartd's local time, what is wrong with hosts is no fault and restartd leaves "
     "them "
     "alone: \"Sun 02:00-06:00\", \"daily 22:00-04:00 n[001-032]\", \"2026-12-24 18:00 to 2026-12-27 "
     "06:00\"; "
     "without hosts behind it a window is for all."},
    {KEY(restartd, max_drained_percent), "percent", from("0", "100"), "10",
     "Railyard itself drains at most this share of all hosts, rounded up to whole hosts; recoveries go on."},
    {KEY(restartd, max_drained_absolute), "hosts", any, "0",
     "Railyard itself drains at most this many hosts; 0 sets no bound."},
    {KEY(restartd, max_drained_per_unit), "hosts", any, "0",
     "Railyard itself drains at most this many hosts of one unit; 0 sets no bound."},
    {KEY(restartd, max_drained_per_leaf), "hosts", any, "0",
     "Railyard itself drains at most this many hosts of one leaf switch, where a host counts at each of its "
     "leaves (in a rail-optimised fabric the hosts of a unit share them, and this is the bound of a unit); 0 "
     "sets no bound."},
    {KEY(restartd, max_drained_per_pod), "hosts", any, "0",
     "Railyard itself drains at most this many hosts of one pod; 0 sets no bound."},
    {KEY(restartd, max_drained_per_hour), "hosts", any, "0",
     "Railyard itself begins to drain at most this many hosts within an hour; 0 sets no bound."},
    {KEY(restartd, poll_interval), "", from("100ms", "1m"), "\"1s\"",
     "Nodes and jobs are read from the resource manager this often."},

    {KEY(agent, interval), "", from("100ms", "1m"), "\"1s\"", "nodewatchd reports this often."},
    {KEY(agent, sysfs), "", any, "\"/sys\"",
     "nodewatchd reads ports, memory errors and devices of this host below this root of a sysfs tree."},
    {KEY(agent, nvml), "", any, "\"libnvidia-ml.so.1\"",
     "nodewatchd loads this NVML library; empty means that GPUs are not watched."},
    {KEY(agent, kmsg), "", any, "\"/dev/kmsg\"",
     "nodewatchd reads XIDs from this kernel log; empty means that it is not watched."},
    {KEY(agent, ignore_devices), "", any, "[]",
     "nodewatchd does not read these HCAs, such as management NICs whose counters fill the kernel log, and "
     "does not miss these GPUs, by PCI address such as \"0000:14:00.0\", which a container is not given."},
    {KEY(agent, mounts), "", any, "[]",
     "nodewatchd reads whether these file systems, by their paths from the root, such as /scratch, answer, "
     "can be written to and have room."},
    {KEY(agent, job_socket), "", of(Form::filled), "\"/run/railyard/job.sock\"",
     "Jobs talk to nodewatchd through this socket."},
    {KEY(agent, metrics_socket), "", any, "\"metrics.sock\"",
     "nodewatchd answers scrapes of its metrics at this Unix socket; a name without a slash is beside "
     "job_socket, and empty means at none."},
    {KEY(agent, metrics_listen), "", of(Form::loopback), "\"\"",
     "nodewatchd answers scrapes of its metrics at this address and port of loopback, such as "
     "127.0.0.1:8918; empty means at none."},
    {KEY(agent, pace), "", at_most("10m"), "\"30s\"",
     "While a job works on the host nodewatchd says how its GPUs, ports and processes got on in each time "
     "this long, so that restartd can tell which host holds a job back; 0 means never."},
    {KEY(agent, nccl_ras), "", any, "true",
     "While processes of a job that speaks to nodewatchd answer at NCCL's RAS port, localhost:28028, they "
     "are "
     "asked each half minute for ranks that are missing or stuck."},
    {KEY(agent, cut_off_after), "", at_most("1h"), "\"20s\"",
     "Under LSF nodewatchd has the processes of jobs ended that may be started elsewhere when restartd has "
     "been silent for this long and neither its hosts nor half of some others can be reached; it must be "
     "shorter than LSF takes to give up a host, and 0 means never."},

    {KEY(fabricwatchd, interval), "", from("100ms", "1h"), "\"5s\"",
     "fabricwatchd sweeps the fabric this often."},
    {KEY(fabricwatchd, ca), "", any, "\"\"",
     "fabricwatchd sweeps from this HCA, such as mlx5_0; empty means the first with an active port."},
    {KEY(fabricwatchd, port), "", at_most("254"), "0",
     "fabricwatchd sweeps from this port of that HCA; 0 means the first that is active."},
    {KEY(fabricwatchd, counters), "", any, "true",
     "Each sweep of fabricwatchd reads the counters of all ports as well, and judges links by them."},
    {KEY(fabricwatchd, questions), "", from("1", "1024"), "64",
     "fabricwatchd has at most this many questions for counters on their way at a time."},

    {KEY(node_loss, silent), "", at_least("100ms"), "\"3s\"",
     "A host whose agent is silent for this long is suspected."},
    {KEY(node_loss, witness_wait), "", any, "\"30s\"",
     "A suspicion that no second witness confirms in this time is dropped."},
    {KEY(node_loss, group_wait), "", at_least("1s"), "\"10m\"",
     "Hosts that fall silent together, at least three within four times silent, or half of all, or more than "
     "may "
     "be drained, are victims of one cause: for this long only the fabric can show that one of them is lost; "
     "then the resource manager's judgement is enough again."},
    {KEY(node_loss, lost_window), "", at_least("1m"), "\"1h\"",
     "Losses that the resource manager alone confirms are bounded within this time."},
    {KEY(node_loss, max_lost_percent), "percent", from("0", "100"), "10",
     "At most this share of all hosts, and no fewer than 3, is taken for lost in lost_window by the resource "
     "manager's word alone; beyond it only the fabric can show that a host is lost."},
    {KEY(node_loss, max_lost_per_unit), "hosts", any, "0",
     "At most this many hosts of one unit are taken for lost so in lost_window; 0 sets no bound."},

    {KEY(throttle, reasons), "",
     one_of("hw_power_brake, hw_thermal_slowdown, hw_slowdown, sw_thermal_slowdown"),
     "[\"hw_power_brake\", \"hw_thermal_slowdown\"]",
     "These NVML clock event reasons evict a job when they persist."},
    {KEY(throttle, window), "", any, "\"5s\"",
     "A reason that holds for this long, or for as much of twice this time, is a finding."},
    {KEY(throttle, clear), "", any, "\"30s\"",
     "A finding ends when its reason has been absent for this long."},

    {KEY(checkpoint, mtbf_node), "", at_least("1m"), "\"1500d\"",
     "A node fails once in this time on average, until the journal has seen enough failures to know (2 % "
     "of the nodes a month: arXiv 2407.05467)."},
    {KEY(checkpoint, min_interval), "", any, "\"10s\"",
     "The checkpoint interval given to jobs is not shorter than this."},
    {KEY(checkpoint, max_interval), "", not_below("min_interval"), "\"12h\"",
     "The checkpoint interval given to jobs is not longer than this."},
    {KEY(checkpoint, save_deadline_factor), "times the cost", from("0", "1000"), "3",
     "A job asked to save gets this many times its measured checkpoint cost, within the two bounds below, "
     "before it is requeued from its last checkpoint."},
    {KEY(checkpoint, save_deadline_min), "", any, "\"5s\"", "A job asked to save gets at least this long."},
    {KEY(checkpoint, save_deadline_max), "", not_below("save_deadline_min"), "\"10m\"",
     "A job asked to save gets at most this long."},

    {KEY(learning, prior_faults), "faults", from("0.1", "1000"), "1",
     "As many faults and repairs as this, once seen, are worth as much as checkpoint.mtbf_node and "
     "placement.repair_time, which hold before any is seen."},
    {KEY(learning, lemon_half_life), "", at_least("1h"), "\"14d\"",
     "The lemon score of a host is the number of its faults, each worth half as much after each time this "
     "long; placement avoids such hosts where there is a choice."},

    {KEY(restart, max_requeues), "failures", any, "20",
     "A job that failed by itself this often is held; each day of progress halves the count, what hosts did "
     "to it is not counted, and --restart-max stands in its place; 0 sets no bound."},
    {KEY(restart, no_progress), "failures", any, "3",
     "A job that failed by itself this often since its newest checkpoint is held, likewise; 0 sets no "
     "bound."},
    {KEY(restart, horizon), "", at_least("1m"), "\"1d\"",
     "A job without a time limit is expected to run for so long, where leaving it on a slow host is weighed "
     "against moving it."},
    {KEY(restart, requeue_time), "", any, "\"10s\"",
     "A requeue is expected to take this long until the job runs again, until one was measured: the job's "
     "last, else those of others."},
    {KEY(restart, restart_time), "", any, "\"2m\"",
     "A job that runs again is expected to need this long to load its program and checkpoint, until its step "
     "marks have shown how long jobs of its user and name need."},

    {KEY(repair, max_at_once), "hosts", any, "2",
     "restartd has at most this many hosts in repair at a time, where waiting is no repair; 0 repairs none "
     "and "
     "returns none: what a fault put out of use stays so until a person resumes it."},
    {KEY(repair, attempts), "rungs", from("1", "100"), "3",
     "restartd takes at most this many rungs that do something on one host within forget_after; then it is "
     "left to hands."},
    {KEY(repair, forget_after), "", at_least("1h"), "\"7d\"",
     "A rung that was tried is remembered for this long."},
    {KEY(repair, relapse), "", any, "\"1d\"",
     "A host that fails again with the same class of fault within this time of its return begins at the next "
     "rung of its ladder."},
    {KEY(repair, clean_window), "", at_least("1s"), "\"10m\"",
     "A host is resumed when its agent has reported no fault for this long, after a reboot or a power cycle "
     "with a new boot id."},
    {KEY(repair, rung_limit), "", not_below("clean_window"), "\"1h\"",
     "A rung has this long to bring the host back; then the next is taken."},
    {KEY(repair, gpu_reset_program), "", of(Form::program), "\"\"",
     "restartd runs this program on its own host to reset GPUs, with the host and the numbers of the GPUs as "
     "its arguments (none: all of them); empty passes the rung over."},
    {KEY(repair, power_cycle_program), "", of(Form::program), "\"\"",
     "restartd runs this program on its own host to switch a host off and on again, with the host as its "
     "argument; empty passes the rung over."},
    {KEY(repair, program_limit), "", at_least("1s"), "\"5m\"",
     "A program that has not ended in this time is killed, and its rung has failed."},
    {KEY(repair, check_program), "", of(Form::program), "\"\"",
     "restartd runs this program on its own host before a repaired host is resumed, with the host, its class "
     "of fault and the last rung as its arguments: status 0 says that the host is sound, 1 that it is not "
     "(restartd-decisions(7), RETURN); empty resumes without."},
    {KEY(repair, check_limit), "", at_least("1s"), "\"30m\"",
     "A check_program that has not ended in this time is killed, and has tried nothing."},
    {KEY(repair, host_lost), "", one_of(rungs), "[\"wait\", \"power_cycle\", \"hands\"]",
     "A lost host is repaired so: a kernel that crashed boots by itself, and what does not answer no "
     "reboot can be asked of; the word nothing leaves it to a person, wait to itself, gpu_reset and "
     "power_cycle to the programs above, reboot to the resource manager (Slurm: RebootProgram), and "
     "hands drains it for good, saying so."},
    {KEY(repair, gpu_broken), "", one_of(rungs), "[\"hands\"]",
     "A GPU to be replaced, or without power, is repaired so (XID 54, row remapping that failed: "
     "NVIDIA's XID catalogue asks for hardware)."},
    {KEY(repair, gpu_gone), "", one_of(rungs), "[\"reboot\", \"power_cycle\", \"hands\"]",
     "A GPU that has left the bus is repaired so (XID 79: only a power cycle takes the slot's "
     "power away, a reboot costs less and is tried first)."},
    {KEY(repair, gpu_stuck), "", one_of(rungs), "[\"reboot\", \"hands\"]",
     "This is the ladder of a GPU or driver that asks for a reboot (XID 167, 169, 173: gpud reboots)."},
    {KEY(repair, gpu_error), "", one_of(rungs), "[\"gpu_reset\", \"reboot\", \"hands\"]",
     "A GPU to be reset is repaired so (XID 48, 64, 74, 95, 119 and others: NVIDIA's XID catalogue "
     "resets; a reboot resets too)."},
    {KEY(repair, gpu_slow), "", one_of(rungs), "[\"wait\", \"reboot\", \"hands\"]",
     "This is the ladder of a GPU slowed by power or heat, whose causes outside of the host end by "
     "themselves."},
    {KEY(repair, pcie), "", one_of(rungs), "[\"reboot\", \"power_cycle\", \"hands\"]",
     "A GPU with a slower PCIe link than it has had is repaired so: the link is trained anew at a "
     "boot."},
    {KEY(repair, hca_gone), "", one_of(rungs), "[\"reboot\", \"power_cycle\", \"hands\"]",
     "An HCA that has left its host, or was not found at its start, is repaired so: a driver that "
     "failed loads at a boot."},
    {KEY(repair, link), "", one_of(rungs), "[\"wait\", \"hands\"]",
     "A link that is down or bad is repaired so: it comes back by itself or wants its cable or "
     "transceiver changed."},
    {KEY(repair, other), "", one_of(rungs), "[\"wait\", \"hands\"]",
     "This is the ladder of any other fault, and of those that an older agent reports."},

    {KEY(straggler, every), "", at_most("1h"), "\"30s\"",
     "Each running job of several hosts is judged this often: whether one of them, or one of their GPUs, "
     "ports "
     "or rails, holds it back. 0 means never."},
    {KEY(straggler, least_percent), "percent", from("1", "100"), "5",
     "restartd says nothing of what costs a job a smaller share of its time than this."},
    {KEY(straggler, confidence), "", from("0", "1"), "0.6",
     "restartd notes only what is at least this sure, from 0 to 1; railctl explain shows the rest."},

    {KEY(idle_checks, every), "", any, "\"0s\"",
     "Each host that no job uses is tried this often by railcheck, in a job of restartd's own that ends as "
     "soon as the host is wanted (restartd-decisions(7), IDLE CHECKS), such as \"7d\". 0 means never."},
    {KEY(idle_checks, level), "", from("1", "3"), "2",
     "Idle hosts are tried at this level of railcheck: 2 takes a minute or two, 3 up to 25 minutes."},
    {KEY(idle_checks, max_at_once), "hosts", from("1", "1000"), "2",
     "restartd tries at most this many idle hosts at a time."},
    {KEY(idle_checks, partition), "", any, "\"\"",
     "restartd submits the jobs that try idle hosts to this partition, and tries no host outside it; empty "
     "means Slurm's default, and under LSF, where it is a queue of exclusive jobs, that none is tried."},
    {KEY(idle_checks, account), "", any, "\"\"",
     "restartd charges the jobs that try idle hosts to this account (LSF: project); empty means the "
     "default of its user."},
    {KEY(idle_checks, qos), "", any, "\"\"",
     "restartd gives the jobs that try idle hosts this quality of service, which is Slurm's; empty means its "
     "default."},

    {KEY(lsf, parking_queues), "", any, "[\"gang\"]",
     "In these queues gangs wait until restartd has chosen their hosts (railyard-lsf(7))."},
    {KEY(lsf, gangs_wait), "", one_of("parked, held"), "\"parked\"",
     "A gang waits in a queue from which nothing starts (parked), or held, as by bsub -H, in the queue from "
     "which it starts (held)."},
    {KEY(lsf, run_queue), "", of(Form::filled), "\"gangrun\"",
     "From this queue, which only LSF's administrator may use, a gang is started on the hosts that were "
     "chosen; not used where gangs wait held."},
    {KEY(lsf, bindir), "", any, "\"\"",
     "LSF's commands are in this folder; empty: they are looked for on PATH."},
    {KEY(lsf, start_within), "", at_least("5s"), "\"1m\"",
     "A gang that LSF has not started on its hosts after this long is taken back and placed anew."},
    {KEY(web, serve), "", any, "true",
     "restartd serves a web page with the fabric, jobs and incidents where it listens; it shows what the "
     "browser's host may read without a credential (restartd.open_reading)."},
    {KEY(web, files), "", any, "\"\"",
     "The files of the page are in this folder; empty: where they were installed."},
    {KEY(munge, socket), "", any, "\"\"",
     "munged is reached through this socket; empty means munge's own default."},
});

#undef KEY

// Each member has a row: the struct takes as many values as there are rows.
struct Anything {
    template <class T> operator T() const;
};
template <class T, class... Some> consteval std::size_t members() {
    if constexpr (requires { T{Some{}..., Anything{}}; })
        return members<T, Some..., Anything>();
    else
        return sizeof...(Some);
}
consteval std::size_t rows(ConfTable of) {
    return static_cast<std::size_t>(
        std::count_if(table.begin(), table.end(), [&](const Key& key) { return key.in == of; }));
}
static_assert(members<PlacementConf>() == rows(ConfTable::placement));
static_assert(members<TopologyConf>() == rows(ConfTable::topology));
static_assert(members<RestartdConf>() == rows(ConfTable::restartd));
static_assert(members<AgentConf>() == rows(ConfTable::agent));
static_assert(members<FabricwatchdConf>() == rows(ConfTable::fabricwatchd));
static_assert(members<NodeLossConf>() == rows(ConfTable::node_loss));
static_assert(members<ThrottleConf>() == rows(ConfTable::throttle));
static_assert(members<CheckpointConf>() == rows(ConfTable::checkpoint));
static_assert(members<LearningConf>() == rows(ConfTable::learning));
static_assert(members<RestartConf>() == rows(ConfTable::restart));
static_assert(members<RepairConf>() == rows(ConfTable::repair));
static_assert(members<StragglerConf>() == rows(ConfTable::straggler));
static_assert(members<IdleChecksConf>() == rows(ConfTable::idle_checks));
static_assert(members<LsfConf>() == rows(ConfTable::lsf));
static_assert(members<WebConf>() == rows(ConfTable::web));
static_assert(members<MungeConf>() == rows(ConfTable::munge));

// not_below is supported for durations only (conf.cpp).
static_assert(std::all_of(table.begin(), table.end(), [](const Key& key) {
    if (key.bounds.not_below.empty()) return true;
    return key.type == KeyType::duration && std::any_of(table.begin(), table.end(), [&](const Key& other) {
               return other.in == key.in && other.name == key.bounds.not_below && other.type == key.type;
           });
}));

// TOML numbers may be infinite or NaN: bounds exclude these.
static_assert(std::none_of(table.begin(), table.end(), [](const Key& key) {
    return key.type == KeyType::number && (key.bounds.least.empty() || key.bounds.most.empty());
}));

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
    case KeyType::text: return "a string";
    case KeyType::boolean: return "true or false";
    case KeyType::count: return "a whole number";
    case KeyType::number: return "a number";
    case KeyType::duration: return "a duration such as \"5s\"";
    case KeyType::text_list: break;
    }
    return "a list of strings";
}

std::string bounds_and_unit(const Key& key) {
    auto out = key.bounds.print();
    if (!out.empty() && !key.unit.empty()) out += "; ";
    return out += key.unit;
}

} // namespace base
