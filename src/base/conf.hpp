// railyard.conf(5): TOML, checked completely against the key table (keys.hpp) before anything is used, then
// stored in one struct for each table. A member's meaning, default, unit and bounds are in its key's row.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "base/keys.hpp"

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace base {

struct PlacementConf {
    std::string fabric, health;
    double spare_risk{};
    Duration repair_time{};
    bool explain_pending{};
    Duration budget{};
    std::string pack;
};

struct TopologyConf {
    std::vector<std::string> groups;
    Duration switch_restart{};
};

struct RestartdConf {
    std::string resource_manager;
    std::string listen;
    std::vector<std::string> url;
    std::string user, journal;
    Duration lease{}, keep_history{};
    std::uint64_t keep_events{};
    std::uint64_t agent_uid{};
    std::vector<std::string> operators, operator_groups;
    bool open_reading{};
    std::string metrics_token;
    bool observe_only{};
    std::vector<std::string> maintenance;
    double max_drained_percent{};
    std::uint64_t max_drained_absolute{}, max_drained_per_unit{}, max_drained_per_leaf{},
        max_drained_per_pod{}, max_drained_per_hour{};
    Duration poll_interval{};
};

struct AgentConf {
    Duration interval{};
    std::string sysfs, nvml, kmsg;
    std::vector<std::string> ignore_devices, mounts;
    std::string job_socket;
    std::string metrics_socket, metrics_listen;
    Duration pace{};
    bool nccl_ras{};
    Duration cut_off_after{};
};
// Time after cut_off_after within which a host that is cut off has ended its jobs' processes: the agent's
// last checks, and the time that killing takes. Until then no gang that ran there starts elsewhere.
constexpr Duration cut_off_ends{5'000};

struct FabricwatchdConf {
    Duration interval{};
    std::string ca;
    std::uint64_t port{};
    bool counters{};
    std::uint64_t questions{};
};

struct NodeLossConf {
    Duration silent{}, witness_wait{}, group_wait{}, lost_window{};
    double max_lost_percent{};
    std::uint64_t max_lost_per_unit{};
};

struct ThrottleConf {
    std::vector<std::string> reasons;
    Duration window{}, clear{};
};

struct CheckpointConf {
    Duration mtbf_node{}, min_interval{}, max_interval{};
    double save_deadline_factor{};
    Duration save_deadline_min{}, save_deadline_max{};
};

struct LearningConf {
    double prior_faults{};
    Duration lemon_half_life{};
};

struct RestartConf {
    std::uint64_t max_requeues{}, no_progress{};
    Duration horizon{}, requeue_time{}, restart_time{};
};

// How hosts return to service after faults (restart/core/repair).
struct RepairConf {
    std::uint64_t max_at_once{}, attempts{};
    Duration forget_after{}, relapse{}, clean_window{}, rung_limit{};
    std::string gpu_reset_program, power_cycle_program;
    Duration program_limit{};
    std::string check_program;
    Duration check_limit{};
    // The repair ladder for each class of faults.
    std::vector<std::string> host_lost, gpu_broken, gpu_gone, gpu_stuck, gpu_error, gpu_slow, pcie, hca_gone,
        link, other;
};

// Detection of the host that slows a job down (restart/core/straggle).
struct StragglerConf {
    Duration every{};
    double least_percent{}, confidence{};
};

// Checks of idle hosts (restart/core/facts/idle_check.hpp).
struct IdleChecksConf {
    Duration every{};
    std::uint64_t level{}, max_at_once{};
    std::string partition, account, qos;
};

// How restartd places gangs under LSF (restart/rm/lsf_rm.hpp).
struct LsfConf {
    std::vector<std::string> parking_queues;
    std::string gangs_wait, run_queue, bindir;
    Duration start_within{};
};

// The web page (restart/web).
struct WebConf {
    bool serve{};
    std::string files;
};

struct MungeConf {
    std::string socket;
};

// A subset of the tables; if none is named, all.
class ConfTables {
public:
    constexpr ConfTables(std::initializer_list<ConfTable> some) {
        for (const auto table : some)
            bits_ |= bit(table);
    }
    constexpr bool has(ConfTable table) const { return bits_ == 0 || (bits_ & bit(table)) != 0; }

private:
    static constexpr unsigned bit(ConfTable table) { return 1U << static_cast<unsigned>(table); }
    unsigned bits_ = 0;
};

// A checked configuration: every key has a value, its own or the default. It can be copied; reload replaces
// all of it.
struct Conf {
    PlacementConf placement;
    TopologyConf topology;
    RestartdConf restartd;
    AgentConf agent;
    FabricwatchdConf fabricwatchd;
    NodeLossConf node_loss;
    ThrottleConf throttle;
    CheckpointConf checkpoint;
    LearningConf learning;
    RestartConf restart;
    RepairConf repair;
    StragglerConf straggler;
    IdleChecksConf idle_checks;
    LsfConf lsf;
    WebConf web;
    MungeConf munge;
    std::filesystem::path file; // the file that the values came from; empty for defaults

    // All defaults.
    Conf();

    // Errors (Code::input) say "FILE:LINE: …" for text that is not TOML, unknown tables and keys (with the
    // known names), values of the wrong type, bad units, and values that are out of bounds; Code::io when the
    // file cannot be read. Bounds are checked in the tables that the caller `needs`. In other tables it is
    // replaced by the default; programs that need them reject it.
    static Expected<Conf> from_file(const std::filesystem::path& path, ConfTables needs = {});
    static Expected<Conf> from_text(std::string_view text, std::string_view file_name, ConfTables needs = {});

    // Every key with its value and, as comments, its meaning: a file that from_text can read.
    std::string print() const;

private:
    friend class ConfReader;
    struct Empty {};
    explicit Conf(Empty) {}
};

// The file to read: `option` if not empty, else $RAILYARD_CONF, else SYSCONFDIR/railyard/railyard.conf.
std::filesystem::path conf_path(const std::string& option);

// Reads it. The default file may be absent (all defaults); a file that was named must exist.
Expected<Conf> load_conf(const std::string& option, ConfTables needs = {});

// A line for the user: which file the values came from, or that there is none, and a file that exists where a
// program built with another prefix would look.
std::string source_of(const Conf& conf);

} // namespace base
