// What comes of a preflight: the checks of a job's hosts before its script begins (railrun(1), --preflight).
// Pure. A host fails by a check that ran and found it bad, by nothing else: who did not answer, could not be
// tried or hung is named, and the job starts there.
#pragma once

#include "restart/run/seats.hpp"
#include "restart/wire/check_word.hpp"

#include <set>
#include <string>
#include <vector>

namespace restart::run {

// What was heard in time.
struct Heard {
    std::vector<CheckWord> words; // as they came
    std::string trouble;          // of the step as a whole; empty: it ended well
    double seconds = 0;
    bool in_time = true;
};

struct Found {
    std::set<std::string> failed;   // hosts
    std::vector<std::string> lines; // for the job's user: who fails, and what could not be tried
    std::string verdict;            // a phrase: "n3 fails", "all pass"
    std::vector<CheckWord> words;   // of hosts of the job, the worst first
};

// `seats`: all hosts that were tried. More than a quarter of them (of few hosts one) is no host's fault:
// then nobody fails.
Found find_failed(const Heard& heard, const Seats& seats);

// The seats with spares that passed in the places of ranks that failed, which stand last among the spares
// then. Errors (Code::unfit): too few spares.
base::Expected<Seats> without_failed(const Seats& seats, const std::set<std::string>& failed);

// For the agent, as much as a line of a job holds. `level` is railcheck's.
Preflight to_tell(const Found& found, int level, bool requeue);

} // namespace restart::run
