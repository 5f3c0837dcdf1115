// Whose layout a directory of checkpoints has: --kind, RAIL_CKPT_KIND.
#pragma once

#include "base/expected.hpp"

#include <string>
#include <string_view>

namespace restart::ckpt::kinds {

// automatic: decided by what is there.
enum class Known { automatic, railckpt, megatron, deepspeed, dcp, nemo, lightning, orbax, glob };

struct Kind {
    Known known = Known::automatic;
    std::string pattern{}; // of glob, as fnmatch(3) has it: names in the directory
    bool operator==(const Kind&) const = default;
};

// "auto", "megatron", …, "glob:PATTERN". Error (Code::usage) names all of them.
base::Expected<Kind> parse_kind(std::string_view text);
std::string to_string(const Kind& kind);

} // namespace restart::ckpt::kinds
