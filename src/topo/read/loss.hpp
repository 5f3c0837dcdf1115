// What an older fabric has that a newer one lacks: a discovery that lost something must not replace a better
// file without confirmation.
#pragma once

#include "topo/fabric.hpp"

#include <string>
#include <vector>

namespace topo {

// Sentences about hosts (by name), HCAs and switches (by GUID, if the host or name still exists) that are
// gone, and ports (by GUID and number) that had a link and now have none. What was moved is not lost. A
// fabric of units only (outline.hpp) lacks the rails, cables and switches of any other; and when a real
// fabric replaces it, its groups are not lost. Losses of one kind are combined into one sentence. Linear
// time.
std::vector<std::string> losses(const Fabric& before, const Fabric& after);

} // namespace topo
