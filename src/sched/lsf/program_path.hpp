// Where the programs of a job of LSF are.
#pragma once

#include <string>
#include <string_view>

namespace sched::lsf {

// Beside the program that asks, where such a program is, as in a build directory and among those of bindir;
// else the installed one.
std::string program_path(std::string_view name);

} // namespace sched::lsf
