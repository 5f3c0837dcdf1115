// What every command of railplan is about: a fabric, what its hosts do, and names for both.
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
    // Names hosts of the state that are not in the fabric on standard error. Errors: both standard input
    // (Code::usage), and those of topo::read_fabric and parse_state.
    base::Expected<Scene> read() const;
};

// The indices of a host list's hosts. Errors (Code::usage) name the option and the first host the fabric does
// not have.
base::Expected<std::vector<std::uint32_t>> hosts_of(const topo::Fabric& fabric, std::string_view option,
                                                    std::string_view list);

// The same of a file that names them, separated by white space; "-" is standard input.
base::Expected<std::vector<std::uint32_t>> hosts_in_file(const topo::Fabric& fabric, std::string_view option,
                                                         const std::string& path);

// A list with a '/' in it, or "-", is a file.
base::Expected<std::vector<std::uint32_t>> hosts_named(const topo::Fabric& fabric, std::string_view option,
                                                       const std::string& list);

std::vector<std::string> names_of(const topo::Fabric& fabric, const std::vector<std::uint32_t>& hosts);

boost::json::object to_json(const Score& score);
boost::json::array to_json(const std::vector<std::string>& texts);

} // namespace sched::tool
