// What `railctl doctor` has found out about this host and its cluster. Plain data: gather.hpp fills it,
// checks.hpp evaluates it, and tests plant mistakes in it. What could not be found out has its reason.
#pragma once

#include "base/clock.hpp"
#include "base/conf.hpp"
#include "restart/wire/status.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace restart::doctor {

// One of Railyard's plugins in a directory of PluginDir.
struct PluginFile {
    std::string name; // "select_rail"
    std::string path;
    std::string built_for; // Slurm's release, "22.05.8"; empty: not a plugin
    bool operator==(const PluginFile&) const = default;
};

// A line of plugstack.conf, or of a file it includes, that loads spank_rail.so.
struct PlugstackLine {
    std::string place; // "FILE:LINE"
    bool required = false;
    bool operator==(const PlugstackLine&) const = default;
};

struct FabricFacts {
    std::vector<std::string> hosts; // sorted
    base::Duration age{};           // since the file was last written
};

// Where a file is stored, as reported by statfs(2).
struct Storage {
    bool in_memory = false;  // tmpfs, ramfs: gone at the next boot
    std::uint64_t free = 0;  // bytes, for users other than root
    std::uint64_t total = 0; // bytes; 0: not known
};

// At another address of [restartd] url than the one that answered as the primary.
struct OtherRestartd {
    std::string url;
    enum class Role { standby, away, acting } role; // acting: it answers, but not as a standby
    std::string text;                               // its answer, or why there was none
};

// A queue as bqueues -l shows it.
struct LsfQueue {
    std::string error; // why it could not be read; empty: it was
    std::string res_req, users;
    bool rerunnable = false;
    bool operator==(const LsfQueue&) const = default;
};

// With LSF, instead of what is asked of Slurm.
struct LsfFacts {
    std::string error;                      // why LSF did not answer; empty: it did
    std::map<std::string, LsfQueue> queues; // those that [lsf] names
    std::map<std::string, std::string>
        timing; // by key, from lsb.params, lsf.conf and lsf.cluster.NAME, as found
    std::map<std::string, std::string> planned; // lsload's value, by host
    bool has_planned = true;                    // lsload has this index, or could not be asked
    std::string conf_error;                     // of lsf.conf; empty: it was read
    std::string conf_path;
    std::map<std::string, std::string> conf; // its parameters
    std::string cluster_error;               // of lsf.cluster.NAME; empty: it was read
    std::string esub;                        // where esub.rail must be; empty: LSF_SERVERDIR is not known
    bool esub_runs = false;                  // it exists and is executable
};

struct Facts {
    std::string config_error;  // of railyard.conf; empty: none
    std::string config_source; // base::source_of
    base::Conf conf;           // with [restartd] user as resolved on this host

    std::string munge_error; // of a credential made and opened here; empty: none

    std::string slurm_error;                  // why slurmctld did not answer; empty: it did
    std::map<std::string, std::string> slurm; // `scontrol show config`, by key
    std::vector<std::string> nodes;           // its node names, sorted; with LSF bhosts' names
    std::map<std::string, std::vector<std::string>>
        slurmd_releases;       // nodes, sorted, by their slurmd's release
    std::string local_release; // of the Slurm installed here; empty: not known
    std::vector<PluginFile> plugins;
    std::string plugstack; // the file; empty: none
    std::vector<PlugstackLine> spank;

    LsfFacts lsf;
    bool is_lsf() const { return conf.restartd.resource_manager == "lsf"; }

    std::string fabric_error; // of the fabric file; empty: none
    FabricFacts fabric;

    std::string restartd_error;     // why it did not answer, or its answer was rejected; empty: it did
    bool restartd_impostor = false; // something that is not [restartd] user's answered
    std::optional<Status> status;
    std::vector<OtherRestartd> other_restartds;
    std::optional<Storage> journal; // restartd's, if that is on this host and readable
    base::Duration clock_ahead{};   // of restartd's clock, relative to this host's
};

} // namespace restart::doctor
