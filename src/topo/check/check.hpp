// The problems of a fabric, found by comparison with the majority of similar parts.
#pragma once

#include "topo/fabric.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace topo {

enum class Severity : std::uint8_t { error, warning, info };
std::string_view to_string(Severity severity); // "error", "warning", "info"

struct Finding {
    std::string code; // listed in railtopo(1): "hca.swapped"
    Severity severity = Severity::error;
    std::vector<std::string> ends; // affected parts: "n002 mlx5_1/1", "leaf-su1-r2/9", "n003"
    std::string evidence;          // what was seen, with names and numbers
    std::string fix;               // what to do about it
    std::string text = {};         // both as one sentence: "EVIDENCE; FIX"
};

// All problems, errors first, then by code and first end. One fault gives one finding: a crossed pair of
// cables is one, not two. The order of hosts, switches and links does not matter. O(n log n).
std::vector<Finding> check(const Fabric& fabric);

} // namespace topo
