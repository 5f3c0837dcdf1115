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

// Based on the first line with which a text in one of them can begin; automatic if there is none.
SourceFormat detect_format(std::string_view text);

// The fabric, with source "FORMAT, NAME". Other text that a terminal or a log has put before and after it
// (clean.hpp) is skipped, with a note in Assembly::notes. Rules (may be null) are not applied to fabrics
// without rails. Errors (Code::input) give the file, the line and the token; for a text in no known format,
// the list of accepted ones.
base::Expected<Assembly> read_source(std::string_view text, std::string_view name, SourceFormat format,
                                     const Rules* rules = nullptr);

// The blocks in Slurm's topology.conf or topology.yaml, or in the output of scontrol show topology, found in
// the text as in read_source(). Errors (Code::input) as above, and for a text without blocks.
base::Expected<Outline> read_blocks(std::string_view text, std::string_view name);

} // namespace topo
