// railrun's own words, which precede the command.
#pragma once

#include "base/cli.hpp"
#include "base/clock.hpp"
#include "base/expected.hpp"
#include "sched/ask/preflight_wish.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace restart::run {

struct RunOptions {
    bool warm = false;
    std::uint64_t warm_most = 0; // bytes to read on a spare
    std::optional<std::uint64_t> max_restarts;
    base::Duration settle{};
    std::optional<sched::PreflightWish> preflight; // set if spank_rail runs this before the script
    std::string railcheck;
    std::optional<std::uint64_t> read_ahead; // set in the helper on a spare: the number of bytes to read
};

// As typed.
struct Arguments {
    bool warm = false;
    std::string warm_most = "16G", max_restarts, settle = "5s", read_ahead, preflight, railcheck;
};
void declare(base::Cli& cli, Arguments& arguments);

// Errors (Code::usage) name the option.
base::Expected<RunOptions> read(const Arguments& arguments);

// railrun's words and the command's: the command begins with the first word that is neither an option nor an
// option's value, or after "--". `own` begins with the program's name.
struct Split {
    std::vector<std::string> own, command;
};
Split split_words(int argc, const char* const* argv);

// "500M", "16G": powers of 1024; at least 1. Error: Code::usage.
base::Expected<std::uint64_t> parse_bytes(std::string_view text);

} // namespace restart::run
