// What becomes of a submission to LSF in esub.rail: refused with a sentence, left as it is, or rewritten.
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

// What bsub's programs overwrite a buffer with beyond it: 4096 bytes, on the engine.
inline constexpr std::size_t longest_command = 4000;

// A script that bsub reads from its standard input.
struct Script {
    std::string name; // of its file, without folders; empty: it has none
    std::string text;
};

struct Site {
    std::vector<std::string> parking_queues; // in which jobs wait for restartd to place them
    std::string program;                     // rail-lsf-run, its path on the job's hosts
    std::optional<Capacity> capacity;        // of the fabric; nothing: not known, and nothing is too large
    // What bsub's standard input holds, called where LSF has joined the lines of a script; nothing: that
    // cannot be read again. Empty: it never can.
    std::function<std::optional<Script>()> input{};
    bool held = false; // gangs wait held in the parking queues (bsub -H)
};

// The value of a variable of the submission's environment; null: not set.
using Getenv = std::function<const char*(const char*)>;

// The flags of RAIL_* variables and, before these, of the words of bsub's -a "rail(span=unit,ckpt=/r7)":
// span, segment, spares, order, restart, restart_max, restart_on, ckpt. LSF parts them at commas, so that a
// word without = goes on with the one before it; "-r", which LSF itself gives, is passed over. Empty
// variables count as not set. Errors (Code::usage): those of set_hint(), and a word that is no flag.
base::Expected<Hints> flags_of(const std::vector<std::string>& words, const Getenv& get);
// Likewise what they say of a preflight (RAIL_PREFLIGHT, preflight=); empty: nothing. Errors: those of
// parse_preflight().
base::Expected<std::string> preflight_of(const std::vector<std::string>& words, const Getenv& get);

// The slots of each host that a resource requirement asks for: "span[ptile=8]".
struct Ptile {
    bool one_host = false;   // span[hosts=1]
    std::uint64_t slots = 0; // 0: it does not say, or in a form that needs LSF to know
    bool operator==(const Ptile&) const = default;
};
Ptile ptile_of(std::string_view requirement);

// Whether this is the script whose lines LSF has joined, by ; and blanks, to this line.
bool was_joined_from(std::string_view line, std::string_view script);

struct Rewritten {
    Parameters changes; // for LSB_SUB_MODIFY_FILE; empty: the submission stays as it is
    std::string note;   // for the user; empty: none
};

// `job`: what is submitted, what other esubs have changed included. Left as it is: a job without flags that
// goes to no parking queue. Within a job of Railyard's a wish for hosts that is inherited has
// no effect in another queue. Errors are for the user: what the flags contradict, what can never be placed
// (judge_flags.hpp), a command that cannot be carried, hosts or a queue that Railyard cannot place.
// `preflight`: as preflight_of() has it.
base::Expected<Rewritten> rewrite(const Parameters& job, const Hints& hints, const Site& site,
                                  const Getenv& get, const std::string& preflight = {});

} // namespace sched::lsf
