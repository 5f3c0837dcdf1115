#include "spank/host_view.hpp"

#include "base/conf.hpp"
#include "base/file.hpp"
#include "base/private_folder.hpp"
#include "topo/excerpt.hpp"
#include "topo/export/nccl.hpp"
#include "topo/export/tree.hpp"
#include "topo/host/hwloc_numa.hpp"
#include "topo/host/kernel_hcas.hpp"
#include "topo/names.hpp"

#include <fmt/format.h>

#include <map>
#include <unistd.h>

namespace spank {
namespace {

using base::Code;
using base::Error;
using base::Expected;

// Where NCCL looks by default, on machines whose vendor provides a topology file.
constexpr const char* vendors_topo_file = "/var/run/nvidia-topologyd/virtualTopology.xml";

std::string topo_file(const topo::Fabric& fabric, const topo::Host& host, const std::string& fsroot,
                      const std::string& run_folder) {
    if (::access((fsroot + vendors_topo_file).c_str(), F_OK) == 0) return {};
    const auto text = topo::exports::nccl_topo(fabric, host);
    if (!text || !topo::exports::safe_name(host.name) || !base::private_folder(run_folder)) return {};
    // One for each host, whatever the job. Replaced atomically: a reader sees the old or the new one.
    auto path = fmt::format("{}/nccl-topo-{}.xml", run_folder, host.name);
    if (!base::write_file_if_changed(path, *text)) return {};
    return path;
}

} // namespace

Expected<HostView> view_host(const std::string& node, const std::string& fsroot,
                             const std::string& run_folder) {
    const auto conf = base::load_conf("", {base::ConfTable::placement});
    if (!conf) return conf.error();
    HostView view;
    const auto& path = conf->placement.fabric;
    auto excerpt = topo::kept_excerpt(path, node, run_folder);
    if (!excerpt) return std::move(excerpt).error();
    view.fabric = std::move(excerpt->fabric);
    if (view.fabric.hosts.empty())
        return Error{Code::unfit, fmt::format("{}: does not know this host, {}", path, node)};
    std::map<int, std::string> names;
    const auto kernel = topo::read_kernel_hcas(fsroot + "/sys");
    for (const int h : topo::exports::working_hcas(view.fabric, view.host())) {
        const auto device = topo::kernel_name(view.host(), view.host().hcas[topo::at(h)], kernel);
        if (!topo::exports::safe_name(device)) continue;
        names[h] = device;
        view.hcas.push_back(h);
    }
    // Only now, since names are compared above: jobs get the kernel's names.
    for (const auto& [h, device] : names)
        view.fabric.hosts.front().hcas[topo::at(h)].device = device;
    if (auto numa = topo::read_numa_nodes(fsroot)) view.numa = *std::move(numa);
    view.topo_file = topo_file(view.fabric, view.host(), fsroot, run_folder);
    return view;
}

} // namespace spank
