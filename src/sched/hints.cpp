#include "sched/hints.hpp"

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

// One key of the comment. Keys are named otherwise than the flags: span, restart, ckpt-dir.
Expected<void> read_key(Hints& hints, std::string_view key, std::string_view value) {
    if (key == "span") return set_hint(hints, "rail-span", value);
    if (key == "restart") return set_hint(hints, "restart", value);
    if (key != "ckpt-dir") return {};
    const auto path = decode(value);
    if (!path)
        return Error{Code::input,
                     fmt::format("{}: % must be followed by two hexadecimal digits", shown(value))};
    return set_hint(hints, "ckpt-dir", *path);
}

} // namespace

Expected<void> set_hint(Hints& hints, std::string_view flag, std::string_view value) {
    const auto refuse = [&](std::string_view allowed) -> Expected<void> {
        return Error{Code::usage, fmt::format("--{}={}: {}", flag, shown(value), allowed)};
    };
    if (flag == "rail-span") {
        const auto span = parse_span(value);
        if (!span) return refuse("must be unit, pod or fabric");
        hints.span = *span;
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
    return refuse("no such flag; there are rail-span, restart and ckpt-dir");
}

std::string_view hint_variable(std::string_view flag) {
    if (flag == "rail-span") return "RAIL_SPAN";
    if (flag == "restart") return "RAIL_RESTART";
    if (flag == "ckpt-dir") return "RAIL_CKPT_DIR";
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
    if (hints.span) fmt::format_to(std::back_inserter(out), " span={}", to_string(*hints.span));
    if (hints.restart) out += *hints.restart ? " restart=auto" : " restart=never";
    if (hints.ckpt_dir) {
        out += " ckpt-dir=";
        encode(*hints.ckpt_dir, out);
    }
    return out;
}

} // namespace sched
