// Lines for a person to run on all hosts, one for each tool that sites use. Pure.
#pragma once

#include "restart/ctl/enable/plan.hpp"

#include <string>
#include <vector>

namespace restart::enable {

// "clush -w HOSTS WORDS", the same with pdsh and ansible; with Wish::run_on_hosts that line alone.
std::vector<std::string> run_lines(const Wish& wish, const std::vector<std::string>& hosts,
                                   const std::vector<std::string>& words);
// The same for copying files to where they are here.
std::vector<std::string> copy_lines(const Wish& wish, const std::vector<std::string>& hosts,
                                    const std::vector<std::string>& files);

// A word as a shell takes it back; for reading, nothing of ours goes through one.
std::string quoted(const std::string& word);

} // namespace restart::enable
