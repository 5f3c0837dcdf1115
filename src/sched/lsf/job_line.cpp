#include "sched/lsf/job_line.hpp"

#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace sched::lsf {
namespace {

constexpr std::string_view runner = "rail-lsf-run", line_flag = "line", reruns_flag = "reruns",
                           hold_flag = "hold", by_user = "user", preflight_flag = "rail-preflight";

bool plain(char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
           std::string_view("_./:=,+@-").find(c) != std::string_view::npos;
}

int hex(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
}

// Removes and returns the first word, up to the next blank, without single quotes. Nothing: there is none, or
// a quote is not closed.
std::optional<std::string> take_word(std::string_view& rest) {
    const auto begin = rest.find_first_not_of(' ');
    if (begin == std::string_view::npos) return {};
    std::string word;
    bool quoted = false;
    auto i = begin;
    for (; i < rest.size() && (quoted || rest[i] != ' '); ++i)
        if (rest[i] == '\'')
            quoted = !quoted;
        else
            word += rest[i];
    if (quoted) return {};
    rest.remove_prefix(i);
    return word;
}

} // namespace

std::string encode_value(std::string_view value) {
    std::string out;
    for (const char c : value)
        if (plain(c))
            out += c;
        else
            fmt::format_to(std::back_inserter(out), "%{:02X}", static_cast<unsigned char>(c));
    return out;
}

std::optional<std::string> decode_value(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            if (!plain(text[i])) return {};
            out += text[i];
            continue;
        }
        if (text.size() - i < 3) return {};
        const int high = hex(text[i + 1]), low = hex(text[i + 2]);
        if (high < 0 || low < 0 || high + low == 0) return {};
        out += static_cast<char>(high * 16 + low);
        i += 2;
    }
    return out;
}

Hints renewed(Hints hints, const Hints& newer) {
    if (newer.span) {
        hints.span = newer.span;
        hints.span_wait = newer.span_wait;
    }
    const auto take = [](auto& to, const auto& from) {
        if (from) to = from;
    };
    if (newer.segment) {
        hints.segment = newer.segment;
        hints.outer_segments = newer.outer_segments;
    }
    take(hints.spares, newer.spares);
    take(hints.order, newer.order);
    take(hints.keep, newer.keep);
    take(hints.restart, newer.restart);
    take(hints.restart_max, newer.restart_max);
    take(hints.restart_on, newer.restart_on);
    take(hints.ckpt_dir, newer.ckpt_dir);
    take(hints.ckpt_kind, newer.ckpt_kind);
    take(hints.ckpt_signal, newer.ckpt_signal);
    return hints;
}

std::string job_line(const Hints& hints, std::string_view original, std::string_view program) {
    auto former = parse_job_line(original);
    if (!former) return job_line({hints, std::string(original), false}, program);
    former->hints = renewed(std::move(former->hints), hints);
    return job_line(*former, program);
}

std::vector<std::pair<std::string_view, std::string>> flags_in(const Hints& hints) {
    std::vector<std::pair<std::string_view, std::string>> flags;
    const auto add = [&](std::string_view flag, auto&& value) {
        flags.emplace_back(flag, fmt::format("{}", value));
    };
    if (hints.span) add("rail-span", to_string(*hints.span));
    if (hints.span && hints.span_wait) flags.back().second += '@' + base::format_duration(*hints.span_wait);
    if (hints.segment) add("rail-segment", segments_text(hints));
    if (hints.spares) add("rail-spares", *hints.spares);
    if (hints.order) add("rail-order", to_string(*hints.order));
    if (hints.keep) add("rail-keep", *hints.keep ? "yes" : "no");
    if (hints.restart) add("restart", *hints.restart ? "auto" : "never");
    if (hints.restart_max) add("restart-max", *hints.restart_max);
    if (hints.restart_on) add("restart-on", to_string(*hints.restart_on));
    if (hints.ckpt_dir) add("ckpt-dir", *hints.ckpt_dir);
    if (hints.ckpt_kind) add("ckpt-kind", *hints.ckpt_kind);
    if (hints.ckpt_signal) add("ckpt-signal", *hints.ckpt_signal);
    return flags;
}

std::string job_line(const JobLine& job, std::string_view program) {
    std::string out(program);
    for (const auto& [flag, value] : flags_in(job.hints))
        out += fmt::format(" --{}={}", flag, encode_value(value));
    if (!job.preflight.empty()) out += fmt::format(" --{}={}", preflight_flag, encode_value(job.preflight));
    if (job.reruns) out += fmt::format(" --{}=yes", reruns_flag);
    if (job.held) out += fmt::format(" --{}={}", hold_flag, by_user);
    return out += fmt::format(" --{}={}", line_flag, encode_value(job.line));
}

std::optional<JobLine> parse_job_line(std::string_view text) {
    const auto program = take_word(text);
    if (!program || std::string_view(*program).substr(program->rfind('/') + 1) != runner) return {};
    JobLine found;
    while (auto word = take_word(text)) {
        const std::string_view whole = *word;
        const auto equals = whole.find('=');
        if (!whole.starts_with("--") || equals == std::string_view::npos) return {};
        const auto flag = whole.substr(2, equals - 2);
        auto value = decode_value(whole.substr(equals + 1));
        if (!value) return {};
        if (flag == line_flag) {
            if (text.find_first_not_of(' ') != std::string_view::npos) return {};
            found.line = *std::move(value);
            return found;
        }
        found.reruns = found.reruns || (flag == reruns_flag && *value == "yes");
        if (flag == hold_flag) found.held = *value == by_user;
        if (flag == preflight_flag) found.preflight = *value;
        const auto flags = hint_flags();
        if (std::find(flags.begin(), flags.end(), flag) == flags.end()) continue;
        if (!set_hint(found.hints, flag, *value)) return {};
    }
    return {};
}

} // namespace sched::lsf
