// The rules that the program comes with: one row a rule, each with the source of its numbers. No predicate
// about a host's health is anywhere else.
#pragma once

#include "restart/watch/rules/rule.hpp"

#include <span>

namespace restart {

// Of two rows that an event fits the first is its rule. Texts live for ever.
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
