#include "restart/ckpt/kinds/kind.hpp"

#include "base/utf8.hpp"

#include <fmt/format.h>

#include <array>

namespace restart::ckpt::kinds {
namespace {

struct KindWord {
    Known known;
    std::string_view word;
};
constexpr std::array<KindWord, 8> kind_words{{{Known::automatic, "auto"},
                                              {Known::railckpt, "railckpt"},
                                              {Known::megatron, "megatron"},
                                              {Known::deepspeed, "deepspeed"},
                                              {Known::dcp, "dcp"},
                                              {Known::nemo, "nemo"},
                                              {Known::lightning, "lightning"},
                                              {Known::orbax, "orbax"}}};
constexpr std::string_view glob_prefix = "glob:";

} // namespace

base::Expected<Kind> parse_kind(std::string_view text) {
    for (const auto& row : kind_words)
        if (text == row.word) return Kind{row.known};
    if (!text.starts_with(glob_prefix))
        return base::Error{base::Code::usage,
                           fmt::format("\"{}\" is not a kind of checkpoints: write auto, railckpt, megatron, "
                                       "deepspeed, dcp, nemo, lightning, orbax or glob:PATTERN",
                                       base::printable(text, 100))};
    const auto pattern = text.substr(glob_prefix.size());
    if (pattern.empty() || pattern.size() > 255 || pattern.find('/') != std::string_view::npos)
        return base::Error{base::Code::usage,
                           fmt::format("\"{}\": after glob: a pattern of names in the directory is wanted, "
                                       "without a slash, such as glob:step_*.pt",
                                       base::printable(text, 100))};
    return Kind{Known::glob, std::string(pattern)};
}

std::string to_string(const Kind& kind) {
    if (kind.known == Known::glob) return std::string(glob_prefix) + kind.pattern;
    for (const auto& row : kind_words)
        if (row.known == kind.known) return std::string(row.word);
    return {};
}

} // namespace restart::ckpt::kinds
