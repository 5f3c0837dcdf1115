// What a job's flags say, as it travels: sbatch options → environment of the submission → the job's
// admin_comment in slurmctld → restartd. The syntax is in hints(…) below and in spank_rail(8).
//
// admin_comment carries one part "railyard: span=unit restart=auto ckpt-dir=/scratch/run7": keys in this
// order, only those that were given. In ckpt-dir, bytes below 0x21, above 0x7e, '%' and ';' are %XX.
// Text before it, from an administrator, is kept, separated by "; ".
#pragma once

#include "base/expected.hpp"
#include "sched/request.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace sched {

struct Hints {
    std::optional<Span> span;
    std::optional<bool> restart;         // --restart=auto is true, never is false
    std::optional<std::string> ckpt_dir; // absolute, at most 4095 bytes, no control characters

    bool empty() const { return !span && !restart && !ckpt_dir; }
    bool operator==(const Hints&) const = default;
};

// One flag as a user typed it; `flag` is "rail-span", "restart" or "ckpt-dir". Errors (Code::usage) name
// flag, value and what is allowed: "--rail-span=rack: must be unit, pod or fabric".
base::Expected<void> set_hint(Hints& hints, std::string_view flag, std::string_view value);

// The environment variable that carries a flag: RAIL_SPAN, RAIL_RESTART, RAIL_CKPT_DIR.
std::string_view hint_variable(std::string_view flag);

// From a comment's railyard part; empty hints when there is none. Unknown keys are passed over, so that an
// older reader understands a newer writer. Errors (Code::input) name the key.
base::Expected<Hints> parse_comment(std::string_view comment);

// `before` (its own railyard part replaced, other text kept) with these hints.
std::string merge_comment(std::string_view before, const Hints& hints);

} // namespace sched
