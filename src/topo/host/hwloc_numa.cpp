#include "topo/host/hwloc_numa.hpp"

#include <fmt/format.h>

#include <hwloc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <type_traits>

namespace topo {
namespace {

struct Destroy {
    void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, Destroy>;

// Sets HWLOC_FSROOT during its lifetime.
class FsRoot {
public:
    explicit FsRoot(const std::string& fsroot) {
        if (fsroot.empty()) return;
        if (const char* before = std::getenv(name)) before_ = before;
        set_ = true;
        setenv(name, fsroot.c_str(), 1);
    }
    ~FsRoot() {
        if (!set_) return;
        if (before_.empty())
            unsetenv(name);
        else
            setenv(name, before_.c_str(), 1);
    }
    FsRoot(const FsRoot&) = delete;
    FsRoot& operator=(const FsRoot&) = delete;

private:
    static constexpr const char* name = "HWLOC_FSROOT";
    bool set_ = false;
    std::string before_;
};

} // namespace

base::Expected<std::vector<NumaNode>> read_numa_nodes(const std::string& fsroot) {
    const FsRoot root(fsroot);
    hwloc_topology_t raw = nullptr;
    if (hwloc_topology_init(&raw) != 0)
        return base::Error{base::Code::internal, "hwloc cannot be initialised"};
    const Topology topology(raw);
    hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_NONE);
    hwloc_topology_set_cache_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_NONE);
    if (hwloc_topology_load(raw) != 0)
        return base::Error{base::Code::io, fmt::format("{}: hwloc finds no machine in it",
                                                       fsroot.empty() ? std::string("/sys") : fsroot)};
    std::vector<NumaNode> nodes;
    for (hwloc_obj_t at = nullptr;
         (at = hwloc_get_next_obj_by_type(raw, HWLOC_OBJ_NUMANODE, at)) != nullptr;) {
        NumaNode& node = nodes.emplace_back();
        node.id = static_cast<int>(at->os_index);
        for (int cpu = -1; (cpu = hwloc_bitmap_next(at->cpuset, cpu)) != -1;)
            node.cpus.push_back(cpu);
    }
    std::sort(nodes.begin(), nodes.end(), [](const NumaNode& a, const NumaNode& b) { return a.id < b.id; });
    return nodes;
}

} // namespace topo
