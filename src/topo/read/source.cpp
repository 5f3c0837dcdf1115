#include "topo/read/source.hpp"

#include "topo/read/clean.hpp"
#include "topo/read/db_csv.hpp"
#include "topo/read/iblinkinfo.hpp"
#include "topo/read/ibnetdiscover.hpp"
#include "topo/read/lsf_hosts.hpp"
#include "topo/read/modules.hpp"
#include "topo/read/net_dump.hpp"
#include "topo/read/opensm.hpp"
#include "topo/read/slurm_topology.hpp"
#include "topo/read/text.hpp"
#include "topo/read/ufm.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <vector>

namespace topo {
namespace {

using base::Code;
using base::Error;
using base::Expected;

constexpr std::array<std::string_view, 10> format_words{
    "auto", "ibnetdiscover", "iblinkinfo", "ibsim", "opensm", "net_dump", "db_csv", "ufm", "slurm", "lsf"};

constexpr std::string_view accepted =
    "text of ibnetdiscover (also -p) or iblinkinfo (also -l), a net file of ibsim, opensm-subnet.lst or "
    "ibdiagnet2.lst, ibdiagnet2.net_dump, ibdiagnet2.db_csv, JSON of UFM's ports or links, Slurm's "
    "topology.conf, topology.yaml or the output of scontrol show topology, LSF's lsb.hosts";

bool is_yaml(std::string_view line) {
    return line == "-" || line.starts_with("- ");
}

// Lines that are part of no format and may be ignored.
bool says_nothing(std::string_view line) {
    return line.empty() || line.starts_with('#') || line == "---" || line.starts_with("ibwarn:") ||
           line.starts_with("src/");
}

bool digit(char c) {
    return c >= '0' && c <= '9';
}

// "WORD 5", with any number of blanks.
bool counts(std::string_view line, std::string_view word) {
    if (!line.starts_with(word)) return false;
    const auto rest = line.substr(word.size());
    const auto number = rest.find_first_not_of(" \t");
    return number != std::string_view::npos && number > 0 && (digit(rest[number]) || rest[number] == '"');
}

bool is_ibnetdiscover(std::string_view line) {
    for (const auto* key : {"vendid=", "devid=", "sysimgguid=", "switchguid=", "caguid=", "rtguid="})
        if (line.starts_with(key)) return true;
    for (const auto* word : {"Switch", "Hca", "Ca", "Rt", "???", "CA", "SW", "RT", "??", "Chassis"})
        if (counts(line, word)) return true;
    return line.size() > 1 && line[0] == '[' && digit(line[1]);
}

bool is_iblinkinfo(std::string_view line) {
    if (line.starts_with("Switch: 0x") || line.starts_with("Switch 0x")) return true;
    if ((line.starts_with("CA: ") || line.starts_with("Router: ")) && line.ends_with(':')) return true;
    const auto open = line.find("==(");
    return open != std::string_view::npos && line.find("==>", open) != std::string_view::npos;
}

bool is_net_dump(std::string_view line) {
    if (line.starts_with('#')) return line.find("IB#") != std::string_view::npos;
    return line.starts_with('"') && line.find("\", ") != std::string_view::npos &&
           line.find(", 0x") != std::string_view::npos && line.find(", LID ") != std::string_view::npos;
}

// The first line of an array of objects, or of an object of such arrays.
bool is_json(std::string_view line) {
    const auto next = trimmed(line.substr(1));
    if (line.starts_with('[')) return next.empty() || next.starts_with('{');
    return line.starts_with('{') && (next.empty() || next.starts_with('"'));
}

// Whether JSON may be about ports or links: any other has none of their members.
bool names_ports(std::string_view text) {
    for (const auto* member : {"\"source_guid\"", "\"number\"", "\"physical_state\""})
        if (text.find(member) != std::string_view::npos) return true;
    return false;
}

// The format in which this line, without surrounding white space, can be the first significant one.
SourceFormat format_of(std::string_view line) {
    if (line.starts_with('{') && line.find("NodeGUID:") != std::string_view::npos)
        return SourceFormat::opensm;
    if (is_iblinkinfo(line)) return SourceFormat::iblinkinfo;
    if (is_ibnetdiscover(line)) return SourceFormat::ibnetdiscover;
    if (is_net_dump(line)) return SourceFormat::net_dump;
    if (line.starts_with("START_")) return SourceFormat::db_csv;
    if (is_json(line)) return SourceFormat::ufm;
    if (is_yaml(line)) return SourceFormat::slurm;
    const auto end = line.find_first_of("= \t");
    const auto key = line.substr(0, end);
    if (end != std::string_view::npos && trimmed(line.substr(end)).starts_with('='))
        for (const auto* known : {"SwitchName", "BlockName", "BlockSizes", "AggregatedBlock"})
            if (same_word(key, known)) return SourceFormat::slurm;
    if (end == std::string_view::npos) return SourceFormat::automatic;
    if (same_word(key, "Begin")) return SourceFormat::lsf;
    for (const auto* known : {"width", "speed", "module"})
        if (same_word(key, known)) return SourceFormat::ibsim;
    return SourceFormat::automatic;
}

// A text whose format was detected, without other text before and after it.
struct Found {
    SourceFormat format = SourceFormat::automatic;
    std::string_view first; // first line of the format
    std::string text;       // the whole text, other lines empty
    std::vector<std::string> notes;
};

// Searches for the first line of `wanted`, or of any format if it is automatic.
Found find_format(const std::string& text, std::string_view name, SourceFormat wanted) {
    Found found;
    found.text.reserve(text.size());
    Lines lines(text);
    std::string_view line, passed;
    std::uint32_t count = 0;
    while (lines.next(line)) {
        const auto words = trimmed(line);
        if (found.format == SourceFormat::automatic && !says_nothing(words)) {
            const auto format = format_of(words);
            if (format != SourceFormat::automatic &&
                (wanted == SourceFormat::automatic || wanted == format)) {
                found.format = format;
                found.first = words;
                if (count != 0)
                    found.notes.push_back(
                        fmt::format("{}:{}: what stands in front of the text of {} is passed "
                                    "over, {}: {}",
                                    name, lines.number(), to_string(format),
                                    count == 1 ? "a line" : fmt::format("{} lines", count),
                                    trimmed_printable(passed.substr(0, 60))));
            } else {
                if (++count == 1) passed = words;
                found.text += '\n';
                continue;
            }
        } else if (found.format != SourceFormat::automatic && ends_output(words)) {
            found.notes.push_back(fmt::format("{}:{}: what stands behind the text of {} is passed over: {}",
                                              name, lines.number(), to_string(found.format),
                                              trimmed_printable(words.substr(0, 60))));
            break;
        }
        found.text += line;
        if (!lines.cut()) found.text += '\n';
    }
    return found;
}

Expected<Assembly> finish(Expected<RawFabric> raw, const Rules* rules) {
    if (!raw) return std::move(raw).error();
    auto assembly = assemble(*raw, rules);
    if (assembly) attach_modules(assembly->fabric, *raw);
    return assembly;
}

Expected<Assembly> finish(Expected<Outline> outline) {
    if (!outline) return std::move(outline).error();
    return assemble(*outline);
}

Expected<Assembly> read_as(SourceFormat format, std::string_view text, std::string_view name,
                           std::string_view first, const Rules* rules) {
    switch (format) {
    case SourceFormat::opensm: return finish(parse_opensm(text, name), rules);
    case SourceFormat::iblinkinfo: return finish(parse_iblinkinfo(text, name), rules);
    case SourceFormat::net_dump: return finish(parse_net_dump(text, name), rules);
    case SourceFormat::db_csv: return finish(parse_db_csv(text, name), rules);
    case SourceFormat::ufm: return finish(parse_ufm(text, name), rules);
    case SourceFormat::lsf: return finish(parse_lsb_hosts(text, name));
    case SourceFormat::slurm:
        return is_yaml(first) ? finish(parse_topology_yaml(text, name))
                              : finish(parse_topology_conf(text, name));
    default: return finish(parse_ibnetdiscover(text, name), rules);
    }
}

} // namespace

std::optional<SourceFormat> parse_source_format(std::string_view word) {
    for (std::size_t i = 0; i < format_words.size(); ++i)
        if (format_words[i] == word) return static_cast<SourceFormat>(i);
    return {};
}

std::string_view to_string(SourceFormat format) {
    return format_words[static_cast<std::size_t>(format)];
}

SourceFormat detect_format(std::string_view text) {
    return find_format(clean_text(text), "", SourceFormat::automatic).format;
}

Expected<Assembly> read_source(std::string_view text, std::string_view name, SourceFormat format,
                               const Rules* rules) {
    const auto clean = clean_text(text);
    if (trimmed(clean).starts_with("{\"railyard_fabric\""))
        return Error{Code::input, fmt::format("{}: is a fabric file already", name)};
    const auto found = find_format(clean, name, format);
    const bool seen = found.format != SourceFormat::automatic;
    if (format == SourceFormat::automatic) {
        if (!seen || (found.format == SourceFormat::ufm && !names_ports(found.text)))
            return Error{Code::input, fmt::format("{}: is none of what can be read: {}", name, accepted)};
        format = found.format;
    }
    auto assembly = read_as(format, seen ? found.text : clean, name, found.first, rules);
    if (!assembly) return assembly;
    assembly->notes.insert(assembly->notes.begin(), found.notes.begin(), found.notes.end());
    const bool units_only = format == SourceFormat::slurm || format == SourceFormat::lsf;
    assembly->fabric.source =
        fmt::format("{}{}, {}", to_string(format), units_only ? " (units only, no rails)" : "", name);
    return assembly;
}

Expected<Outline> read_blocks(std::string_view text, std::string_view name) {
    const auto clean = clean_text(text); // found.first is a view of it
    const auto found = find_format(clean, name, SourceFormat::slurm);
    if (found.format != SourceFormat::slurm)
        return Error{Code::input,
                     fmt::format("{}: no topology.conf or topology.yaml of Slurm, and no output of "
                                 "scontrol show topology",
                                 name)};
    auto blocks = is_yaml(found.first) ? parse_topology_yaml(found.text, name, true)
                                       : parse_topology_conf(found.text, name);
    if (!blocks) return blocks;
    if (!blocks->joined)
        return Error{Code::input, fmt::format("{}: has switches and no blocks: which hosts share NVLink "
                                              "switches is not told",
                                              name)};
    blocks->notes.insert(blocks->notes.begin(), found.notes.begin(), found.notes.end());
    return blocks;
}

} // namespace topo
