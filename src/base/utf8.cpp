#include "base/utf8.hpp"

namespace base {
namespace {

// The length in bytes of the character at the start of the text; 0 if it is not valid.
std::size_t first_character(std::string_view text) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    const unsigned lead = byte(0);
    const std::size_t more = lead < 0x80                   ? 0
                             : lead >= 0xc2 && lead < 0xe0 ? 1
                             : lead >= 0xe0 && lead < 0xf0 ? 2
                             : lead >= 0xf0 && lead < 0xf5 ? 3
                                                           : text.size();
    if (more >= text.size()) return 0;
    for (std::size_t k = 1; k <= more; ++k)
        if ((byte(k) & 0xc0) != 0x80) return 0;
    if (more > 1) {
        const unsigned next = byte(1);
        if ((lead == 0xe0 && next < 0xa0) || (lead == 0xed && next > 0x9f) || (lead == 0xf0 && next < 0x90) ||
            (lead == 0xf4 && next > 0x8f))
            return 0;
    }
    return 1 + more;
}

} // namespace

bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const auto bytes = first_character(text);
        if (bytes == 0) return false;
        text.remove_prefix(bytes);
    }
    return true;
}

std::string as_utf8(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const auto bytes = first_character(text);
        if (bytes == 0)
            out += '?';
        else
            out += text.substr(0, bytes);
        text.remove_prefix(bytes == 0 ? 1 : bytes);
    }
    return out;
}

std::string_view cut_utf8(std::string_view text, std::size_t most) {
    if (text.size() <= most) return text;
    while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80)
        --most;
    return text.substr(0, most);
}

std::string printable(std::string_view text, std::size_t most, char replacement) {
    std::string clean(text.substr(0, most));
    for (char& c : clean)
        if (c < 0x20 || c > 0x7e) c = replacement;
    return clean;
}

} // namespace base
