#include "base/host_group.hpp"

#include "base/hostlist.hpp"

#include <fmt/format.h>

namespace base {

Expected<HostGroup> parse_group(std::string_view text) {
    const auto equals = text.find('=');
    const auto name = text.substr(0, equals);
    if (equals == std::string_view::npos || name.empty() ||
        name.find_first_of(" \t") != std::string_view::npos)
        return Error{Code::input,
                     fmt::format("\"{}\": a group is written as name=hosts, such as r7=n[001-032]", text)};
    auto hosts = expand_hostlist(text.substr(equals + 1));
    if (!hosts) return std::move(hosts).error().within(fmt::format("\"{}\"", text));
    if (hosts->empty()) return Error{Code::input, fmt::format("\"{}\": the group has no host", text)};
    return HostGroup{std::string(name), *std::move(hosts)};
}

} // namespace base
