// Derives leaves, tiers, units and pods from hosts, switches and links.
#pragma once

#include "topo/fabric.hpp"

namespace topo {

// Sorts the fabric (order.hpp) and fills everything that fabric.hpp marks "derived". Needs roles and rails to
// be set, link ends to be valid indices, and no (HCA, port) or (switch, port) in two links.
//
// leaves[r] is the switch at the lowest linked port of rail r.
//
// Tiers: 0 = leaves, the switches that carry HCAs; then one more than the nearest switch below. A switch with
// few HCAs (less than an eighth of its links) is a leaf if its uplinks are like those of switches with many;
// otherwise the HCA is a cable plugged into a spine or core, or a management host there. One with many is not
// a leaf if more than a third of its links lead to others with many, most of which have more hosts and lead
// to another switch with few or none: part of a unit is plugged into a spine. Storage never shapes the tree:
// a switch with only storage HCAs is a leaf of the storage network unless it is above compute leaves, with
// more than one link per eight HCAs. A switch without HCAs belongs to a tier if most of its links go where
// those of a switch of the tier go and its name is like the tier's; if names are not systematic, all links
// must: a leaf whose hosts are off, or a whole pod. A switch that no host can reach has tier none.
//
// Units: hosts with the same vector of leaves (all ports of all compute HCAs). Real fabrics have dead and
// crossed cables, which must not separate a host from its neighbours. So groups of equal vectors are
// processed in order of decreasing size, and a group joins the earlier unit on whose leaves at least two
// thirds of its cabled ports are, whatever their order. A few hosts with cables mostly on leaves of other
// units are assigned by most of their cables, then by ports, neighbours by number or sizes of units; if
// nothing decides, to the first, and Host::other_unit is another. For a host with a single cable the number
// alone decides, if nearly all such hosts are in order. Unit::leaves[r] is the leaf where most of its hosts
// have rail r; of equals, the one that is mostly the unit's own, then the one that shares spines with the
// unit's other leaves. Unit::more_leaves are those of additional ports that most of its hosts have, or half
// if the leaf is the unit's own. A host without a cabled compute HCA is in no unit.
//
// Domains: hosts with the same domain name.
//
// Pods: units whose leaves share spines (switches of tier 1). At least a quarter of the uplinks must lead to
// shared spines, so that a single crossed cable connects nothing; a spine belongs to the pod of most of its
// leaves. A unit that has at least as many cables to leaves of other units as to spines is in their pod. Any
// other unit without spines is its own pod.
//
// Islands: switches connected by links that are not down.
//
// Time and memory are linear in hosts, switches and links, except for sorting.
void derive(Fabric& fabric);

} // namespace topo
