// What follows from hosts, switches and links: leaves, tiers, units, pods.
#pragma once

#include "topo/fabric.hpp"

namespace topo {

// Puts the fabric in order (order.hpp) and fills everything fabric.hpp marks "derived". Needs roles and rails
// to be set, link ends to be valid indices, and no (HCA, port) or (switch, port) in two links.
//
// leaves[r] is the switch at the lowest linked port of rail r.
//
// Tiers: 0 = leaves, the switches that carry compute HCAs; then one more than the nearest switch below. A
// switch with few HCAs (less than an eighth of its links) next to one with many is no leaf: that is a cable
// plugged into a spine. Storage never shapes the tree: a switch with storage HCAs only is a leaf of its own
// side when it has many of them and no compute leaf beside it; otherwise (a management host on a spine) they
// do not matter. A switch without HCAs whose links upward are just those of a leaf is a leaf whose hosts are
// off. A switch that no host can reach has tier none.
//
// Units: hosts with the same vector of leaves (all ports of all compute HCAs). Real fabrics have dead and
// crossed cables, which must not tear a host from its neighbours: equal vectors are taken most hosts first,
// and one joins the earlier unit on whose leaves at least two thirds of its cabled ports are, whatever
// their order. Unit::leaves is the vector of the majority; Unit::more_leaves are those of further ports that
// at least half of its hosts have. A host without a cabled compute HCA has none.
//
// Pods: units whose leaves share spines (switches of tier 1), where at least a quarter of the uplinks must
// lead to shared spines, so that a single crossed cable joins nothing; a spine is of the pod most of its
// leaves are in. Without spines each unit is a pod.
//
// Islands: switches joined by links that are not down.
//
// Time and memory are linear in hosts, switches and links, but for sorting.
void derive(Fabric& fabric);

} // namespace topo
