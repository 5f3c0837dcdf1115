// Which devices of a host are its rails.
#pragma once

#include "base/conf.hpp"
#include "base/expected.hpp"
#include "topo/fabric.hpp"

#include <string>
#include <vector>

namespace check::net {

// This host's name, up to the first dot.
std::string own_name();

// The host of this name; null: not in the fabric.
const topo::Host* host_of(const topo::Fabric& fabric, const std::string& name);

// The file `given`; if empty, the configured one, where it exists. Empty if there is none. Errors of
// topo::read_fabric.
base::Expected<topo::Fabric> fabric_for(const base::Conf& conf, const std::string& given);

// One for each rail: those that the user named ("mlx5_0:1,mlx5_1:1", "eth0,eth1"), else those that the fabric
// lists for this host, else the kernel's HCAs. Errors: Code::unavailable when there is none.
base::Expected<std::vector<std::string>> devices_of(const std::string& given, const topo::Fabric& fabric,
                                                    const std::string& host);

} // namespace check::net
