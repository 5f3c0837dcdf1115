#include "restart/ckpt/name.hpp"

#include "base/units.hpp"

#include <fmt/format.h>

namespace restart::ckpt {
namespace {

// Is the text well-formed UTF-8 (RFC 3629: shortest form, no surrogates, up to U+10FFFF)?
bool utf8(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
        const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
        const unsigned lead = byte(i);
        const std::size_t more = lead < 0x80                   ? 0
                                 : lead >= 0xc2 && lead < 0xe0 ? 1
                                 : lead >= 0xe0 && lead < 0xf0 ? 2
                                 : lead >= 0xf0 && lead < 0xf5 ? 3
                                                               : 9;
        if (more > text.size() - i - 1) return false;
        for (std::size_t k = 1; k <= more; ++k)
            if ((byte(i + k) & 0xc0) != 0x80) return false;
        if (more > 1) {
            const unsigned next = byte(i + 1);
            if ((lead == 0xe0 && next < 0xa0) || (lead == 0xed && next > 0x9f) ||
                (lead == 0xf0 && next < 0x90) || (lead == 0xf4 && next > 0x8f))
                return false;
        }
        i += 1 + more;
    }
    return true;
}

} // namespace

std::string to_name(std::string_view prefix, const Id& id) {
    return fmt::format("{}E{:04}-S{:012}", prefix, id.epoch, id.step);
}

std::optional<Id> parse_name(std::string_view prefix, std::string_view name) {
    constexpr std::size_t epoch_digits = 4, step_digits = 12;
    if (!name.starts_with(prefix)) return {};
    name.remove_prefix(prefix.size());
    if (name.size() != 1 + epoch_digits + 2 + step_digits || name[0] != 'E' ||
        name.substr(1 + epoch_digits, 2) != "-S")
        return {};
    const auto epoch = base::parse_count(name.substr(1, epoch_digits));
    const auto step = base::parse_count(name.substr(1 + epoch_digits + 2));
    if (!epoch || !step) return {};
    return Id{static_cast<std::uint32_t>(*epoch), *step};
}

base::Expected<void> check_file_name(std::string_view name) {
    const auto bad = [&](std::string_view why) {
        std::string shown;
        for (const char c : name.substr(0, 200))
            shown += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
        return base::Error{base::Code::input,
                           fmt::format("file name \"{}\" {}", utf8(shown) ? shown : "(bytes)", why)};
    };
    if (name.empty()) return bad("is empty");
    if (name.size() > 4095) return bad("is longer than 4095 bytes");
    if (name.front() == '/') return bad("is absolute: names stand below the checkpoint's directory");
    if (!utf8(name)) return bad("is not UTF-8: rename the file");
    for (const char c : name)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
            return bad("contains a control character: rename the file");
    for (std::size_t start = 0; start <= name.size();) {
        const auto end = std::min(name.find('/', start), name.size());
        const auto part = name.substr(start, end - start);
        if (part.empty() || part == "." || part == "..")
            return bad("has an empty, \".\" or \"..\" component");
        start = end + 1;
    }
    return {};
}

} // namespace restart::ckpt
