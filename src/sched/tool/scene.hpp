// The input of every railplan command: a fabric, the state of its hosts, and the names of both files.
#pragma once

#include "base/cli.hpp"
#include "base/expected.hpp"
#include "base/json.hpp"
#include "sched/ask/snapshot.hpp"
#include "sched/place.hpp"
#include "topo/fabric.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sched::tool {

struct Scene {
    topo::Fabric fabric;
    Snapshot snapshot;
};

struct SceneFiles {
    std::string fabric, state;

    // --fabric and --state, both required.
    void add_to(base::Words& words);
    // Prints hosts that are in the state but not in the fabric on standard error. Errors: both are standard
    // input (Code::usage), and those of topo::read_fabric and parse_state.
    base::Expected<Scene> read() const;
};

// The indices of the hosts in a host list. Errors (Code::usage) name the option and the first host that is
// not in the fabric.
base::Expected<std::vector<std::uint32_t>> hosts_of(const topo::Fabric& fabric, std::string_view option,
                                                    std::string_view list);

// The same for a file with names separated by white space; "-" is standard input.
base::Expected<std::vector<std::uint32_t>> hosts_in_file(const topo::Fabric& fabric, std::string_view option,
                                                         const std::string& path);

// A list that contains '/', or "-", is a file.
base::Expected<std::vector<std::uint32_t>> hosts_named(const topo::Fabric& fabric, std::string_view option,
                                                       const std::string& list);

std::vector<std::string> names_of(const topo::Fabric& fabric, const std::vector<std::uint32_t>& hosts);

boost::json::object to_json(const Score& score);
boost::json::array to_json(const std::vector<std::string>& texts);

} // namespace sched::tool
