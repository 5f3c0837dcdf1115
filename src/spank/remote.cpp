#include "spank/remote.hpp"

#include "topo/export/tree.hpp"

#include <climits>
#include <cstdlib>
#include <unistd.h>

namespace spank {

std::optional<std::string> task_variable(spank_t handle, const std::string& name) {
    std::string value(256, '\0');
    for (;;) {
        const auto error = spank_getenv(handle, name.c_str(), value.data(), static_cast<int>(value.size()));
        if (error == ESPANK_SUCCESS) return std::string(value.c_str());
        if (error != ESPANK_NOSPACE || value.size() > (std::size_t{1} << 20)) return {};
        value.assign(value.size() * 4, '\0');
    }
}

const std::string& node_name() {
    // Determined once, as root and before tasks are forked.
    static const std::string name = [] {
        const char* by_slurmd = std::getenv("SLURMD_NODENAME");
        if (by_slurmd != nullptr && topo::exports::safe_name(by_slurmd)) return std::string(by_slurmd);
        char node[HOST_NAME_MAX + 1] = "";
        ::gethostname(node, sizeof node - 1);
        const std::string whole(node);
        return whole.substr(0, whole.find('.'));
    }();
    return name;
}

std::uint32_t item(spank_t handle, spank_item_t which, std::uint32_t otherwise) {
    std::uint32_t value = otherwise;
    return spank_get_item(handle, which, &value) == ESPANK_SUCCESS ? value : otherwise;
}

} // namespace spank
