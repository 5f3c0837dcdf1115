// What other programs need of a fabric: topologies for Slurm and LSF, hints for NCCL and UCX, host orders for
// Open MPI, a graph for Graphviz. One source file a format or pair of formats; all are pure.
//
// The same fabric always gives the same bytes, and nothing that does not matter to the reader of a format is
// in it (LIDs, link states, where the fabric came from), so that a file changes only when it must: a changed
// topology makes slurmctld and mbatchd reconfigure.
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
    lsf_cluster, // timing and ResourceMap section of lsf.cluster.NAME
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
base::Expected<Format> parse_format(std::string_view); // Code::usage names the word and what is allowed
std::string format_names();                            // "slurm-tree, slurm-block, …"

// What is given is checked against the format: an option that does not go with it is an error.
struct ExportOptions {
    std::vector<std::string> nodes; // only these hosts; empty: all that are in a unit
    std::string host;               // the host of nccl_topo and nccl_env
    int block_size = 0;             // base block of slurm_block and slurm_yaml; 0: the smallest unit
    int slots = 0;                  // ranks a host (hostfile, rankfile); 0: its GPUs, else the fabric's rails
    int cores = 0;                  // cores a rank (rankfile); 0: the socket of the rank's GPU or HCA
    int most = 0;                   // things drawn (dot); 0: 400
    // Of lsf_queues: where gangs wait and where they run (gang, gangrun), and restartd's user (lsfadmin).
    std::string parking_queue, run_queue, admin;
};

struct Exported {
    std::string text;
    std::size_t hosts = 0;          // that it speaks of
    std::vector<std::string> notes; // sentences for people: what was left out, and why
};

// Errors, all Code::usage or Code::unfit: an option that does not go with the format or is missing, a host
// that is not in the fabric, a name that the other program cannot take, facts that are not known. O(n log n)
// in hosts, switches and links.
base::Expected<Exported> export_fabric(const Fabric& fabric, Format format, const ExportOptions& options);

} // namespace topo
