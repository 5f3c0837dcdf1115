// A group of hosts, named after what they share: "r7=n[001-032]".
#pragma once

#include "base/expected.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace base {

struct HostGroup {
    std::string name;
    std::vector<std::string> hosts;
};

// Errors (Code::input): no '=', an empty name or one with a space, no host, and those of expand_hostlist().
Expected<HostGroup> parse_group(std::string_view text);

} // namespace base
