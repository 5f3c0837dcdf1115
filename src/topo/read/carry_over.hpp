// Keeps information of an older fabric file that a discovery cannot see when the file is rewritten.
#pragma once

#include "topo/fabric.hpp"

namespace topo {

// Copies into `fabric`, the result of a discovery, from `before`, the file that it will replace:
//   - members this version does not know (`extra`) of the file, hosts, HCAs, ports, GPUs, switches,
//   links;
//   - the modules of a link, if the discovery reports neither; without measured values;
//   - PCI addresses, NUMA nodes and nearest GPUs of HCAs and the GPUs of hosts, if the discovery has none;
//   - with `roles`, each role and rail in `before` that is not as assign_roles() (roles.hpp) gives it there:
//     those an administrator or a host's facts decided; and those of hosts that have lost HCAs since, which
//     may be too few now to be guessed right. An HCA whose rail is taken by this gets the lowest free rail of
//     its host.
// HCAs and switches are matched by GUID, ports and links by GUID and number; a host by its first known HCA,
// else by its name. `fabric` is derived again. Linear time, except for assign_roles().
void carry_over(const Fabric& before, Fabric& fabric, bool roles = true);

} // namespace topo
