// --rail-preflight: which checks to run on a job's hosts before its script starts. Pure.
#pragma once

#include "base/expected.hpp"

#include <string_view>

namespace sched {

struct PreflightWish {
    int level = 0; // of railcheck(8): 0 is off, 1 quick, 2 full, 3 deep
    bool net = false, nccl = false;
    bool operator==(const PreflightWish&) const = default;
};

// "off", "quick", "full", "deep", the last three also with ",net", ",nccl" or both. Errors (Code::usage):
// "--rail-preflight=fast: must be …".
base::Expected<PreflightWish> parse_preflight(std::string_view text);

} // namespace sched
