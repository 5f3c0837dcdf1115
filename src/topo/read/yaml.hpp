// YAML as a tree of values with their lines, for files such as topology.yaml; parsed by libyaml. Anchors,
// aliases and tags are rejected with a specific error: such files contain plain values.
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
    std::vector<Yaml> items;       // of a list; of a map, the values of its keys

    const Yaml* find(std::string_view key) const;
};

// Parses one document. Errors (Code::input) read "NAME:LINE: …". At most 32 levels; linear except for the
// keys of one map.
base::Expected<Yaml> parse_yaml(std::string_view text, std::string_view name);

} // namespace topo
