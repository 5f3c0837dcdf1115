// The result of a preflight: the checks of a job's hosts before its script begins (railrun(1), --preflight).
// Pure. A host fails only if a check ran and found it bad: a host that did not answer, could not be tried or
// hung is named, and the job starts there.
#pragma once

#include "restart/run/seats.hpp"
#include "restart/wire/check_word.hpp"

#include <set>
#include <string>
#include <vector>

namespace restart::run {

// What arrived in time.
struct Heard {
    std::vector<CheckWord> words; // in order of arrival
    std::string trouble;          // of the step as a whole; empty: it ended successfully
    double seconds = 0;
    bool in_time = true;
};

struct Found {
    std::set<std::string> failed;   // hosts
    std::vector<std::string> lines; // for the job's user: failed hosts, and what could not be tried
    std::string verdict;            // a phrase: "n3 fails", "all pass"
    std::vector<CheckWord> words;   // for hosts of the job, the worst first
};

// `seats`: all hosts that were tried. If more than a quarter of them fail (with few hosts one is allowed), no
// host is to blame: then none fails.
Found find_failed(const Heard& heard, const Seats& seats);

// The seats after spares that passed have replaced failed ranks, which become the last spares. Errors
// (Code::unfit): too few spares.
base::Expected<Seats> without_failed(const Seats& seats, const std::set<std::string>& failed);

// For the agent, limited to the length of a job's line. `level` is railcheck's.
Preflight to_tell(const Found& found, int level, bool requeue);

} // namespace restart::run
