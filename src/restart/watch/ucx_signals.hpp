// From what jobs say of their UCX endpoints to signals. Pure; what is a finding the rules say
// (rules/table_ucx.cpp).
#pragma once

#include "restart/watch/rules/signal.hpp"
#include "restart/watch/sample.hpp"

#include <string_view>
#include <vector>

namespace restart {

// Where an endpoint leads, by the ways that it has: one lane decides, as UCX adds others for what that lane
// cannot do.
enum class UcxReach {
    infiniband, // or RoCE: a transport of an HCA
    local,      // the same host: shared memory, or TCP over its loopback device
    tcp,        // another host, over TCP alone
    unknown     // not chosen yet, or by a transport that is not known here
};
UcxReach reach_of(std::string_view over);

// Adds the job's signals, with the ranks, rails and ways in words. `infiniband`: the host has an ACTIVE port.
void read_ucx(const UcxJob& job, bool infiniband, std::vector<Signal>& into);

} // namespace restart
