#include "topo/draw/canvas.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

namespace topo::draw {
namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd"; // U+FFFD

// The length of the UTF-8 character at the front, 0 if it is invalid (RFC 3629, table in section 4).
std::size_t character(std::string_view text) {
    const auto byte = [&](std::size_t i) {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : static_cast<unsigned char>(0);
    };
    const auto tail = [&](std::size_t from, std::size_t count) {
        for (std::size_t i = from; i < from + count; ++i)
            if ((byte(i) & 0xc0U) != 0x80U) return false;
        return true;
    };
    const auto first = byte(0), second = byte(1);
    if (first < 0x80) return 1;
    if (first >= 0xc2 && first <= 0xdf) return tail(1, 1) ? 2 : 0;
    if (first >= 0xe0 && first <= 0xef) {
        const bool overlong = first == 0xe0 && second < 0xa0, surrogate = first == 0xed && second > 0x9f;
        const bool never = first == 0xef && second == 0xbf && byte(2) >= 0xbe; // U+FFFE, U+FFFF: not in XML
        return tail(1, 2) && !overlong && !surrogate && !never ? 3 : 0;
    }
    if (first >= 0xf0 && first <= 0xf4) {
        const bool overlong = first == 0xf0 && second < 0x90, beyond = first == 0xf4 && second > 0x8f;
        return tail(1, 3) && !overlong && !beyond ? 4 : 0;
    }
    return 0;
}

// At most one decimal, no trailing zero: "12", "12.5".
std::string number(double value) {
    const auto tenths = std::lround(value * 10);
    const auto sign = tenths < 0 ? "-" : "";
    const auto size = std::labs(tenths);
    return size % 10 == 0 ? fmt::format("{}{}", sign, size / 10)
                          : fmt::format("{}{}.{}", sign, size / 10, size % 10);
}

std::string style_of(std::string_view style) {
    return style.empty() ? std::string() : fmt::format(" class=\"{}\"", style);
}

} // namespace

std::string escaped(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const auto length = character(text);
        const char c = text.front();
        if (length == 1 && c == '&')
            out += "&amp;";
        else if (length == 1 && c == '<')
            out += "&lt;";
        else if (length == 1 && c == '>')
            out += "&gt;";
        else if (length == 1 && c == '"')
            out += "&quot;";
        else if (length == 0 ||
                 (length == 1 && (c == '\x7f' || (c >= 0 && c < ' ' && c != '\n' && c != '\t'))))
            out += replacement;
        else
            out += text.substr(0, length);
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return out;
}

void Canvas::open(std::string_view style) {
    fmt::format_to(std::back_inserter(out_), "<g{}>\n", style_of(style));
}

void Canvas::close() {
    out_ += "</g>\n";
}

void Canvas::title(std::string_view text) {
    fmt::format_to(std::back_inserter(out_), "<title>{}</title>\n", escaped(text));
}

void Canvas::finish(std::string_view tag, std::string_view hover) {
    if (hover.empty())
        out_ += "/>\n";
    else
        fmt::format_to(std::back_inserter(out_), "><title>{}</title></{}>\n", escaped(hover), tag);
}

void Canvas::rect(Box box, std::string_view style, int radius, std::string_view hover) {
    fmt::format_to(std::back_inserter(out_), R"(<rect{} x="{}" y="{}" width="{}" height="{}")",
                   style_of(style), box.x, box.y, box.w, box.h);
    if (radius > 0) fmt::format_to(std::back_inserter(out_), R"( rx="{}")", radius);
    finish("rect", hover);
}

void Canvas::path(std::string_view data, std::string_view style, std::string_view hover) {
    fmt::format_to(std::back_inserter(out_), R"(<path{} d="{}")", style_of(style), data);
    finish("path", hover);
}

void Canvas::line(double x1, double y1, double x2, double y2, std::string_view style,
                  std::string_view hover) {
    path(fmt::format("M{} {}L{} {}", number(x1), number(y1), number(x2), number(y2)), style, hover);
}

void Canvas::circle(double x, double y, double r, std::string_view style) {
    fmt::format_to(std::back_inserter(out_), "<circle{} cx=\"{}\" cy=\"{}\" r=\"{}\"/>\n", style_of(style),
                   number(x), number(y), number(r));
}

void Canvas::square(double x, double y, double half, std::string_view style) {
    fmt::format_to(std::back_inserter(out_),
                   "<rect{} x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"1\"/>\n", style_of(style),
                   number(x - half), number(y - half), number(2 * half), number(2 * half));
}

void Canvas::text(double x, double y, int size, std::string_view style, std::string_view text,
                  Anchor anchor) {
    fmt::format_to(std::back_inserter(out_), R"(<text{} x="{}" y="{}" font-size="{}"{}>{}</text>)",
                   style_of(style), number(x), number(y), size,
                   anchor == Anchor::start    ? ""
                   : anchor == Anchor::middle ? R"( text-anchor="middle")"
                                              : R"( text-anchor="end")",
                   escaped(text));
    out_ += '\n';
}

} // namespace topo::draw
