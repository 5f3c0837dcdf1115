// The part of YAML that configuration files are written in: maps and lists by indentation, lists in brackets,
// plain and quoted scalars, comments, one document. Anchors, tags, block scalars and maps in braces are
// refused by name.
#pragma once

#include "base/expected.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace topo {

struct Yaml {
    enum class Kind : std::uint8_t { scalar, list, map };
    Kind kind = Kind::scalar;
    std::uint32_t line = 0;
    std::string text;              // of a scalar; "" for nothing
    std::vector<std::string> keys; // of a map, in order, each once
    std::vector<Yaml> items;       // of a list; of a map, by key

    const Yaml* find(std::string_view key) const;
};

// Errors (Code::input) say "NAME:LINE: …". At most 32 levels; one pass, linear but for keys of one map.
base::Expected<Yaml> parse_yaml(std::string_view text, std::string_view name);

} // namespace topo
