// What the doctor asks of LSF instead of Slurm, where [restartd] resource_manager is "lsf": what is installed
// by railyard-lsf(7), and the timing that it recommends. Sources: IBM Spectrum LSF 10.1, Configuration
// reference; an engine with LSF's commands.
#pragma once

#include "restart/ctl/doctor/checks.hpp"
#include "restart/ctl/doctor/facts.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace restart::doctor {

// Runs lsid, bqueues, bparams, lsload and bhosts, and reads lsf.conf and the cluster's file next to it. At
// most ten seconds per command; after the first that LSF does not answer no others are run. Into `facts.lsf`
// and `facts.nodes`.
void ask_lsf(Facts& facts);

// `bqueues -l` for one queue. "USERS: all", "RES_REQ:  select[…]", "RERUNNABLE :  yes": by their words.
LsfQueue parse_queue(std::string_view text);
// "KEY = value (seconds)" of `bparams -l`, of lsf.conf (KEY=value) and of the section Parameters of the
// cluster's file: the value's first word, without quotes. Comments and lines of another form are skipped.
std::map<std::string, std::string> parse_parameters(std::string_view text);
std::string parameters_section(std::string_view cluster_file);
// A column of `lsload -l` by host; empty: no such column.
std::map<std::string, std::string> parse_index(std::string_view text, std::string_view name);

// In the order in which to fix them.
std::vector<Complaint> lsf_complaints(const Facts& facts, bool this_host);

} // namespace restart::doctor
