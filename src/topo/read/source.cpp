#include "topo/read/source.hpp"

#include "topo/read/ibnetdiscover.hpp"
#include "topo/read/lsf_hosts.hpp"
#include "topo/read/opensm.hpp"
#include "topo/read/slurm_topology.hpp"
#include "topo/read/text.hpp"

#include <fmt/format.h>

#include <array>

namespace topo {
namespace {

using base::Code;
using base::Error;
using base::Expected;

constexpr std::array<std::string_view, 6> words{"auto", "ibnetdiscover", "ibsim", "opensm", "slurm", "lsf"};

// The first line that says something.
std::string_view first_line(std::string_view text) {
    Lines lines(text);
    std::string_view line;
    while (lines.next(line)) {
        line = trimmed(line);
        if (!line.empty() && !line.starts_with('#') && line != "---" && !line.starts_with("ibwarn:") &&
            !line.starts_with("src/"))
            return line;
    }
    return {};
}

bool is_yaml(std::string_view line) {
    return line == "-" || line.starts_with("- ");
}

Expected<Assembly> finish(Expected<RawFabric> raw, const Rules* rules) {
    if (!raw) return std::move(raw).error();
    return assemble(*raw, rules);
}

Expected<Assembly> finish(Expected<Outline> outline) {
    if (!outline) return std::move(outline).error();
    return assemble(*outline);
}

} // namespace

std::optional<SourceFormat> parse_source_format(std::string_view word) {
    for (std::size_t i = 0; i < words.size(); ++i)
        if (words[i] == word) return static_cast<SourceFormat>(i);
    return {};
}

std::string_view to_string(SourceFormat format) {
    return words[static_cast<std::size_t>(format)];
}

SourceFormat detect_format(std::string_view text) {
    const auto line = first_line(text);
    if (line.starts_with('{') && line.find("NodeGUID:") != std::string_view::npos)
        return SourceFormat::opensm;
    if (is_yaml(line)) return SourceFormat::slurm;
    const auto key = line.substr(0, line.find_first_of("= \t"));
    for (const auto known : {"SwitchName", "BlockName", "BlockSizes"})
        if (same_word(key, known)) return SourceFormat::slurm;
    if (same_word(key, "Begin")) return SourceFormat::lsf;
    if (same_word(key, "width") || same_word(key, "speed") || same_word(key, "module"))
        return SourceFormat::ibsim;
    return SourceFormat::ibnetdiscover;
}

Expected<Assembly> read_source(std::string_view text, std::string_view name, SourceFormat format,
                               const Rules* rules) {
    if (format == SourceFormat::automatic) format = detect_format(text);
    const auto line = first_line(text);
    if (line.starts_with("{\"railyard_fabric\""))
        return Error{Code::input, fmt::format("{}: is a fabric file already", name)};
    auto assembly = format == SourceFormat::opensm  ? finish(parse_opensm(text, name), rules)
                    : format == SourceFormat::lsf   ? finish(parse_lsb_hosts(text, name))
                    : format != SourceFormat::slurm ? finish(parse_ibnetdiscover(text, name), rules)
                    : is_yaml(line)                 ? finish(parse_topology_yaml(text, name))
                                                    : finish(parse_topology_conf(text, name));
    if (!assembly) return assembly;
    const bool units_only = format == SourceFormat::slurm || format == SourceFormat::lsf;
    assembly->fabric.source =
        fmt::format("{}{}, {}", to_string(format), units_only ? " (units only, no rails)" : "", name);
    return assembly;
}

} // namespace topo
