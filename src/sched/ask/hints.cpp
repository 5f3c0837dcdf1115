#include "sched/ask/hints.hpp"

#include "base/ckpt_kind.hpp"
#include "base/ckpt_signal.hpp"
#include "base/split.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace sched {
namespace {

using base::Code;
using base::Error;
using base::Expected;
using base::next_part;

constexpr std::size_t longest_path = 4095;
constexpr std::uint64_t longest_wait_days = 3650;
constexpr std::uint32_t most_hosts = 1'000'000;
constexpr std::uint32_t most_restarts = 1'000;
constexpr std::size_t most_ranges = 32;

bool control(char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

// The problem with a checkpoint directory; empty if there is none.
std::string path_fault(std::string_view path) {
    if (path.empty() || path.front() != '/') return "must be an absolute path";
    if (path.size() > longest_path)
        return fmt::format("must be at most {} bytes long, has {}", longest_path, path.size());
    if (std::any_of(path.begin(), path.end(), control)) return "must not contain control characters";
    return {};
}

// The value for an error message: control characters shown as '?', long text truncated.
std::string shown(std::string_view value) {
    std::string text(value.substr(0, 200));
    std::replace_if(text.begin(), text.end(), control, '?');
    return value.size() > text.size() ? text + "..." : text;
}

// The flags and their environment variables.
struct Carrier {
    std::string_view flag, variable;
};
constexpr std::array carriers{
    Carrier{"rail-span", "RAIL_SPAN"},        Carrier{"rail-segment", "RAIL_SEGMENT"},
    Carrier{"rail-spares", "RAIL_SPARES"},    Carrier{"rail-order", "RAIL_ORDER"},
    Carrier{"restart", "RAIL_RESTART"},       Carrier{"restart-max", "RAIL_RESTART_MAX"},
    Carrier{"restart-on", "RAIL_RESTART_ON"}, Carrier{"ckpt-dir", "RAIL_CKPT_DIR"},
    Carrier{"ckpt-kind", "RAIL_CKPT_KIND"},   Carrier{"ckpt-signal", "RAIL_CKPT_SIGNAL"},
    Carrier{"rail-keep", "RAIL_KEEP"},
};
constexpr auto flag_names = [] {
    std::array<std::string_view, carriers.size()> names;
    for (std::size_t i = 0; i < names.size(); ++i)
        names[i] = carriers[i].flag;
    return names;
}();

// Slurm's time format: [days-]hours[:minutes[:seconds]] with days, else minutes, minutes:seconds or
// hours:minutes:seconds.
std::optional<std::uint64_t> slurm_seconds(std::string_view text) {
    std::uint64_t days = 0;
    const auto dash = text.find('-');
    const bool has_days = dash != std::string_view::npos;
    if (has_days) {
        const auto count = base::parse_count(text.substr(0, dash));
        if (!count || *count > longest_wait_days) return std::nullopt;
        days = *count;
        text.remove_prefix(dash + 1);
    }
    std::vector<std::uint64_t> parts;
    for (bool more = true; more;) {
        more = text.find(':') != std::string_view::npos;
        const auto count = base::parse_count(next_part(text, ':'));
        if (!count || *count > longest_wait_days * 86400) return std::nullopt;
        parts.push_back(*count);
    }
    if (parts.size() > 3) return std::nullopt;
    constexpr std::array<std::uint64_t, 3> from_hours{3600, 60, 1}, from_minutes{60, 1, 0};
    const auto& units = has_days || parts.size() == 3 ? from_hours : from_minutes;
    auto seconds = days * 86400;
    for (std::size_t i = 0; i < parts.size(); ++i)
        seconds += parts[i] * units[i];
    return seconds;
}

Expected<void> set_span(Hints& hints, std::string_view value) {
    const auto at = value.find('@');
    const auto span = parse_span(value.substr(0, at));
    if (!span)
        return Error{
            Code::usage,
            fmt::format("--rail-span={}: must be domain, unit, pod or fabric, or one of these with @WAIT",
                        shown(value))};
    std::optional<base::Duration> wait;
    if (at != std::string_view::npos) {
        const auto parsed = parse_wait(value.substr(at + 1));
        if (!parsed)
            return Error{Code::usage, fmt::format("--rail-span={}: {}", shown(value), parsed.error().text)};
        wait = *parsed;
    }
    hints.span = *span;
    hints.span_wait = wait;
    return {};
}

// One status or a range of them.
std::optional<RestartOn::Codes> parse_codes(std::string_view text) {
    const auto dash = text.find('-');
    const auto first = base::parse_count(text.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : base::parse_count(text.substr(dash + 1));
    if (!first || !last || *first < 1 || *last > 255 || *first > *last) return {};
    return RestartOn::Codes{static_cast<std::uint8_t>(*first), static_cast<std::uint8_t>(*last)};
}

} // namespace

bool RestartOn::matches(std::uint32_t code) const {
    return code != no_restart_code && std::any_of(codes.begin(), codes.end(), [&](const Codes& range) {
               return range.first <= code && code <= range.last;
           });
}

Expected<RestartOn> parse_restart_on(std::string_view text) {
    RestartOn on;
    if (text == "host") return on;
    if (text == "any") {
        on.codes.push_back({1, 255});
        return on;
    }
    const Error bad{Code::input, "must be host, any, or exit statuses from 1 to 255 such as 1,40-50"};
    for (bool more = true; more;) {
        more = text.find(',') != std::string_view::npos;
        const auto range = parse_codes(next_part(text, ','));
        if (!range || on.codes.size() == most_ranges) return bad;
        if (range->first == no_restart_code && range->last == no_restart_code)
            return Error{Code::input,
                         fmt::format("{} says that the job is not to be started again", no_restart_code)};
        on.codes.push_back(*range);
    }
    std::sort(on.codes.begin(), on.codes.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    return on;
}

std::string to_string(const RestartOn& on) {
    if (on.codes.empty()) return "host";
    if (on.codes == std::vector<RestartOn::Codes>{{1, 255}}) return "any";
    std::string text;
    for (const auto& [first, last] : on.codes) {
        text += (text.empty() ? "" : ",") + std::to_string(first);
        if (last != first) text += '-' + std::to_string(last);
    }
    return text;
}

std::span<const std::string_view> hint_flags() {
    return flag_names;
}

Expected<base::Duration> parse_wait(std::string_view text) {
    const Error bad{Code::input,
                    fmt::format("{}: a wait is a time as sbatch takes them (minutes, H:MM:SS, D-H) "
                                "or with a unit (90s, 30m, 2h, 1d), from 1 s to {} days",
                                shown(text), longest_wait_days)};
    constexpr auto longest = std::chrono::seconds(longest_wait_days * 86400);
    base::Duration wait{};
    if (const auto seconds = slurm_seconds(text)) {
        if (*seconds > static_cast<std::uint64_t>(longest.count())) return bad;
        wait = std::chrono::seconds(*seconds);
    } else {
        const auto duration = base::parse_duration(text);
        if (!duration) return bad;
        wait = *duration;
    }
    if (wait < std::chrono::seconds(1) || wait > longest) return bad;
    return wait;
}

std::optional<base::Duration> apply_hints(const Hints& hints, base::Duration waited, Request& request) {
    const bool ended = hints.span_wait && waited >= *hints.span_wait;
    request.span = ended ? Span::any : hints.span.value_or(Span::any);
    request.segment = hints.segment.value_or(0);
    request.outer_segments = hints.outer_segments;
    request.spares = hints.spares.value_or(0);
    request.order = hints.order.value_or(RankOrder::ring);
    if (hints.keep == false) request.had.clear();
    if (request.span == Span::any || !hints.span_wait) return {};
    return *hints.span_wait - waited;
}

Expected<void> set_hint(Hints& hints, std::string_view flag, std::string_view value) {
    const auto refuse = [&](std::string_view allowed) -> Expected<void> {
        return Error{Code::usage, fmt::format("--{}={}: {}", flag, shown(value), allowed)};
    };
    if (flag == "rail-span") return set_span(hints, value);
    if (flag == "rail-segment") {
        const auto sizes = parse_segments(value);
        if (!sizes) return refuse(sizes.error().text);
        hints.segment = sizes->front();
        hints.outer_segments.assign(sizes->begin() + 1, sizes->end());
        return {};
    }
    if (flag == "rail-spares") {
        const auto hosts = base::parse_count(value);
        if (!hosts || *hosts > most_hosts)
            return refuse(fmt::format("must be a whole number of hosts from 0 to {}", most_hosts));
        hints.spares = static_cast<std::uint32_t>(*hosts);
        return {};
    }
    if (flag == "rail-order") {
        const auto order = parse_order(value);
        if (!order) return refuse("must be ring, tree or none");
        hints.order = *order;
        return {};
    }
    if (flag == "rail-keep") {
        if (value != "yes" && value != "no") return refuse("must be yes or no");
        hints.keep = value == "yes";
        return {};
    }
    if (flag == "restart") {
        if (value != "auto" && value != "never") return refuse("must be auto or never");
        hints.restart = value == "auto";
        return {};
    }
    if (flag == "restart-max") {
        const auto count = base::parse_count(value);
        if (!count || *count < 1 || *count > most_restarts)
            return refuse(fmt::format("must be a whole number from 1 to {}", most_restarts));
        hints.restart_max = static_cast<std::uint32_t>(*count);
        return {};
    }
    if (flag == "restart-on") {
        auto on = parse_restart_on(value);
        if (!on) return refuse(on.error().text);
        hints.restart_on = *std::move(on);
        return {};
    }
    if (flag == "ckpt-dir") {
        if (const auto fault = path_fault(value); !fault.empty()) return refuse(fault);
        hints.ckpt_dir = std::string(value);
        return {};
    }
    if (flag == "ckpt-kind") {
        if (const auto kind = base::parse_ckpt_kind(value); !kind) return refuse(kind.error().text);
        hints.ckpt_kind = std::string(value);
        return {};
    }
    if (flag == "ckpt-signal") {
        if (const auto signal = base::parse_ckpt_signal(value); !signal) return refuse(signal.error().text);
        hints.ckpt_signal = std::string(value);
        return {};
    }
    return refuse(fmt::format("no such flag; there are {}", fmt::join(flag_names, ", ")));
}

std::string segments_text(const Hints& hints) {
    if (!hints.segment) return {};
    std::vector<std::uint32_t> sizes{*hints.segment};
    sizes.insert(sizes.end(), hints.outer_segments.begin(), hints.outer_segments.end());
    return segments_text(sizes);
}

std::string_view hint_variable(std::string_view flag) {
    for (const auto& carrier : carriers)
        if (flag == carrier.flag) return carrier.variable;
    return {};
}

} // namespace sched
