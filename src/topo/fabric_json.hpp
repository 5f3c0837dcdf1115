// fabric.json, the stored form of a fabric: fabric.json(5). Schema version 1.
//
// Only what was seen is stored; units, pods and tiers are derived (derive.hpp) on reading. A link names its
// two ends by node GUID and port, so names may change without touching links.
#pragma once

#include "base/expected.hpp"
#include "topo/fabric.hpp"

#include <array>
#include <filesystem>
#include <string>
#include <string_view>

namespace topo {

inline constexpr int fabric_json_version = 1;

// A whole fabric, derived. Members this version does not know are kept (fabric.hpp: `extra`). Errors
// (Code::input) start with `name` and the field ("fabric.json: hosts[3].hcas[0].guid: …") or line and column
// for text that is not JSON; Code::io if the file cannot be read. About 30 ms for 1,024 hosts of 8 HCAs.
base::Expected<Fabric> parse_fabric(std::string_view text, std::string_view name);
base::Expected<Fabric> read_fabric(const std::filesystem::path& path);

// The file's text: one HCA, switch or link per line, in the order of order.hpp; the same fabric always gives
// the same bytes. Unknown members are last in their object.
std::string print_fabric(const Fabric& fabric);

// The words used in the file, in the order of the enumerations.
inline constexpr std::array<std::string_view, 5> state_words{"unknown", "down", "init", "armed", "active"};
inline constexpr std::array<std::string_view, 2> role_words{"compute", "storage"};
std::string_view to_string(LinkState state);
std::string_view to_string(Role role);

} // namespace topo
