// The individual formats of export_fabric(). Internal to src/topo/export.
#pragma once

#include "topo/export/export.hpp"
#include "topo/export/tree.hpp"

namespace topo::exports {

// The common parts of texts that list units with their hosts.
struct Chosen {
    const Fabric& fabric;
    const ExportOptions& options;
    Selection selection;
    std::vector<std::string> notes;
};

base::Expected<std::string> slurm_tree(Chosen& chosen);
base::Expected<std::string> slurm_block(Chosen& chosen);
base::Expected<std::string> slurm_yaml(Chosen& chosen);
base::Expected<std::string> lsf(Chosen& chosen);
base::Expected<std::string> lsf_params(Chosen& chosen);
base::Expected<std::string> lsf_shared(Chosen& chosen);
base::Expected<std::string> lsf_cluster(Chosen& chosen);
base::Expected<std::string> lsf_queues(Chosen& chosen);
base::Expected<std::string> lsf_conf(Chosen& chosen);
base::Expected<std::string> hostfile(Chosen& chosen);
base::Expected<std::string> rankfile(Chosen& chosen);
base::Expected<std::string> dot(Chosen& chosen);

// For one host; nccl_topo() is in nccl.hpp.
base::Expected<std::string> nccl_env(const Fabric& fabric, const Host& host);

// Blocks for topology/block, and its planning sizes: the base block, then the blocks of a pod if every pod
// contains the same power of two of blocks.
struct Blocks {
    struct Block {
        std::string name, hosts;
    };
    std::vector<Block> list;
    std::vector<std::size_t> sizes;
};
base::Expected<Blocks> blocks(Chosen& chosen);

// An error if Slurm, LSF or Open MPI does not accept a host's name in its lists.
base::Expected<void> check_name(const Host& host, std::string_view reader);
base::Expected<void> check_names(const Chosen& chosen, std::string_view reader); // of hosts in units

// For queues, groups and compute units (LSF 10.1: lsb.queues(5), lsb.hosts(5)).
inline constexpr std::size_t longest_lsf_name = 59;
bool reserved_in_lsf(std::string_view name); // "all", "default", …
// An error (Code::unfit) if one of these group names is too long, reserved, a host's name, or used twice.
base::Expected<void> check_lsf_names(const Chosen& chosen, const std::vector<std::string>& names);

} // namespace topo::exports
