// Explanations as JSON: printed by railplan place --explain and returned by restartd. The members are
// described in railplan(1), JSON.
#pragma once

#include "base/json.hpp"
#include "sched/explain.hpp"
#include "sched/outlook.hpp"

namespace sched {

// {"kind":"placed","sentence":…,"nodes":[…],"other":{"nodes":[…],"without":…|null,"better":…}|null,
//  "decided":…|null,"terms":[{"term":…,"words":…,"text":…,"value":…,"shown":…,"other":…|null,…}]}
boost::json::object to_json(const topo::Fabric& fabric, const PlacementIndex& index,
                            const Explanation& explanation);

// {"kind":"pending","verdict":"later","sentence":…,"now":…,"fits_at":…|null,"job":…|null,"nodes_then":[…],
//  "wish_ends":…|null,"unlimited":[…],"part":"unit","parts":[{"name":…,"free":…,…,"why":[…]}]}
// Times are seconds since the epoch.
boost::json::object to_json(const topo::Fabric& fabric, const Outlook& outlook, base::Time now);

} // namespace sched
