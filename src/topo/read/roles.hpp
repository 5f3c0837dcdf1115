// Which HCAs carry compute traffic, and on which rail.
#pragma once

#include "topo/fabric.hpp"
#include "topo/read/rules.hpp"

namespace topo {

// Sets role and rail of every HCA from device names, leaves and rates alone; link ends must be valid.
//
// Family: hosts whose device names are mostly the same ("HCA-3" is "mlx5_2", host_names.hpp). Within a
// family, a device name means the same on every host, so a dead HCA does not shift the others' rails. Rails
// are numbered over the compute devices of the family in natural order; a device that only less common hosts
// have comes after them.
//
// An HCA is storage (and has no rail) if
//   1 its host has at most half as many HCAs as the hosts that hold most of the fabric's HCAs, and is named
//     neither like those with more nor like many with just half on leaves of their own, or more than those
//     with more: a storage server, a login or management host;
//   2 the device runs, on most hosts of the family, slower than most devices of the family; or
//   3 the HCAs of the device are at least twice as dense on leaves (at the median HCA) as those of most
//     devices: all units' storage ports meet on the same leaves, rails never do;
//   4 it is in a network with storage only, as on most of at least four hosts with the same devices: these
//     have fewer rails, and number their storage HCAs after them; or
//   5 its description names no host, or repeats the host and device of another HCA that is where more HCAs of
//     that device are.
// A site can override this with `rules` (may be null): storage HCAs are excluded from all this, compute
// devices never count as storage, and a host whose rails are given has only those.
void assign_roles(Fabric& fabric, const Rules* rules = nullptr);

} // namespace topo
