// Which file of rules (health.conf(5)) nodewatchd and fabricwatchd read.
#pragma once

#include "base/conf.hpp"
#include "restart/watch/rules/rule_set.hpp"

#include <filesystem>
#include <string>

namespace restart {

// `named`: the argument of --rules; empty: health.conf next to the configuration, which may be missing.
std::filesystem::path rules_path(const base::Conf& conf, const std::string& named);

// Errors as for RuleSet::from_file(), and Code::io for a named file that does not exist.
base::Expected<RuleSet> read_rules(const base::Conf& conf, const std::string& named);

} // namespace restart
