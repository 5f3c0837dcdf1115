// Converts samples of GPUs to signals. Pure; the rules decide what is a finding (rules/table_gpu.cpp).
#pragma once

#include "restart/watch/rules/signal.hpp"
#include "restart/watch/sample.hpp"

#include <cstdint>
#include <vector>

namespace restart {

// Adds the signals of a GPU. Values that it does not report are left out, and for a lost GPU all values, as
// they are stale. `most_links`: the most NVLinks of this GPU that were up so far; updated. Without NVSwitches
// on the host, a GPU on which no link was ever up has no bridge to its peers, which is not a fault.
void read_gpu(const GpuSample& gpu, std::uint32_t& most_links, bool has_switches, std::vector<Signal>& into);

} // namespace restart
