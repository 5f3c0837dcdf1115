// Commands for an administrator to run on all hosts, one for each tool that sites use. Pure.
#pragma once

#include "restart/ctl/enable/plan.hpp"

#include <string>
#include <vector>

namespace restart::enable {

// "clush -w HOSTS WORDS", the same with pdsh and ansible; with Wish::run_on_hosts only that line.
std::vector<std::string> run_lines(const Wish& wish, const std::vector<std::string>& hosts,
                                   const std::vector<std::string>& words);
// The same for copying files to the paths they have here.
std::vector<std::string> copy_lines(const Wish& wish, const std::vector<std::string>& hosts,
                                    const std::vector<std::string>& files);

// A word quoted for a shell; for display only, we run nothing through a shell.
std::string quoted(const std::string& word);

} // namespace restart::enable
