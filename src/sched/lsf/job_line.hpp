// A job's flags within its own command line, the one text that LSF keeps of a job from bsub to its end, shows
// to all (bjobs -UF) and gives back to the job:
//
//   /usr/bin/rail-lsf-run --rail-span=unit --ckpt-dir=/scratch/r7 --restart=auto --line=./train.sh%20--lr%203
//
// esub.rail writes it, rail-lsf-run executes it, restartd reads the flags back. The flags are sbatch's
// (hints.hpp); then comes the line that the user gave, whole. Each byte of a value that is none of
// A-Z a-z 0-9 _ . / : = , + @ - is % and two hexadecimal digits, % itself as well: no shell, no file that LSF
// hands to an esub (its strings cannot hold a quotation mark) and no table of bjobs changes what is left.
// Pure.
#pragma once

#include "base/expected.hpp"
#include "sched/ask/hints.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sched::lsf {

struct JobLine {
    Hints hints;         // all but no_kill, which LSF does not have
    std::string line;    // what /bin/sh is to execute, as LSF would have; any bytes but NUL
    bool reruns = false; // LSF starts it again by itself when its first host is lost (bsub -r)
    // Its user submitted it held (bsub -H): --hold=user, before the line. Said where esub.rail holds all
    // gangs, whose holds could not be told from his otherwise.
    bool held = false;
    std::string preflight{}; // as parse_preflight() takes it; empty: its hosts are not tried
    bool operator==(const JobLine&) const = default;
};

// The line with these flags for what the user gave. `program`: rail-lsf-run's path. An `original` that is
// such a line already is taken apart first: its own line is kept, and so are those of its flags that `hints`
// lacks.
std::string job_line(const Hints& hints, std::string_view original, std::string_view program);
// The same of a line that is taken as it is.
std::string job_line(const JobLine& job, std::string_view program);

// `hints` with those of `newer` in place of its own, flag by flag.
Hints renewed(Hints hints, const Hints& newer);

// Nothing: another line, or a damaged one. The program may stand in any folder, words may be in single
// quotes, and a flag that is not known, of a newer esub.rail, is passed over.
std::optional<JobLine> parse_job_line(std::string_view text);

// The flags and their values as set_hint() takes them, in the order in which they stand in a line.
std::vector<std::pair<std::string_view, std::string>> flags_in(const Hints& hints);

// "%20" for a blank and so on, as in a line's values; and back: nothing for a % without two digits behind it,
// a byte that is never left as it is, or an encoded NUL.
std::string encode_value(std::string_view value);
std::optional<std::string> decode_value(std::string_view text);

} // namespace sched::lsf
