// A rank's environment variables for its binding. Pure.
//
// The batch script gets these variables too, for what it starts itself (torchrun, mpirun's own ranks), and
// passes them on to its steps. There the rank's own values replace them (on a host without facts they are
// unset); only what the user has set since is kept. So RAIL_EXPORTS lists what was set, as NAME=VALUE words:
// a variable that still has that value is Railyard's.
#pragma once

#include "base/expected.hpp"
#include "spank/binding.hpp"
#include "topo/fabric.hpp"

#include <string>
#include <vector>

namespace spank {

struct Variable {
    std::string name, value;
    bool operator==(const Variable&) const = default;
};

// The names claimed by a variable such as RAIL_EXPORTS: unset them, and the variable itself, before calling
// environment().
std::vector<std::string> claimed(const std::string& by, const Lookup& get);

// `topo_file` is for NCCL_TOPO_FILE; empty: there is none. Variables that `get` finds were set by the user
// and are left out; so is UCX_NET_DEVICES if UCX_TLS excludes InfiniBand. RAIL_EXPORTS comes last, if
// anything is set. Errors (Code::unfit): a device name that cannot be put in a list.
base::Expected<std::vector<Variable>> environment(const topo::Fabric& fabric, const topo::Host& host,
                                                  const Binding& binding, const VisibleGpus& visible,
                                                  BindMode mode, const std::string& topo_file,
                                                  const Lookup& get);

// "rail-bind: rank 3 host n001 gpu 3 hca mlx5_3:1 numa 0 cpus 0-15"; "-" for unknown values. `cpus`: the CPUs
// that the rank runs on.
base::Expected<std::string> describe(const topo::Fabric& fabric, const topo::Host& host,
                                     const Binding& binding, std::uint32_t rank,
                                     const std::vector<int>& cpus);

// The names that a nccl.conf (/etc/nccl.conf, ~/.nccl.conf) sets: NAME=VALUE lines. An environment variable
// would override them.
std::vector<std::string> names_in_nccl_conf(std::string_view text);

} // namespace spank
