#include "sched/slurm/admin_comment.hpp"

#include "base/hostlist.hpp"
#include "base/split.hpp"
#include "base/units.hpp"
#include "sched/say/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

namespace sched {
namespace {

using base::Code;
using base::Error;
using base::Expected;
using base::next_part;

constexpr std::string_view flags_label = "railyard:", no_kill_key = "no-kill", start_key = "start=";

std::string_view trim(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n";
    const auto first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
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

// One key of the comment: the flag without "rail-". An unknown one is skipped.
Expected<void> read_key(Hints& hints, std::string_view key, std::string_view value) {
    if (key == no_kill_key) hints.no_kill = value == "yes";
    const auto flags = hint_flags();
    const auto flag = std::find_if(flags.begin(), flags.end(), [&](std::string_view name) {
        return (name.starts_with("rail-") ? name.substr(5) : name) == key;
    });
    if (flag == flags.end()) return {};
    if (key != "ckpt-dir" && key != "ckpt-kind" && key != "ckpt-signal") return set_hint(hints, *flag, value);
    const auto path = decode(value);
    if (!path)
        return Error{Code::input,
                     fmt::format("{}: % must be followed by two hexadecimal digits", as_phrase(value, 200))};
    return set_hint(hints, *flag, *path);
}

// The location of a part, including the separator and blanks before it.
struct Place {
    std::size_t begin = 0; // of the separator, or of the comment
    std::size_t text = 0;  // of the text after the label
    std::size_t end = 0;   // the next separator, or the comment's end
};

std::optional<Place> find(std::string_view comment, std::string_view label) {
    for (std::size_t begin = 0;;) {
        const auto first = comment.find_first_not_of("; \t", begin);
        if (first == std::string_view::npos) return {};
        const auto end = std::min(comment.find(';', first), comment.size());
        if (comment.substr(first).starts_with(label)) {
            const auto separator = comment.rfind(';', first);
            return Place{separator == std::string_view::npos ? 0 : separator, first + label.size(), end};
        }
        if (end == comment.size()) return {};
        begin = end;
    }
}

} // namespace

Expected<Hints> parse_comment(std::string_view comment) {
    Hints hints;
    while (!comment.empty()) {
        auto part = trim(next_part(comment, ';'));
        if (!part.starts_with(flags_label)) continue;
        hints = {}; // the last part counts
        part.remove_prefix(flags_label.size());
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
        if (part.empty() || part.starts_with(flags_label)) continue;
        if (!out.empty()) out += "; ";
        out += part;
    }
    if (hints.empty()) return out;
    if (!out.empty()) out += "; ";
    out += flags_label;
    const auto add = [&](std::string_view key, auto&& value) {
        fmt::format_to(std::back_inserter(out), " {}={}", key, value);
    };
    if (hints.span) add("span", to_string(*hints.span));
    if (hints.span && hints.span_wait) out += '@' + base::format_duration(*hints.span_wait);
    if (hints.segment) add("segment", segments_text(hints));
    if (hints.spares) add("spares", *hints.spares);
    if (hints.order) add("order", to_string(*hints.order));
    if (hints.keep) add("keep", *hints.keep ? "yes" : "no");
    if (hints.restart) out += *hints.restart ? " restart=auto" : " restart=never";
    if (hints.restart_max) add("restart-max", *hints.restart_max);
    if (hints.restart_on) add("restart-on", to_string(*hints.restart_on));
    if (hints.no_kill) add(no_kill_key, "yes");
    if (hints.ckpt_dir) {
        out += " ckpt-dir=";
        encode(*hints.ckpt_dir, out);
    }
    if (hints.ckpt_kind) {
        out += " ckpt-kind=";
        encode(*hints.ckpt_kind, out);
    }
    if (hints.ckpt_signal) {
        out += " ckpt-signal=";
        encode(*hints.ckpt_signal, out);
    }
    return out;
}

std::string_view part_in(std::string_view comment, std::string_view label) {
    const auto place = find(comment, label);
    if (!place) return {};
    auto text = comment.substr(place->text, place->end - place->text);
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    return text;
}

std::string with_part(std::string_view comment, std::string_view label, std::string_view text,
                      std::size_t most) {
    const auto place = find(comment, label);
    auto before = place ? comment.substr(0, place->begin) : comment;
    auto after = place ? comment.substr(place->end) : std::string_view();
    std::string out(before);
    if (!text.empty()) {
        if (!out.empty()) out += "; ";
        out += label;
        out += ' ';
        out += as_phrase(text, most);
    } else if (out.empty()) { // the part was the first: the next one begins the comment
        after.remove_prefix(std::min(after.find_first_not_of("; "), after.size()));
    }
    out += after;
    return out;
}

std::string with_had(std::string_view comment, std::uint32_t start, const std::vector<std::string>& hosts) {
    const auto list = base::fold_hostlist(hosts);
    if (list.empty() || list.size() > longest_had) return with_part(comment, had_label, {});
    const auto text = fmt::format("{}{} {}", start_key, start, list);
    return with_part(comment, had_label, text, text.size());
}

std::vector<std::string> had_in(std::string_view comment, std::uint32_t restarts) {
    auto text = part_in(comment, had_label);
    if (restarts == 0 || !text.starts_with(start_key)) return {};
    text.remove_prefix(start_key.size());
    const auto start = base::parse_count(next_part(text, ' '));
    if (!start || *start != restarts - 1) return {};
    auto hosts = base::expand_hostlist(trim(text));
    return hosts ? *std::move(hosts) : std::vector<std::string>();
}

std::string_view why_in(std::string_view comment) {
    return part_in(comment, why_label);
}

std::string with_why(std::string_view comment, std::string_view text) {
    return with_part(comment, why_label, text);
}

} // namespace sched
