#include "restart/wire/http.hpp"

#include <fmt/format.h>

#include <charconv>

namespace restart {
namespace {

base::Error bad_target(std::string_view why) {
    return {base::Code::input, fmt::format("request target: {}", why)};
}

base::Expected<std::string> percent_decode(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            out += text[i] == '+' ? ' ' : text[i];
            continue;
        }
        unsigned value = 0;
        const auto digits = text.substr(i + 1, 2);
        const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
        if (digits.size() != 2 || failed != std::errc{} || end != digits.data() + 2)
            return bad_target("'%' must be followed by two hexadecimal digits");
        if (value < 0x20 || value == 0x7f) return bad_target("control characters are not allowed");
        out += static_cast<char>(value);
        i += 2;
    }
    return out;
}

} // namespace

base::Expected<void> split_target(std::string_view target, HttpRequest& request) {
    if (!target.starts_with('/')) return bad_target("it must begin with '/'");
    request.target = target;
    const auto mark = target.find('?');
    request.path = target.substr(0, mark);
    request.query.clear();
    if (mark == std::string_view::npos) return {};
    auto rest = target.substr(mark + 1);
    while (!rest.empty()) {
        const auto end = rest.find('&');
        const auto pair = rest.substr(0, end);
        rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
        const auto equals = pair.find('=');
        auto name = percent_decode(pair.substr(0, equals));
        if (!name) return std::move(name).error();
        auto value =
            percent_decode(equals == std::string_view::npos ? std::string_view{} : pair.substr(equals + 1));
        if (!value) return std::move(value).error();
        request.query[*std::move(name)] = *std::move(value);
    }
    return {};
}

std::string percent_encode(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                           c == '-' || c == '.' || c == '_' || c == '~';
        if (plain) {
            out += c;
        } else {
            out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
        }
    }
    return out;
}

} // namespace restart
