// What an older file of a fabric knows and a discovery cannot see: a file that is rewritten keeps it.
#pragma once

#include "topo/fabric.hpp"

namespace topo {

// Puts into `fabric`, which a discovery made, from `before`, the file it will replace:
//   - members this version does not know (`extra`) of the whole, of hosts, HCAs, ports, GPUs, switches,
//   links;
//   - what the modules of a link are, where the discovery tells of neither; not what was measured of them;
//   - PCI addresses, NUMA nodes and nearest GPUs of HCAs and the GPUs of hosts, where the discovery has none;
//   - with `roles`, each role and rail in `before` that is not as assign_roles() (roles.hpp) gives it there:
//     those an administrator or a host's facts decided; and those of hosts that have lost HCAs since, which
//     may be too few now to be guessed right. An HCA whose rail is thereby taken gets the lowest free rail of
//     its host.
// HCAs and switches are the same by GUID, ports and links by GUID and number; a host is the one that had its
// first known HCA, else the one of its name. `fabric` is derived again. Linear time, but for assign_roles().
void carry_over(const Fabric& before, Fabric& fabric, bool roles = true);

} // namespace topo
