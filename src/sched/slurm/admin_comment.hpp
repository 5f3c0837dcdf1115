// Railyard's data in a job's admin_comment: parts "LABEL: TEXT", separated by ';'; other text, from an
// administrator, is kept.
//
// "railyard: span=unit@2h segment=4 spares=1 order=tree keep=no restart=auto restart-max=5 restart-on=any
// no-kill=yes ckpt-dir=/scratch/run7 ckpt-kind=dcp ckpt-signal=USR1@ranks" holds the flags: keys in this
// order, only those that were given; no-kill beside others only. In ckpt-dir, ckpt-kind and ckpt-signal,
// bytes below 0x21, above 0x7e, '%' and ';' are %XX. The other labels are messages to the job's user, and to
// all who can read the job.
#pragma once

#include "base/expected.hpp"
#include "sched/ask/hints.hpp"
#include "sched/say/words.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sched {

// From a comment's railyard part; empty hints if there is none. Unknown keys are skipped, so that an older
// reader can read text from a newer writer. Errors (Code::input) name the key.
base::Expected<Hints> parse_comment(std::string_view comment);

// `before` with these hints (its own railyard part is replaced, other text kept).
std::string merge_comment(std::string_view before, const Hints& hints);

inline constexpr std::string_view why_label = "railyard-why:"; // why it waits, while it does
// Which jobs it preempted, or which job preempted it: written by the plugin in slurmctld.
inline constexpr std::string_view preempted_label = "railyard-preempted:";
inline constexpr std::string_view told_label = "railyard-told:"; // what happened when a host of it failed

// The start that this job replaces: restartd submitted it again because slurmctld had lost that job. "12.1
// 1732723200": job, restart count and time of submission.
inline constexpr std::string_view again_label = "railyard-again:";

// The hosts of a start of the job; restartd writes them when that start has ended and the next one should get
// them again: "railyard-had: start=0 n[1-4]". The start is its restart count.
inline constexpr std::string_view had_label = "railyard-had:";
inline constexpr std::size_t longest_had = 4000; // bytes of the list; longer lists are not written

// The comment with these hosts in its part, or without that part if the list would be too long.
std::string with_had(std::string_view comment, std::uint32_t start, const std::vector<std::string>& hosts);
// The hosts of the start before the one with this restart count; none if the part is about another.
std::vector<std::string> had_in(std::string_view comment, std::uint32_t restarts);

// In the comment that squeue shows with format %k, which otherwise is the user's: the last action.
inline constexpr std::string_view comment_label = "railyard:";

// The text of the part; "" if there is none. All other parts remain unchanged.
std::string_view part_in(std::string_view comment, std::string_view label);
std::string_view why_in(std::string_view comment);

// The comment with this text in its part, at the end if it had none; "" removes the part, including the
// separator before it. In the text ';' becomes ',', control characters become spaces, and it is truncated to
// `most` bytes.
std::string with_part(std::string_view comment, std::string_view label, std::string_view text,
                      std::size_t most = longest_shown);
std::string with_why(std::string_view comment, std::string_view text);

} // namespace sched
