// A fabric from a text of any known format, which is detected from its content.
#pragma once

#include "base/expected.hpp"
#include "topo/read/assemble.hpp"
#include "topo/read/rules.hpp"

#include <cstdint>
#include <string_view>

namespace topo {

enum class SourceFormat : std::uint8_t { automatic, ibnetdiscover, ibsim, opensm, slurm, lsf };

// "auto", "ibnetdiscover", "ibsim", "opensm", "slurm", "lsf"; nullopt for other words.
std::optional<SourceFormat> parse_source_format(std::string_view word);
std::string_view to_string(SourceFormat format);

// By the first line that is neither empty, nor a comment, nor a warning; ibnetdiscover when in doubt.
SourceFormat detect_format(std::string_view text);

// The fabric, with source "FORMAT, NAME". Rules (may be null) do not touch fabrics without rails. Errors
// (Code::input) name the file, the line and the token.
base::Expected<Assembly> read_source(std::string_view text, std::string_view name, SourceFormat format,
                                     const Rules* rules = nullptr);

} // namespace topo
