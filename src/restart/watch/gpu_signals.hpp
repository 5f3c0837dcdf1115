// From samples of GPUs to signals. Pure; what is a finding the rules say (rules/table_gpu.cpp).
#pragma once

#include "restart/watch/rules/signal.hpp"
#include "restart/watch/sample.hpp"

#include <cstdint>
#include <vector>

namespace restart {

// Adds the signals of a GPU: what it does not report is left out, and of a lost one all that is from before.
// `most_links`: of this GPU, the most NVLinks that were up so far; kept up to date. Without NVSwitches on the
// host a GPU of which none ever was has no bridge to its peers, which is no fault.
void read_gpu(const GpuSample& gpu, std::uint32_t& most_links, bool has_switches, std::vector<Signal>& into);

} // namespace restart
