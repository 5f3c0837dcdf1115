// The layout of a checkpoint directory: --ckpt-kind, RAIL_CKPT_KIND, railckpt's --kind.
#pragma once

#include "base/expected.hpp"

#include <string>
#include <string_view>

namespace base {

// automatic: detected from the directory's contents.
enum class CkptLayout { automatic, railckpt, megatron, deepspeed, dcp, nemo, lightning, orbax, glob };

struct CkptKind {
    CkptLayout known = CkptLayout::automatic;
    std::string pattern{}; // for glob, as in fnmatch(3): names in the directory
    bool operator==(const CkptKind&) const = default;
};

// "auto", "megatron", …, "glob:PATTERN". Error (Code::usage): "must be auto, …".
Expected<CkptKind> parse_ckpt_kind(std::string_view text);
std::string to_string(const CkptKind& kind);

} // namespace base
