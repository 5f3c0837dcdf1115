// A job's flags, however the resource manager carries them from submission to restartd (Slurm:
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

// After which of its own failures a job is restarted (--restart-on). Failures caused by a host are not the
// job's own, and always lead to a restart.
struct RestartOn {
    struct Codes {
        std::uint8_t first = 0, last = 0;
        bool operator==(const Codes&) const = default;
    };
    std::vector<Codes> codes; // ranges, in ascending order; empty: --restart-on=host
    bool matches(std::uint32_t code) const;
    bool operator==(const RestartOn&) const = default;
};

// A job that ends with this exit status is finished: it is never restarted.
inline constexpr std::uint32_t no_restart_code = 93;

// "host"; "any", every status except 0 and no_restart_code; or statuses and ranges, "1,40-50,137": from 1 to
// 255, or a signal's number + 128 if a signal ended the script. Errors: Code::input.
base::Expected<RestartOn> parse_restart_on(std::string_view text);
std::string to_string(const RestartOn& on); // in the format of parse_restart_on()

struct Hints {
    std::optional<Span> span{};
    // The span is a wish for this long, then any span is accepted; only with span.
    std::optional<base::Duration> span_wait{};
    std::optional<std::uint32_t> segment{};      // hosts, at least 1
    std::vector<std::uint32_t> outer_segments{}; // as in Request; only with segment
    std::optional<std::uint32_t> spares{};       // hosts
    std::optional<RankOrder> order{};
    // --rail-keep: whether a restarted job is kept on its previous hosts (Request::had); unset: it is.
    std::optional<bool> keep{};
    std::optional<bool> restart{};              // --restart=auto is true, never is false
    std::optional<std::uint32_t> restart_max{}; // own failures after which it is held, at least 1
    std::optional<RestartOn> restart_on{};
    bool no_kill = false; // not a Railyard flag: sbatch --no-kill, which Slurm does not report later
    std::optional<std::string> ckpt_dir{}; // absolute, at most 4095 bytes, no control characters
    // --ckpt-kind: the layout of the checkpoints that the program itself writes (base/ckpt_kind.hpp)
    std::optional<std::string> ckpt_kind{};
    // --ckpt-signal: how the program is asked to save (base/ckpt_signal.hpp)
    std::optional<std::string> ckpt_signal{};

    bool empty() const { return *this == Hints{}; }
    bool operator==(const Hints&) const = default;
};

// The flags, as users give them: "rail-span", "rail-segment", "rail-spares", "rail-order", "restart",
// "rail-keep", "restart-max", "restart-on", "ckpt-dir", "ckpt-kind", "ckpt-signal".
std::span<const std::string_view> hint_flags();

// Sets one flag as typed by a user; `flag` is one of hint_flags(). Errors (Code::usage) give flag, value and
// what is allowed: "--rail-span=rack: must be domain, unit, pod or fabric, or one of these with @WAIT".
base::Expected<void> set_hint(Hints& hints, std::string_view flag, std::string_view value);

// A time in sbatch's format ("90" and "90:00" are 90 minutes, "2:00:00", "1-0" a day: sbatch(1), --time) or
// with a unit ("90s", "30m", "2h", "1d"). At least one second. Errors: Code::input.
base::Expected<base::Duration> parse_wait(std::string_view text);

// Applies the flags to a placement, for a job that has been eligible to run for this long: sets span,
// segment, spares and order of the request, clears its previous hosts if it must not be kept on them, and
// leaves the rest unchanged. A wish ends after its wait; returns the remaining time of the wish, or nothing
// if the span is hard or not set.
std::optional<base::Duration> apply_hints(const Hints& hints, base::Duration waited, Request& request);

// The sizes of segments as typed by users: "2:8:32"; empty: none.
std::string segments_text(const Hints& hints);

// The environment variable that carries a flag: RAIL_SPAN, RAIL_SEGMENT, RAIL_SPARES, RAIL_ORDER,
// RAIL_KEEP, RAIL_RESTART, RAIL_RESTART_MAX, RAIL_RESTART_ON, RAIL_CKPT_DIR, RAIL_CKPT_KIND,
// RAIL_CKPT_SIGNAL.
std::string_view hint_variable(std::string_view flag);

} // namespace sched
