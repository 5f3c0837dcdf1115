// --rail-ucx: librailucx.so in a job's processes. Pure.
#pragma once

#include "base/expected.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace spank {

// Errors (Code::usage): a value that is neither off, watch nor stats.
base::Expected<void> check_ucx(std::string_view value);

// LD_PRELOAD with the library in it, before what the user preloads: its calls come first. Nothing: it is
// there already, as in a step of a script that has it, or the path is one that LD_PRELOAD cannot hold, which
// is a list between spaces and colons.
std::optional<std::string> with_preloaded(const std::string& library,
                                          const std::optional<std::string>& before);

} // namespace spank
