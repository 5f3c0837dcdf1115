// How long a user's program takes from the start of its job until it works: it is launched, loads its
// checkpoint, builds what it needs, and has made its first step. That is a part of what a move costs, and of
// what a failure costs beside the lost work.
//
// Known of jobs whose processes make step marks (railckpt_mark), by their user and --job-name. A start that
// followed another start of the same job loads a checkpoint; those are believed alone where there are any. A
// commit says nothing of it: how much work came before it is not known. Pure.
#pragma once

#include "base/clock.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace restart {

struct ProgramStarts {
    std::vector<base::Duration> first; // of jobs that were started for the first time; newest last
    std::vector<base::Duration> again; // of jobs that had been started before, likewise
    base::Time last{};                 // when the newest of all came
    bool operator==(const ProgramStarts&) const = default;
};

// By "uid/job name".
using Programs = std::map<std::string, ProgramStarts, std::less<>>;

inline constexpr std::size_t most_programs = 256; // of more the oldest of the user who has most is forgotten
inline constexpr std::size_t most_starts = 10;    // of each kind, the newest
inline constexpr std::size_t longest_title = 64;  // bytes of a job's name that count
// What takes longer was no start: somebody did something else before the first step.
inline constexpr base::Duration longest_start = std::chrono::hours(12);

// A job of this user and name made its first step `took` after its start. One without a name, or with a time
// below zero or above longest_start, counts for nothing.
void count_start(Programs& programs, std::uint32_t uid, std::string_view title, bool again,
                 base::Duration took, base::Time now);

// What is believed of a program.
struct ProgramTime {
    base::Duration time{};
    std::size_t count = 0; // of starts that were measured; 0: the configured time
    bool again = false;    // they were restarts
};
ProgramTime program_time(const Programs& programs, std::uint32_t uid, std::string_view title,
                         base::Duration configured);

// "as 3 restarts of its name took on average", "[restart] restart_time".
std::string source_of(const ProgramTime& time);

} // namespace restart
