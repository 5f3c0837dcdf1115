#include "restart/ckpt/name.hpp"

#include "base/units.hpp"
#include "base/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace restart::ckpt {

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

bool is_nfs_leftover(std::string_view name) {
    constexpr std::string_view prefix = ".nfs";
    constexpr std::size_t least_digits = 16;
    if (!name.starts_with(prefix) || name.size() < prefix.size() + least_digits) return false;
    return name.find_first_not_of("0123456789abcdef", prefix.size()) == std::string_view::npos;
}

base::Expected<void> check_file_name(std::string_view name) {
    const auto bad = [&](std::string_view why) {
        std::string shown;
        for (const char c : name.substr(0, 200))
            shown += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
        return base::Error{base::Code::input,
                           fmt::format("file name \"{}\" {}", base::is_utf8(shown) ? shown : "(bytes)", why)};
    };
    if (name.empty()) return bad("is empty");
    if (name.size() > 4095) return bad("is longer than 4095 bytes");
    if (name.front() == '/') return bad("is absolute: names stand below the checkpoint's directory");
    if (!base::is_utf8(name)) return bad("is not UTF-8: rename the file");
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
