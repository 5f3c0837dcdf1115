// Where the programs of an LSF job are.
#pragma once

#include <string>
#include <string_view>

namespace sched::lsf {

// In the directory of the calling program, if such a program is there, as in a build directory or bindir;
// else the installed one.
std::string program_path(std::string_view name);

} // namespace sched::lsf
