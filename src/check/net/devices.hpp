// Which devices of a host are its rails.
#pragma once

#include "base/conf.hpp"
#include "base/expected.hpp"
#include "topo/fabric.hpp"

#include <string>
#include <vector>

namespace check::net {

// This host's, up to the first dot.
std::string own_name();

// Of this name; null: the fabric has none.
const topo::Host* host_of(const topo::Fabric& fabric, const std::string& name);

// `given` names its file; otherwise that of the configuration, where it is. Empty where there is none. Errors
// of topo::read_fabric.
base::Expected<topo::Fabric> fabric_for(const base::Conf& conf, const std::string& given);

// One for each rail: those that the user named ("mlx5_0:1,mlx5_1:1", "eth0,eth1"), else what the fabric says
// of this host, else the kernel's HCAs. Errors: Code::unavailable when there is none.
base::Expected<std::vector<std::string>> devices_of(const std::string& given, const topo::Fabric& fabric,
                                                    const std::string& host);

} // namespace check::net
