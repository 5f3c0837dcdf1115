// A fabric from a text of any known format, which is detected from its content.
#pragma once

#include "base/expected.hpp"
#include "topo/read/assemble.hpp"
#include "topo/read/outline.hpp"
#include "topo/read/rules.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace topo {

enum class SourceFormat : std::uint8_t {
    automatic,
    ibnetdiscover,
    iblinkinfo,
    ibsim,
    opensm,
    net_dump,
    db_csv,
    ufm,
    slurm,
    lsf
};

// "auto", "ibnetdiscover" and so on; nullopt for other words.
std::optional<SourceFormat> parse_source_format(std::string_view word);
std::string_view to_string(SourceFormat format);

// By the first line with which a text of one of them can begin; automatic when there is none.
SourceFormat detect_format(std::string_view text);

// The fabric, with source "FORMAT, NAME". What a terminal or a log put in front of the text and behind it
// (clean.hpp) is passed over, and said in Assembly::notes. Rules (may be null) do not touch fabrics without
// rails. Errors (Code::input) name the file, the line and the token; a text that is none of them gets the
// list of what is accepted.
base::Expected<Assembly> read_source(std::string_view text, std::string_view name, SourceFormat format,
                                     const Rules* rules = nullptr);

// The blocks of a topology.conf or topology.yaml of Slurm, or of what scontrol show topology prints, found in
// the text as read_source() does. Errors (Code::input) as above, and of a text that has none.
base::Expected<Outline> read_blocks(std::string_view text, std::string_view name);

} // namespace topo
