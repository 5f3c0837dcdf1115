#include "base/ckpt_kind.hpp"

#include <algorithm>
#include <array>

namespace base {
namespace {

struct KindWord {
    CkptLayout known;
    std::string_view word;
};
constexpr std::array<KindWord, 8> kind_words{{{CkptLayout::automatic, "auto"},
                                              {CkptLayout::railckpt, "railckpt"},
                                              {CkptLayout::megatron, "megatron"},
                                              {CkptLayout::deepspeed, "deepspeed"},
                                              {CkptLayout::dcp, "dcp"},
                                              {CkptLayout::nemo, "nemo"},
                                              {CkptLayout::lightning, "lightning"},
                                              {CkptLayout::orbax, "orbax"}}};
constexpr std::string_view glob_prefix = "glob:";

} // namespace

Expected<CkptKind> parse_ckpt_kind(std::string_view text) {
    for (const auto& row : kind_words)
        if (text == row.word) return CkptKind{row.known};
    if (!text.starts_with(glob_prefix))
        return Error{Code::usage,
                     "must be auto, railckpt, megatron, deepspeed, dcp, nemo, lightning, orbax or "
                     "glob:PATTERN"};
    const auto pattern = text.substr(glob_prefix.size());
    const bool plain = std::none_of(pattern.begin(), pattern.end(), [](char c) {
        return c == '/' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    });
    if (pattern.empty() || pattern.size() > 255 || !plain)
        return Error{Code::usage, "glob: must be followed by a pattern of names in the directory, without a "
                                  "slash, such as glob:step_*.pt"};
    return CkptKind{CkptLayout::glob, std::string(pattern)};
}

std::string to_string(const CkptKind& kind) {
    if (kind.known == CkptLayout::glob) return std::string(glob_prefix) + kind.pattern;
    for (const auto& row : kind_words)
        if (row.known == kind.known) return std::string(row.word);
    return {};
}

} // namespace base
