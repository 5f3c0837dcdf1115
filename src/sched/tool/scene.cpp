#include "sched/tool/scene.hpp"

#include "base/file.hpp"
#include "base/hostlist.hpp"
#include "sched/slurm/host_states.hpp"
#include "topo/fabric_json.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sched::tool {

using base::Code;
using base::Error;
using base::Expected;

namespace {

Expected<Snapshot> read_state(const std::string& path, const topo::Fabric& fabric) {
    const auto text = base::read_file(path);
    if (!text) return text.error();
    std::vector<std::string> unknown;
    auto snapshot = parse_state(*text, path == "-" ? "standard input" : path, fabric, &unknown);
    if (snapshot && !unknown.empty())
        fmt::print(stderr, "railplan: passed over, not in the fabric: {}\n", base::fold_hostlist(unknown));
    return snapshot;
}

} // namespace

void SceneFiles::add_to(base::Words& words) {
    words.add_option("--fabric", fabric, "Fabric file (fabric.json), - for standard input")->required();
    words
        .add_option("--state", state,
                    "Lines HOST STATE [HEALTH], as sinfo -h -N -o \"%N %T\" prints; - for standard input")
        ->required();
}

Expected<Scene> SceneFiles::read() const {
    if (fabric == "-" && state == "-")
        return Error{Code::usage,
                     "--fabric and --state cannot both be standard input: name a file for one of them"};
    auto read = topo::read_fabric(fabric);
    if (!read) return std::move(read).error();
    auto snapshot = read_state(state, *read);
    if (!snapshot) return std::move(snapshot).error();
    return Scene{*std::move(read), *std::move(snapshot)};
}

Expected<std::vector<std::uint32_t>> hosts_of(const topo::Fabric& fabric, std::string_view option,
                                              std::string_view list) {
    auto names = base::expand_hostlist(list);
    if (!names) return std::move(names).error().within(option);
    std::vector<std::uint32_t> hosts;
    for (const auto& name : *names) {
        const auto host = fabric.find_host(name);
        if (!host) return Error{Code::usage, fmt::format("{}: {}: no such host in the fabric", option, name)};
        hosts.push_back(*host);
    }
    return hosts;
}

Expected<std::vector<std::uint32_t>> hosts_named(const topo::Fabric& fabric, std::string_view option,
                                                 const std::string& list) {
    if (list != "-" && list.find('/') == std::string::npos) return hosts_of(fabric, option, list);
    return hosts_in_file(fabric, option, list);
}

Expected<std::vector<std::uint32_t>> hosts_in_file(const topo::Fabric& fabric, std::string_view option,
                                                   const std::string& path) {
    const auto text = base::read_file(path);
    if (!text) return base::Error(text.error()).within(option);
    constexpr std::string_view blanks = " \t\r\n";
    std::string names;
    for (auto at = text->find_first_not_of(blanks); at != std::string::npos;) {
        const auto end = std::min(text->find_first_of(blanks, at), text->size());
        if (!names.empty()) names += ',';
        names.append(*text, at, end - at);
        at = text->find_first_not_of(blanks, end);
    }
    return hosts_of(fabric, option, names);
}

std::vector<std::string> names_of(const topo::Fabric& fabric, const std::vector<std::uint32_t>& hosts) {
    std::vector<std::string> names;
    names.reserve(hosts.size());
    for (const auto h : hosts)
        names.push_back(fabric.hosts[h].name);
    return names;
}

boost::json::object to_json(const Score& score) {
    boost::json::object out{{"tier", score.tier},           {"pods", score.pods},
                            {"units", score.units},         {"misaligned_rails", score.misaligned_rails},
                            {"avoidance", score.avoidance}, {"broken_units", score.broken_units},
                            {"left_over", score.left_over}};
    if (score.moved > 0) out["moved"] = score.moved;
    if (score.domains > 0) {
        out["domains"] = score.domains;
        out["broken_domains"] = score.broken_domains;
        out["left_in_domains"] = score.left_in_domains;
    }
    return out;
}

boost::json::array to_json(const std::vector<std::string>& texts) {
    return boost::json::array(texts.begin(), texts.end());
}

} // namespace sched::tool
