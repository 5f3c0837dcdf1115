// What a job's flags say, as it travels: sbatch options → environment of the submission → the job's
// admin_comment in slurmctld → restartd. The syntax is in hints(…) below and in spank_rail(8).
//
// admin_comment carries one part "railyard: span=unit@2h segment=4 spares=1 order=tree restart=auto
// ckpt-dir=/scratch/run7": keys in this order, only those that were given. In ckpt-dir, bytes below 0x21,
// above 0x7e, '%' and ';' are %XX.
// Text before it, from an administrator, is kept, separated by "; ".
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "sched/request.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sched {

struct Hints {
    std::optional<Span> span{};
    // The span is a wish for so long, then any will do; only with span.
    std::optional<base::Duration> span_wait{};
    std::optional<std::uint32_t> segment{}; // hosts, at least 1
    std::optional<std::uint32_t> spares{};  // hosts
    std::optional<RankOrder> order{};
    std::optional<bool> restart{};         // --restart=auto is true, never is false
    std::optional<std::string> ckpt_dir{}; // absolute, at most 4095 bytes, no control characters

    bool empty() const { return *this == Hints{}; }
    bool operator==(const Hints&) const = default;
};

// The flags, as sbatch has them: "rail-span", "rail-segment", "rail-spares", "rail-order", "restart",
// "ckpt-dir".
std::span<const std::string_view> hint_flags();

// One flag as a user typed it; `flag` is one of hint_flags(). Errors (Code::usage) name flag, value and what
// is allowed: "--rail-span=rack: must be unit, pod or fabric, or one of these with @WAIT".
base::Expected<void> set_hint(Hints& hints, std::string_view flag, std::string_view value);

// A time as sbatch takes them ("90" and "90:00" are 90 minutes, "2:00:00", "1-0" a day: sbatch(1), --time) or
// with a unit ("90s", "30m", "2h", "1d"). At least a second. Errors: Code::input.
base::Expected<base::Duration> parse_wait(std::string_view text);

// The span to place a job with that became eligible to run so long ago: a wish ends after its wait.
Span span_after(const Hints& hints, base::Duration waited);

// The environment variable that carries a flag: RAIL_SPAN, RAIL_SEGMENT, RAIL_SPARES, RAIL_ORDER,
// RAIL_RESTART, RAIL_CKPT_DIR.
std::string_view hint_variable(std::string_view flag);

// From a comment's railyard part; empty hints when there is none. Unknown keys are passed over, so that an
// older reader understands a newer writer. Errors (Code::input) name the key.
base::Expected<Hints> parse_comment(std::string_view comment);

// `before` (its own railyard part replaced, other text kept) with these hints.
std::string merge_comment(std::string_view before, const Hints& hints);

} // namespace sched
