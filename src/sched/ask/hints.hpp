// What a job's flags say, however the resource manager carries them from the submission to restartd (Slurm:
// sched/slurm/admin_comment.hpp). The syntax is in set_hint() below and in spank_rail(8).
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "sched/ask/request.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sched {

// After which of its own failures a job is started again (--restart-on). A failure that a host caused is none
// of the job's own, and always is a reason to.
struct RestartOn {
    struct Codes {
        std::uint8_t first = 0, last = 0;
        bool operator==(const Codes&) const = default;
    };
    std::vector<Codes> codes; // ranges, in ascending order; empty: --restart-on=host
    bool matches(std::uint32_t code) const;
    bool operator==(const RestartOn&) const = default;
};

// A job that ends with this exit status is over: nothing starts it again.
inline constexpr std::uint32_t no_restart_code = 93;

// "host"; "any", every status but 0 and no_restart_code; or statuses and ranges of them, "1,40-50,137": from
// 1 to 255, a signal's number + 128 where one ended the script. Errors: Code::input.
base::Expected<RestartOn> parse_restart_on(std::string_view text);
std::string to_string(const RestartOn& on); // as parse_restart_on() reads it

struct Hints {
    std::optional<Span> span{};
    // The span is a wish for so long, then any will do; only with span.
    std::optional<base::Duration> span_wait{};
    std::optional<std::uint32_t> segment{};      // hosts, at least 1
    std::vector<std::uint32_t> outer_segments{}; // as Request's; only with segment
    std::optional<std::uint32_t> spares{};       // hosts
    std::optional<RankOrder> order{};
    // --rail-keep: whether a job that starts again is kept on the hosts it had (Request::had); unset: it is.
    std::optional<bool> keep{};
    std::optional<bool> restart{};              // --restart=auto is true, never is false
    std::optional<std::uint32_t> restart_max{}; // failures of its own after which it is held, at least 1
    std::optional<RestartOn> restart_on{};
    bool no_kill = false; // no flag of ours: sbatch --no-kill, which Slurm shows nobody later
    std::optional<std::string> ckpt_dir{}; // absolute, at most 4095 bytes, no control characters
    // --ckpt-kind: the layout in which the program itself keeps them (base/ckpt_kind.hpp)
    std::optional<std::string> ckpt_kind{};
    // --ckpt-signal: how the program is asked to save (base/ckpt_signal.hpp)
    std::optional<std::string> ckpt_signal{};

    bool empty() const { return *this == Hints{}; }
    bool operator==(const Hints&) const = default;
};

// The flags, as users give them: "rail-span", "rail-segment", "rail-spares", "rail-order", "restart",
// "rail-keep", "restart-max", "restart-on", "ckpt-dir", "ckpt-kind", "ckpt-signal".
std::span<const std::string_view> hint_flags();

// One flag as a user typed it; `flag` is one of hint_flags(). Errors (Code::usage) name flag, value and what
// is allowed: "--rail-span=rack: must be domain, unit, pod or fabric, or one of these with @WAIT".
base::Expected<void> set_hint(Hints& hints, std::string_view flag, std::string_view value);

// A time as sbatch takes them ("90" and "90:00" are 90 minutes, "2:00:00", "1-0" a day: sbatch(1), --time) or
// with a unit ("90s", "30m", "2h", "1d"). At least a second. Errors: Code::input.
base::Expected<base::Duration> parse_wait(std::string_view text);

// What the flags ask of a placement, for a job that became eligible to run so long ago: sets span, segment,
// spares and order of the request, takes out the hosts it had where it is not to be kept on them, and leaves
// the rest. A wish ends after its wait; how long it will still be
// one is returned, nothing when the span is hard or none.
std::optional<base::Duration> apply_hints(const Hints& hints, base::Duration waited, Request& request);

// The sizes of segments as users give them: "2:8:32"; empty: none.
std::string segments_text(const Hints& hints);

// The environment variable that carries a flag: RAIL_SPAN, RAIL_SEGMENT, RAIL_SPARES, RAIL_ORDER,
// RAIL_KEEP, RAIL_RESTART, RAIL_RESTART_MAX, RAIL_RESTART_ON, RAIL_CKPT_DIR, RAIL_CKPT_KIND,
// RAIL_CKPT_SIGNAL.
std::string_view hint_variable(std::string_view flag);

} // namespace sched
