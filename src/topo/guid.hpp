// GUIDs as text: 64 bits in hexadecimal.
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

// "0x98039b0300a1b2c3", "98039b0300a1b2c3"; nothing for another text.
inline std::optional<Guid> parse_guid(std::string_view text) {
    if (text.starts_with("0x")) text.remove_prefix(2);
    Guid guid = 0;
    const auto* end = text.data() + text.size();
    const auto [read, failed] = std::from_chars(text.data(), end, guid, 16);
    if (failed != std::errc{} || read != end) return {};
    return guid;
}

} // namespace topo
