#include "restart/watch/xid_words.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <optional>

namespace restart {
namespace {

constexpr int most_registers = 7;

// The number after `mark`, and advances `text` past both; nothing if there is none.
std::optional<std::uint32_t> number_after(std::string_view& text, std::string_view mark, int base = 10) {
    const auto found = text.find(mark);
    if (found == std::string_view::npos) return std::nullopt;
    auto rest = text.substr(found + mark.size());
    std::uint32_t value = 0;
    const auto [end, failed] = std::from_chars(rest.data(), rest.data() + rest.size(), value, base);
    if (failed != std::errc{}) return std::nullopt;
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    text = rest;
    return value;
}

// The register bits in the brackets directly after the link's number.
std::string bits_of(std::string_view registers) {
    std::string bits;
    if (!registers.starts_with('(')) return bits;
    registers = registers.substr(0, registers.find(')'));
    for (int number = 0; number < most_registers; ++number) {
        const auto value = number_after(registers, "0x", 16);
        if (!value) break;
        for (int bit = 0; bit < 32; ++bit)
            if ((*value >> bit & 1) != 0) bits += fmt::format("<r{}.{}>", number, bit);
    }
    return bits;
}

// NVLink 5's registers in brackets, intrinfo and status: a sub-code in bits 20 to 25 of the first, a bit mask
// in the second (or a small number, which its bits express as well).
std::string sub_codes_of(std::string_view registers) {
    if (!registers.starts_with(" (")) return {};
    registers = registers.substr(0, registers.find(')'));
    const auto info = number_after(registers, "0x", 16);
    if (!info) return {};
    auto codes = fmt::format("<sub.{}>", *info >> 20 & 63);
    if (const auto status = number_after(registers, "0x", 16))
        for (int bit = 0; bit < 32; ++bit)
            if ((*status >> bit & 1) != 0) codes += fmt::format("<status.{}>", bit);
    return codes;
}

} // namespace

XidWords words_of_xid(std::uint32_t code, std::string_view text) {
    XidWords words{std::string(text), {}};
    auto rest = text;
    if (code == 13) {
        const auto gpc = number_after(rest, "GPC ");
        const auto tpc = number_after(rest, "TPC ");
        if (gpc && tpc) words.part = fmt::format("GPC {} TPC {}", *gpc, *tpc);
    } else if (code == 31) {
        constexpr std::string_view mark = "GPCCLIENT_";
        const auto client = text.find(mark);
        const auto gpc = text.rfind("GPC", client == 0 || client == std::string_view::npos ? 0 : client - 1);
        if (client != std::string_view::npos && gpc != std::string_view::npos)
            words.part = text.substr(gpc, text.find(' ', client) - gpc);
    } else if (code == 74) {
        if (const auto link = number_after(rest, "link ")) {
            words.part = fmt::format("link {}", *link);
            if (const auto bits = bits_of(rest); !bits.empty()) words.text += " " + bits;
        }
    } else if (code >= 144 && code <= 150) {
        if (const auto link = number_after(rest, "Link ")) {
            words.part = fmt::format("link {}", *link);
            if (const auto codes = sub_codes_of(rest); !codes.empty()) words.text += " " + codes;
        }
    }
    return words;
}

bool is_programs(std::uint32_t code) {
    constexpr std::array codes{11, 13, 25, 31, 32, 39, 43, 44, 45, 60,  66,  68,
                               69, 70, 80, 82, 85, 86, 88, 94, 96, 126, 137, 139};
    return std::find(codes.begin(), codes.end(), static_cast<int>(code)) != codes.end();
}

} // namespace restart
