// What an older picture of a fabric has that a newer one lacks: a discovery that lost something is not to
// replace a better file unasked.
#pragma once

#include "topo/fabric.hpp"

#include <string>
#include <vector>

namespace topo {

// Sentences: hosts (by name), HCAs and switches (by GUID, where the host or name is still there) that are
// gone, and ports (by GUID and number) that led somewhere and now lead nowhere. What moved is not lost. A
// fabric of units only (outline.hpp) lacks the rails, cables and switches of any other, and none of its own
// groups is lost when a real one replaces it. Like losses of one kind are folded into one sentence. Linear
// time.
std::vector<std::string> losses(const Fabric& before, const Fabric& after);

} // namespace topo
