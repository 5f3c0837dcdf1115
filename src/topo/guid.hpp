// GUIDs as text: 64 bits in hexadecimal; and GUIDs that belong to no device.
#pragma once

#include "topo/fabric.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace topo {

inline std::string format_guid(Guid guid) {
    return fmt::format("{:#018x}", guid);
}

// "0x98039b0300a1b2c3", "98039b0300a1b2c3"; nullopt for other text.
inline std::optional<Guid> parse_guid(std::string_view text) {
    if (text.starts_with("0x")) text.remove_prefix(2);
    Guid guid = 0;
    const auto* end = text.data() + text.size();
    const auto [read, failed] = std::from_chars(text.data(), end, guid, 16);
    if (failed != std::errc{} || read != end) return {};
    return guid;
}

// In sysfs's format: "98ed:9b03:00a1:b2c3", and at the end of a GID
// ("fe80:0000:0000:0000:98ed:9b03:00a1:b2c3"); nullopt for other text.
inline std::optional<Guid> parse_sysfs_guid(std::string_view text) {
    constexpr std::size_t length = 19;
    if (text.size() < length || text.size() % 5 != length % 5) return {};
    text.remove_prefix(text.size() - length);
    Guid guid = 0;
    for (std::size_t part = 0; part < length; part += 5) {
        std::uint16_t word = 0;
        const auto [read, failed] = std::from_chars(text.data() + part, text.data() + part + 4, word, 16);
        if (failed != std::errc{} || read != text.data() + part + 4) return {};
        if (part + 4 < length && text[part + 4] != ':') return {};
        guid = guid << 16 | word;
    }
    return guid;
}

// GUIDs generated from names (read/text.hpp) have the "locally administered" bit of EUI-64 set, so they
// belong to no vendor. The first byte shows what it was generated for.
enum class Made : std::uint8_t { node = 0x02, group = 0x06, host = 0x0A };
inline bool is_made(Guid guid, Made what) {
    return guid >> 56 == static_cast<std::uint8_t>(what);
}

// Whether it was read from a device: a source with only names or units has none.
inline bool is_devices(Guid guid) {
    return guid != 0 && !is_made(guid, Made::node) && !is_made(guid, Made::group) &&
           !is_made(guid, Made::host);
}

} // namespace topo
