// What follows from hosts, switches and links: leaves, tiers, units, pods.
#pragma once

#include "topo/fabric.hpp"

namespace topo {

// Puts the fabric in order (order.hpp) and fills everything fabric.hpp marks "derived". Needs roles and rails
// to be set, link ends to be valid indices, and no (HCA, port) or (switch, port) in two links.
//
// leaves[r] is the switch at the lowest linked port of rail r.
//
// Tiers: 0 = leaves, the switches that carry HCAs; then one more than the nearest switch below. A switch with
// few HCAs (less than an eighth of its links) is a leaf when it looks upward as those with many do;
// otherwise that is a cable plugged into a spine or core, or a management host there. One with many is no
// leaf when more than a third of its links lead to others with many, most of them with more hosts, and those
// to another switch with few or none: part of a unit is plugged into a spine. Storage never shapes the tree:
// a switch with storage HCAs only is a leaf of its own side unless it is above compute leaves, by more than
// one link for eight HCAs. A switch without HCAs is of a tier when most of its links go where those of one
// of the tier go and it is named like the tier's, or, where names say nothing, when all do: a leaf whose
// hosts are off, a pod that is. A switch that no host can reach has tier none.
//
// Units: hosts with the same vector of leaves (all ports of all compute HCAs). Real fabrics have dead and
// crossed cables, which must not tear a host from its neighbours: equal vectors are taken most hosts first,
// and one joins the earlier unit on whose leaves at least two thirds of its cabled ports are, whatever
// their order. Few hosts whose cables are mostly on leaves of other units go where most of them are, then
// where ports, their neighbours by number or the sizes of units say; where nothing does, to the first, and
// Host::other_unit is another. The number alone decides for a host of a single cable, where nearly all such
// hosts are in order.
// Unit::leaves[r] is the leaf on which most of its hosts have rail r; of as many, the one that is mostly the
// unit's own, then the one that shares spines with the unit's other leaves. Unit::more_leaves are those of
// further ports that most of its hosts have, or half where the leaf is the unit's own. A host without a
// cabled compute HCA is in no unit.
//
// Domains: hosts with the same name of one.
//
// Pods: units whose leaves share spines (switches of tier 1), where at least a quarter of the uplinks must
// lead to shared spines, so that a single crossed cable joins nothing; a spine is of the pod most of its
// leaves are in. A unit that has as many cables to leaves of other units as to spines, or more, is of their
// pod. Any other without spines is a pod alone.
//
// Islands: switches joined by links that are not down.
//
// Time and memory are linear in hosts, switches and links, but for sorting.
void derive(Fabric& fabric);

} // namespace topo
