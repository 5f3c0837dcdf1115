// A job's flags within its own command line: the only text that LSF keeps from bsub until the job ends, shows
// to everyone (bjobs -UF) and passes to the job:
//
//   /usr/bin/rail-lsf-run --rail-span=unit --ckpt-dir=/scratch/r7 --restart=auto --line=./train.sh%20--lr%203
//
// esub.rail writes it, rail-lsf-run executes it, restartd reads the flags back. The flags are sbatch's
// (hints.hpp), followed by the user's complete line. Each byte of a value other than A-Z a-z 0-9 _ . / : = ,
// + @ - is written as % and two hexadecimal digits, including % itself: what remains survives shells, the
// files between LSF and an esub (whose strings cannot contain a quotation mark) and bjobs' tables. Pure.
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
    Hints hints;         // all except no_kill, which LSF does not have
    std::string line;    // what /bin/sh must execute, as LSF would have; any bytes except NUL
    bool reruns = false; // LSF restarts it automatically when its first host is lost (bsub -r)
    // The user submitted it held (bsub -H): --hold=user, before the line. It is recorded if esub.rail holds
    // all gangs: otherwise the user's hold could not be distinguished.
    bool held = false;
    std::string preflight{}; // as for parse_preflight(); empty: its hosts are not checked
    bool operator==(const JobLine&) const = default;
};

// The line with these flags for what the user gave. `program`: path of rail-lsf-run. If `original` is already
// such a line, it is parsed first: its own line is kept, and so are its flags that are not in `hints`.
std::string job_line(const Hints& hints, std::string_view original, std::string_view program);
// The same for a line that is taken as is.
std::string job_line(const JobLine& job, std::string_view program);

// `hints`, with each flag that is set in `newer` replaced.
Hints renewed(Hints hints, const Hints& newer);

// Nothing: another or a damaged line. The program may be in any folder, words may be in single quotes, and an
// unknown flag, from a newer esub.rail, is skipped.
std::optional<JobLine> parse_job_line(std::string_view text);

// The flags and their values in set_hint()'s format, in the order in which they appear in a line.
std::vector<std::pair<std::string_view, std::string>> flags_in(const Hints& hints);

// Encodes a blank as "%20" and so on, as in a line's values; and decodes it: nothing for a % without two
// digits after it, a byte that must be encoded, or an encoded NUL.
std::string encode_value(std::string_view value);
std::optional<std::string> decode_value(std::string_view text);

} // namespace sched::lsf
