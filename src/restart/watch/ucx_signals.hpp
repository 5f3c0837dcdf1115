// Converts what jobs report about their UCX endpoints to signals. Pure; the rules decide what is a finding
// (rules/table_ucx.cpp).
#pragma once

#include "restart/watch/rules/signal.hpp"
#include "restart/watch/sample.hpp"

#include <string_view>
#include <vector>

namespace restart {

// Where an endpoint leads, by its transports: one lane decides, as UCX adds others for operations that this
// lane does not support.
enum class UcxReach {
    infiniband, // or RoCE: a transport of an HCA
    local,      // the same host: shared memory, or TCP over its loopback device
    tcp,        // another host, over TCP alone
    unknown     // not chosen yet, or an unknown transport
};
UcxReach reach_of(std::string_view over);

// Adds the job's signals, with a description of ranks, rails and ways. `infiniband`: the host has an ACTIVE
// port.
void read_ucx(const UcxJob& job, bool infiniband, std::vector<Signal>& into);

} // namespace restart
