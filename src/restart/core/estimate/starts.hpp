// How long a user's program takes from the start of its job until it works: it is launched, loads its
// checkpoint, builds what it needs, and completes its first step. This is part of what a move costs, and of
// what a failure costs in addition to the lost work.
//
// Known for jobs whose processes make step marks (railckpt_mark), by their user and --job-name. A start that
// followed another start of the same job loads a checkpoint; if there are any such starts only they are used.
// A commit does not show it: how much work came before it is not known. Pure.
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
    std::vector<base::Duration> first; // of jobs started for the first time; newest last
    std::vector<base::Duration> again; // of jobs that had been started before; newest last
    base::Time last{};                 // when the newest of all came
    bool operator==(const ProgramStarts&) const = default;
};

// By "uid/job name".
using Programs = std::map<std::string, ProgramStarts, std::less<>>;

inline constexpr std::size_t most_programs = 256; // of more, the oldest of the user with most is forgotten
inline constexpr std::size_t most_starts = 10;    // of each kind, the newest
inline constexpr std::size_t longest_title = 64;  // bytes of a job's name that count
// A longer time was not a start: something else was done before the first step.
inline constexpr base::Duration longest_start = std::chrono::hours(12);

// A job of this user and name completed its first step `took` after its start. Ignored without a name, or
// with a time below zero or above longest_start.
void count_start(Programs& programs, std::uint32_t uid, std::string_view title, bool again,
                 base::Duration took, base::Time now);

// The time assumed for a program.
struct ProgramTime {
    base::Duration time{};
    std::size_t count = 0; // of measured starts; 0: the configured time
    bool again = false;    // they were restarts
};
ProgramTime program_time(const Programs& programs, std::uint32_t uid, std::string_view title,
                         base::Duration configured);

// "as 3 restarts of its name took on average", "[restart] restart_time".
std::string source_of(const ProgramTime& time);

} // namespace restart
