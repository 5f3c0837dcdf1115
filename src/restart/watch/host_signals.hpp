// Converts samples of the host itself and its file systems to signals. Pure; the rules decide what is a
// finding (rules/table_host.cpp).
#pragma once

#include "restart/watch/rules/signal.hpp"
#include "restart/watch/sample.hpp"

#include <vector>

namespace restart {

// Adds the signals, grouped by component.
void read_host(const HostSample& host, std::vector<Signal>& into);
void read_mount(const MountSample& mount, std::vector<Signal>& into);

} // namespace restart
