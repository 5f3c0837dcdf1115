// What esub.rail does with a submission to LSF: reject it with a sentence, leave it unchanged, or rewrite it.
// Pure.
#pragma once

#include "base/expected.hpp"
#include "sched/ask/capacity.hpp"
#include "sched/ask/hints.hpp"
#include "sched/lsf/parameters.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sched::lsf {

// Longer commands overflow a buffer in bsub's programs: 4096 bytes, seen on the engine.
inline constexpr std::size_t longest_command = 4000;

// A script read by bsub from its standard input.
struct Script {
    std::string name; // file name without folders; empty: there is none
    std::string text;
};

struct Site {
    std::vector<std::string> parking_queues; // where jobs wait to be placed by restartd
    std::string program;                     // path of rail-lsf-run on the job's hosts
    std::optional<Capacity> capacity;        // of the fabric; nothing: unknown, and nothing is too large
    // Returns the content of bsub's standard input; called if LSF has joined the lines of a script. Nothing:
    // it cannot be read again. Empty function: it never can.
    std::function<std::optional<Script>()> input{};
    bool held = false; // gangs wait held in the parking queues (bsub -H)
};

// The value of a variable of the submission's environment; null: not set.
using Getenv = std::function<const char*(const char*)>;

// The flags from RAIL_* variables, overridden by those in bsub's -a "rail(span=unit,ckpt=/r7)": span,
// segment, spares, order, restart, restart_max, restart_on, ckpt. LSF splits these at commas, so a word
// without = continues the previous one; "-r", which LSF itself adds, is skipped. Empty variables count as not
// set. Errors (Code::usage): those of set_hint(), and an unknown flag.
base::Expected<Hints> flags_of(const std::vector<std::string>& words, const Getenv& get);
// The same for a preflight (RAIL_PREFLIGHT, preflight=); empty: none. Errors: those of parse_preflight().
base::Expected<std::string> preflight_of(const std::vector<std::string>& words, const Getenv& get);

// The number of slots on each host in a resource requirement: "span[ptile=8]".
struct Ptile {
    bool one_host = false;   // span[hosts=1]
    std::uint64_t slots = 0; // 0: not given, or in a form that only LSF can evaluate
    bool operator==(const Ptile&) const = default;
};
Ptile ptile_of(std::string_view requirement);

// Whether LSF produced this line by joining the lines of this script with ; and blanks.
bool was_joined_from(std::string_view line, std::string_view script);

struct Rewritten {
    Parameters changes; // for LSB_SUB_MODIFY_FILE; empty: no change
    std::string note;   // for the user; empty: none
};

// `job`: the submission, including changes by other esubs. Left unchanged: a job without flags that is in no
// parking queue. Inside a Railyard job, inherited placement flags have no effect in another queue. Errors are
// for the user: contradictory flags, what can never be placed (judge_flags.hpp), a command that cannot be
// passed on, hosts or a queue that Railyard cannot place. `preflight`: as returned by preflight_of().
base::Expected<Rewritten> rewrite(const Parameters& job, const Hints& hints, const Site& site,
                                  const Getenv& get, const std::string& preflight = {});

} // namespace sched::lsf
