#include "sched/hints.hpp"

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

constexpr std::string_view label = "railyard:";
constexpr std::size_t longest_path = 4095;
constexpr std::uint64_t longest_wait_days = 3650;
constexpr std::uint32_t most_hosts = 1'000'000;

std::string_view trim(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n";
    const auto first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

// The text up to `separator`, which is removed from `rest` together with it.
std::string_view next_part(std::string_view& rest, char separator) {
    const auto end = rest.find(separator);
    const auto part = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    return part;
}

bool control(char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

// What is wrong with a checkpoint directory; empty when nothing is.
std::string path_fault(std::string_view path) {
    if (path.empty() || path.front() != '/') return "must be an absolute path";
    if (path.size() > longest_path)
        return fmt::format("must be at most {} bytes long, has {}", longest_path, path.size());
    if (std::any_of(path.begin(), path.end(), control)) return "must not contain control characters";
    return {};
}

// The value for an error message: control characters shown as '?', long text cut.
std::string shown(std::string_view value) {
    std::string text(value.substr(0, 200));
    std::replace_if(text.begin(), text.end(), control, '?');
    return value.size() > text.size() ? text + "..." : text;
}

void encode(std::string_view path, std::string& out) {
    for (const char c : path) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x21 || byte > 0x7e || c == '%' || c == ';')
            fmt::format_to(std::back_inserter(out), "%{:02X}", byte);
        else
            out += c;
    }
}

int hex(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
}

std::optional<std::string> decode(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            out += text[i];
            continue;
        }
        if (text.size() - i < 3) return std::nullopt;
        const int high = hex(text[i + 1]), low = hex(text[i + 2]);
        if (high < 0 || low < 0) return std::nullopt;
        out += static_cast<char>(high * 16 + low);
        i += 2;
    }
    return out;
}

// The flags and what carries them. Keys of the comment are named otherwise than the flags.
struct Carrier {
    std::string_view flag, variable, key;
};
constexpr std::array carriers{
    Carrier{"rail-span", "RAIL_SPAN", "span"},       Carrier{"rail-segment", "RAIL_SEGMENT", "segment"},
    Carrier{"rail-spares", "RAIL_SPARES", "spares"}, Carrier{"rail-order", "RAIL_ORDER", "order"},
    Carrier{"restart", "RAIL_RESTART", "restart"},   Carrier{"ckpt-dir", "RAIL_CKPT_DIR", "ckpt-dir"},
};
constexpr auto flag_names = [] {
    std::array<std::string_view, carriers.size()> names;
    for (std::size_t i = 0; i < names.size(); ++i)
        names[i] = carriers[i].flag;
    return names;
}();

// One key of the comment. An unknown one is passed over.
Expected<void> read_key(Hints& hints, std::string_view key, std::string_view value) {
    const auto* carrier =
        std::find_if(carriers.begin(), carriers.end(), [&](const Carrier& c) { return c.key == key; });
    if (carrier == carriers.end()) return {};
    if (key != "ckpt-dir") return set_hint(hints, carrier->flag, value);
    const auto path = decode(value);
    if (!path)
        return Error{Code::input,
                     fmt::format("{}: % must be followed by two hexadecimal digits", shown(value))};
    return set_hint(hints, carrier->flag, *path);
}

// Slurm's own form of a time: [days-]hours[:minutes[:seconds]] with days, else minutes, minutes:seconds or
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
        return Error{Code::usage,
                     fmt::format("--rail-span={}: must be unit, pod or fabric, or one of these with @WAIT",
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

Expected<std::uint32_t> hosts_in(std::string_view value, std::uint32_t least) {
    const auto count = base::parse_count(value);
    if (!count || *count < least || *count > most_hosts)
        return Error{Code::usage,
                     fmt::format("must be a whole number of hosts from {} to {}", least, most_hosts)};
    return static_cast<std::uint32_t>(*count);
}

} // namespace

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

Span span_after(const Hints& hints, base::Duration waited) {
    if (!hints.span || (hints.span_wait && waited >= *hints.span_wait)) return Span::any;
    return *hints.span;
}

Expected<void> set_hint(Hints& hints, std::string_view flag, std::string_view value) {
    const auto refuse = [&](std::string_view allowed) -> Expected<void> {
        return Error{Code::usage, fmt::format("--{}={}: {}", flag, shown(value), allowed)};
    };
    if (flag == "rail-span") return set_span(hints, value);
    if (flag == "rail-segment" || flag == "rail-spares") {
        const bool segment = flag == "rail-segment";
        const auto hosts = hosts_in(value, segment ? 1 : 0);
        if (!hosts) return refuse(hosts.error().text);
        (segment ? hints.segment : hints.spares) = *hosts;
        return {};
    }
    if (flag == "rail-order") {
        const auto order = parse_order(value);
        if (!order) return refuse("must be ring, tree or none");
        hints.order = *order;
        return {};
    }
    if (flag == "restart") {
        if (value != "auto" && value != "never") return refuse("must be auto or never");
        hints.restart = value == "auto";
        return {};
    }
    if (flag == "ckpt-dir") {
        if (const auto fault = path_fault(value); !fault.empty()) return refuse(fault);
        hints.ckpt_dir = std::string(value);
        return {};
    }
    return refuse(fmt::format("no such flag; there are {}", fmt::join(flag_names, ", ")));
}

std::string_view hint_variable(std::string_view flag) {
    for (const auto& carrier : carriers)
        if (flag == carrier.flag) return carrier.variable;
    return {};
}

Expected<Hints> parse_comment(std::string_view comment) {
    Hints hints;
    while (!comment.empty()) {
        auto part = trim(next_part(comment, ';'));
        if (!part.starts_with(label)) continue;
        hints = {}; // the last part counts
        part.remove_prefix(label.size());
        while (!part.empty()) {
            auto value = next_part(part, ' ');
            if (value.find('=') == std::string_view::npos) continue;
            const auto key = next_part(value, '=');
            if (auto done = read_key(hints, key, value); !done)
                return Error{Code::input, fmt::format("railyard comment: {}: {}", key, done.error().text)};
        }
    }
    return hints;
}

std::string merge_comment(std::string_view before, const Hints& hints) {
    std::string out;
    while (!before.empty()) {
        const auto part = trim(next_part(before, ';'));
        if (part.empty() || part.starts_with(label)) continue;
        if (!out.empty()) out += "; ";
        out += part;
    }
    if (hints.empty()) return out;
    if (!out.empty()) out += "; ";
    out += label;
    const auto add = [&](std::string_view key, auto&& value) {
        fmt::format_to(std::back_inserter(out), " {}={}", key, value);
    };
    if (hints.span) add("span", to_string(*hints.span));
    if (hints.span && hints.span_wait) out += '@' + base::format_duration(*hints.span_wait);
    if (hints.segment) add("segment", *hints.segment);
    if (hints.spares) add("spares", *hints.spares);
    if (hints.order) add("order", to_string(*hints.order));
    if (hints.restart) out += *hints.restart ? " restart=auto" : " restart=never";
    if (hints.ckpt_dir) {
        out += " ckpt-dir=";
        encode(*hints.ckpt_dir, out);
    }
    return out;
}

} // namespace sched
