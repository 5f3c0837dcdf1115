// What railplan knows about sbatch(1), Slurm 22.05 to 24.11: the options it ignores, and #SBATCH lines.
#pragma once

#include "base/expected.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sched::tool {

// An option that railplan ignores.
struct SbatchOption {
    std::string_view name; // the long one
    char letter = 0;       // 0: none
    bool value = true;     // requires one; else it may be given as --name=value or without
    bool narrows = false;  // affects which hosts are candidates inside Slurm
};
std::span<const SbatchOption> passed_over_options();

// The words of one line as split by sbatch: at white space, with quotes (' and ") and \ removed; # begins a
// comment. Error (Code::input): a quote is not closed.
base::Expected<std::vector<std::string>> split_words(std::string_view line);

// The options in a script: its "#SBATCH OPTIONS" lines before the first command.
struct ScriptLine {
    std::size_t number = 0; // from 1
    std::string_view text;  // after #SBATCH; a view of the script's text
};
std::vector<ScriptLine> sbatch_lines(std::string_view script);

} // namespace sched::tool
