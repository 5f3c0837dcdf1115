#include "topo/read/clean.hpp"

#include "topo/read/text.hpp"

#include <algorithm>
#include <array>

namespace topo {
namespace {

constexpr char escape = '\x1b', bell = '\a', backspace = '\b';

void put_utf8(std::string& out, char32_t c) {
    const auto tail = [&](unsigned shift) { out += static_cast<char>(0x80 | ((c >> shift) & 0x3F)); };
    if (c < 0x80) {
        out += static_cast<char>(c);
    } else if (c < 0x800) {
        out += static_cast<char>(0xC0 | (c >> 6));
        tail(0);
    } else if (c < 0x10000) {
        out += static_cast<char>(0xE0 | (c >> 12));
        tail(6), tail(0);
    } else {
        out += static_cast<char>(0xF0 | (c >> 18));
        tail(12), tail(6), tail(0);
    }
}

// Written by a redirection in PowerShell.
std::string from_utf16(std::string_view text, bool little) {
    const auto unit = [&](std::size_t at) {
        const auto low = static_cast<unsigned char>(text[at + (little ? 0 : 1)]);
        const auto high = static_cast<unsigned char>(text[at + (little ? 1 : 0)]);
        return static_cast<char32_t>(high << 8 | low);
    };
    std::string out;
    out.reserve(text.size() / 2);
    for (std::size_t at = 0; at + 1 < text.size(); at += 2) {
        char32_t c = unit(at);
        if (c >= 0xD800 && c < 0xDC00 && at + 3 < text.size()) {
            const char32_t low = unit(at + 2);
            if (low >= 0xDC00 && low < 0xE000) {
                c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
                at += 2;
            }
        }
        put_utf8(out, c);
    }
    return out;
}

// The position after the escape sequence that starts at `at` (ECMA-48: CSI, OSC, and those of two
// characters).
std::size_t skip_escape(std::string_view text, std::size_t at) {
    if (++at == text.size()) return at;
    if (text[at] == '[') {
        for (++at; at < text.size(); ++at)
            if (text[at] >= '@' && text[at] <= '~')
                return at + 1;
            else if (text[at] < ' ')
                return at; // truncated: the line continues
        return at;
    }
    if (text[at] == ']') {
        for (++at; at < text.size() && text[at] != '\n'; ++at) {
            if (text[at] == bell) return at + 1;
            if (text[at] == escape) return std::min(at + 2, text.size());
        }
        return at;
    }
    return text[at] == '\n' ? at : at + 1;
}

bool name_sign(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '_' || c == '.';
}

std::string_view take_name(std::string_view& rest) {
    const auto name = rest.substr(
        0, static_cast<std::size_t>(std::find_if_not(rest.begin(), rest.end(), name_sign) - rest.begin()));
    rest.remove_prefix(name.size());
    return name;
}

// '#', '$', '%' or '>', then the command or nothing.
bool asks(std::string_view rest) {
    return !rest.empty() && std::string_view("#$%>").find(rest[0]) != std::string_view::npos &&
           (rest.size() == 1 || rest[1] == ' ');
}

bool is_prompt(std::string_view line) {
    if (line.starts_with("(")) { // from a Python environment
        const auto end = line.find(") ");
        if (end != std::string_view::npos) line.remove_prefix(end + 2);
    }
    if (line.starts_with("$ ") || line.starts_with("% ") || line.starts_with("> ")) return true;
    if (line.starts_with("[")) {
        const auto at = line.find('@'), end = line.find(']');
        return at < end && end != std::string_view::npos && asks(line.substr(end + 1));
    }
    auto rest = line;
    if (take_name(rest).empty()) return false;
    if (rest.starts_with("@")) {
        rest.remove_prefix(1);
        if (take_name(rest).empty()) return false;
    }
    if (rest.starts_with(" [")) { // a switch's own command line
        const auto end = rest.find("] ");
        if (end == std::string_view::npos) return false;
        rest.remove_prefix(end + 2);
        if (rest.starts_with("(")) rest.remove_prefix(std::min(rest.find(' ') + 1, rest.size()));
        return asks(rest);
    }
    if (!rest.starts_with(":~") && !rest.starts_with(":/")) return false;
    const auto end = rest.find_first_of("#$%>");
    return end != std::string_view::npos && asks(rest.substr(end));
}

} // namespace

std::string clean_text(std::string_view text) {
    if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
        return clean_text(from_utf16(text.substr(2), text[0] == '\xFF'));
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    constexpr std::array signs{escape, '\r', backspace, '\0'};
    if (text.find_first_of(std::string_view(signs.data(), signs.size() - 1)) == std::string_view::npos)
        return std::string(text);
    std::string out;
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        const char c = text[at];
        if (c == escape) {
            at = skip_escape(text, at);
            continue;
        }
        ++at;
        if (c == backspace) {
            if (!out.empty() && out.back() != '\n') out.pop_back();
        } else if (c == '\n') {
            while (!out.empty() && out.back() == '\r')
                out.pop_back();
            out += c;
        } else {
            out += c;
        }
    }
    return out;
}

bool ends_output(std::string_view line) {
    for (const auto* start : {"Script done", "=~=~=~=", "Connection to "})
        if (line.starts_with(start)) return true;
    return line == "exit" || line == "logout" || is_prompt(line);
}

} // namespace topo
