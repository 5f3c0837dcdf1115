#include "topo/fabric.hpp"

namespace topo {

std::optional<std::uint32_t> Fabric::find_host(std::string_view name) const {
    const auto found = host_index.find(std::string(name));
    if (found == host_index.end()) return {};
    return found->second;
}

} // namespace topo
