// The built-in rules: one row per rule, each with the source of its numbers. No other code decides about a
// host's health.
#pragma once

#include "restart/watch/rules/rule.hpp"

#include <span>

namespace restart {

// If an event matches several rows, the first applies. Texts are static.
std::span<const Rule> shipped_rules();

namespace table {
// This row with Rule::secondary.
constexpr Rule secondary(Rule rule) {
    rule.secondary = true;
    return rule;
}

std::span<const Rule> gpu_rules();  // table_gpu.cpp
std::span<const Rule> port_rules(); // table_ib.cpp
std::span<const Rule> host_rules(); // table_host.cpp
std::span<const Rule> log_rules();  // table_log.cpp
std::span<const Rule> ucx_rules();  // table_ucx.cpp
std::span<const Rule> link_rules(); // table_link.cpp
std::span<const Rule> xid_rules();  // table_xid.cpp
} // namespace table

} // namespace restart
