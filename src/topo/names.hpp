// Names of a fabric's parts for users.
#pragma once

#include "topo/fabric.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace topo {

std::string hca_name(const Host& host, const Hca& hca); // "n002 mlx5_1"; with its GUID if not unique
// "leaf-su1-r2"; with its GUID if another switch has that name; "none" for the index none.
std::string switch_name(const Fabric& fabric, int index);
std::string end_name(const Fabric& fabric, const End& end); // "n002 mlx5_1/1", "leaf-su1-r2/9"
std::string host_names(const Fabric& fabric, const std::vector<std::uint32_t>& hosts); // "n[001-004]"
// The known hosts, and the number of others: "n[001-004], 3 HCAs of no known host" (nameless.hpp).
std::string known_host_names(const Fabric& fabric, const std::vector<std::uint32_t>& hosts);
std::string switch_names(const Fabric& fabric, const std::vector<int>& switches); // "leaf-su1-r[0-7]"

// "1 host", "3 hosts".
std::string counted(std::size_t n, std::string_view one, std::string_view many);

// An index that is not none, as a container index.
inline std::size_t at(int index) {
    return static_cast<std::size_t>(index);
}

} // namespace topo
