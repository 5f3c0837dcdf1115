// --rail-ucx: librailucx.so in a job's processes. Pure.
#pragma once

#include "base/expected.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace spank {

// Errors (Code::usage): the value is not off, watch or stats.
base::Expected<void> check_ucx(std::string_view value);

// LD_PRELOAD with the library in front of what the user preloads, so that its functions are called first.
// Nothing: it is already there, as in a step of a script that has it, or the path contains a space or colon,
// which separate the entries of LD_PRELOAD.
std::optional<std::string> with_preloaded(const std::string& library,
                                          const std::optional<std::string>& before);

} // namespace spank
