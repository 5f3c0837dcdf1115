// A fabric in the formats of other programs: topologies for Slurm and LSF, hints for NCCL and UCX, host
// orders for Open MPI, a graph for Graphviz. One source file per format or pair of formats; all are pure.
//
// The same fabric always gives the same bytes, without anything irrelevant to the format's reader (LIDs, link
// states, the fabric's source), so that a file only changes when necessary: a changed topology makes
// slurmctld and mbatchd reconfigure.
#pragma once

#include "base/expected.hpp"
#include "topo/fabric.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace topo {

enum class Format : std::uint8_t {
    slurm_tree,  // topology.conf of topology/tree
    slurm_block, // topology.conf of topology/block
    slurm_yaml,  // topology.yaml, Slurm 25.05 and later
    lsf,         // HostGroup and ComputeUnit sections of lsb.hosts
    lsf_params,  // COMPUTE_UNIT_TYPES and timing of lsb.params
    lsf_shared,  // Resource section of lsf.shared
    lsf_cluster, // timing and ResourceMap sections of lsf.cluster.NAME
    lsf_queues,  // parking and run queue of lsb.queues
    lsf_conf,    // lines of lsf.conf
    nccl_topo,   // NCCL_TOPO_FILE of one host
    nccl_env,    // NCCL and UCX variables of one host
    hostfile,    // Open MPI
    rankfile,    // Open MPI
    dot          // Graphviz
};

inline constexpr std::size_t format_count = 14;
std::string_view to_string(Format format);             // "slurm-tree"
base::Expected<Format> parse_format(std::string_view); // Code::usage gives the word and what is allowed
std::string format_names();                            // "slurm-tree, slurm-block, …"

// The options are checked against the format: one that does not apply is an error.
struct ExportOptions {
    std::vector<std::string> nodes; // only these hosts; empty: all hosts with a unit
    std::string host;               // the host of nccl_topo and nccl_env
    int block_size = 0;             // base block of slurm_block and slurm_yaml; 0: the smallest unit
    int slots = 0;                  // ranks per host (hostfile, rankfile); 0: its GPUs, or the fabric's rails
    int cores = 0;                  // cores per rank (rankfile); 0: the socket of the rank's GPU or HCA
    int most = 0;                   // things drawn (dot); 0: 400
    // For lsf_queues: where gangs wait and where they run (gang, gangrun), and restartd's user (lsfadmin).
    std::string parking_queue, run_queue, admin;
};

struct Exported {
    std::string text;
    std::size_t hosts = 0;          // number of hosts in it
    std::vector<std::string> notes; // sentences for the user: what was left out, and why
};

// Errors, all Code::usage or Code::unfit: an option that does not apply to the format or is missing, a host
// that is not in the fabric, a name that the other program does not accept, unknown facts. O(n log n) in
// hosts, switches and links.
base::Expected<Exported> export_fabric(const Fabric& fabric, Format format, const ExportOptions& options);

} // namespace topo
