#include "topo/read/text.hpp"

#include "base/fnv.hpp"
#include "topo/read/raw_fabric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace topo {
void Cursor::skip_space() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size()));
}

bool Cursor::take(std::string_view prefix) {
    if (!rest_.starts_with(prefix)) return false;
    rest_.remove_prefix(prefix.size());
    return true;
}

void Cursor::need(std::string_view prefix) {
    if (!take(prefix)) fail(fmt::format("'{}' is wanted", prefix));
}

bool Cursor::at_end() {
    skip_space();
    return rest_.empty();
}

std::string_view Cursor::word() {
    skip_space();
    return until(" \t");
}

std::string_view Cursor::until(std::string_view any) {
    const auto word = rest_.substr(0, std::min(rest_.find_first_of(any), rest_.size()));
    rest_.remove_prefix(word.size());
    return word;
}

std::uint64_t Cursor::number(std::uint64_t most, int base, std::string_view what) {
    std::uint64_t value = 0;
    const auto [end, failed] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value, base);
    if (failed != std::errc{} || value > most) fail(fmt::format("{} is wanted", what));
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
}

std::uint8_t Cursor::port() {
    return static_cast<std::uint8_t>(number(254, 10, "a port number up to 254"));
}

std::uint16_t Cursor::lid() {
    return static_cast<std::uint16_t>(number(0xFFFF, 10, "a LID up to 65535"));
}

Guid Cursor::guid() {
    take("0x");
    return number(~std::uint64_t{0}, 16, "a GUID");
}

std::string_view Cursor::quoted_to_last(char quote) {
    skip_space();
    need(std::string_view(&quote, 1));
    const auto last = rest_.rfind(quote);
    if (last == std::string_view::npos) fail("a closing quote is wanted");
    const auto text = rest_.substr(0, last);
    rest_.remove_prefix(last + 1);
    return text;
}

void Cursor::fail(std::string_view what) const {
    constexpr std::size_t most = 40;
    const auto token = rest_.substr(0, std::min(rest_.find_first_of(" \t", 1), most));
    if (token.empty()) throw Unreadable{fmt::format("the line ends where {}", what)};
    const auto shown = trimmed_printable(token);
    throw Unreadable{fmt::format("{}: {}", shown.empty() ? "white space" : fmt::format("'{}'", shown), what)};
}

bool Lines::next(std::string_view& line) {
    if (text_.empty()) return false;
    const auto end = text_.find('\n');
    line = text_.substr(0, end);
    ended_ = end != std::string_view::npos;
    text_.remove_prefix(ended_ ? end + 1 : text_.size());
    if (line.ends_with('\r')) line.remove_suffix(1);
    ++number_;
    return true;
}

std::string_view trimmed(std::string_view text) {
    const auto start = text.find_first_not_of(" \t");
    return start == std::string_view::npos ? std::string_view()
                                           : text.substr(start, text.find_last_not_of(" \t") - start + 1);
}

bool same_word(std::string_view a, std::string_view b) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    return a.size() == b.size() &&
           std::equal(a.begin(), a.end(), b.begin(), [&](char x, char y) { return lower(x) == lower(y); });
}

Guid made_guid(Made what, std::string_view name) {
    base::Fnv1a digest;
    digest.add(name);
    const std::uint64_t hash = digest.value();
    return (Guid{static_cast<std::uint8_t>(what)} << 56) | ((hash ^ (hash >> 56)) & (~Guid{0} >> 8));
}

} // namespace topo
