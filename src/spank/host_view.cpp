#include "spank/host_view.hpp"

#include "base/conf.hpp"
#include "base/file.hpp"
#include "topo/excerpt.hpp"
#include "topo/export/nccl.hpp"
#include "topo/export/tree.hpp"
#include "topo/fabric_json.hpp"
#include "topo/host/hwloc_numa.hpp"
#include "topo/names.hpp"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>

#include <sys/stat.h>
#include <unistd.h>

namespace spank {
namespace {

using base::Code;
using base::Error;
using base::Expected;

// Where NCCL looks by itself in machines whose maker describes them.
constexpr const char* vendors_topo_file = "/var/run/nvidia-topologyd/virtualTopology.xml";

std::string topo_file(const topo::Fabric& fabric, const topo::Host& host, const std::string& fsroot,
                      const std::string& run_folder) {
    if (::access((fsroot + vendors_topo_file).c_str(), F_OK) == 0) return {};
    const auto text = topo::exports::nccl_topo(fabric, host);
    if (!text || !topo::exports::safe_name(host.name) || !private_folder(run_folder)) return {};
    // One a host: it says what the host is like, whatever the job. Replaced whole, so that who reads it sees
    // the former one or this.
    auto path = fmt::format("{}/nccl-topo-{}.xml", run_folder, host.name);
    if (!base::write_file_if_changed(path, *text)) return {};
    return path;
}

// The first line of what is kept of a fabric's file in this state; empty: there is no such file.
std::string first_line(const std::string& path) {
    const auto stamp = base::stamp_of(path);
    if (stamp == base::FileStamp{}) return {};
    return fmt::format("excerpt of {} {} {} {} {}.{:09}\n", path, stamp.device, stamp.inode, stamp.size,
                       stamp.seconds, stamp.nanoseconds);
}

// The excerpt, kept for the next step: a large fabric lies on storage that all hosts share, and each would
// read it whole at each step.
Expected<topo::Fabric> kept_excerpt(const std::string& path, const std::string& node,
                                    const std::string& run_folder) {
    const auto stamp = first_line(path); // before reading
    const bool keep = !stamp.empty() && topo::exports::safe_name(node) && private_folder(run_folder);
    const auto copy = fmt::format("{}/fabric-{}", run_folder, node);
    if (keep && ::access(copy.c_str(), F_OK) == 0)
        if (const auto text = base::read_file(copy); text && text->starts_with(stamp))
            if (auto fabric = topo::parse_fabric(std::string_view(*text).substr(stamp.size()), copy))
                return fabric;
    auto fabric = topo::read_excerpt(path, node);
    if (fabric && keep) // without it the next step reads the whole file again
        static_cast<void>(base::write_file_if_changed(copy, stamp + topo::print_fabric(*fabric)).has_value());
    return fabric;
}

} // namespace

Expected<HostView> view_host(const std::string& node, const std::string& fsroot,
                             const std::string& run_folder) {
    const auto conf = base::load_conf("");
    if (!conf) return conf.error();
    HostView view;
    const auto& path = conf->text("placement", "fabric");
    auto fabric = kept_excerpt(path, node, run_folder);
    if (!fabric) return std::move(fabric).error();
    view.fabric = *std::move(fabric);
    if (view.fabric.hosts.empty())
        return Error{Code::unfit, fmt::format("{}: does not know this host, {}", path, node)};
    std::error_code ignored;
    for (const int h : topo::exports::working_hcas(view.fabric, view.host()))
        if (const auto& device = view.host().hcas[topo::at(h)].device;
            topo::exports::safe_name(device) &&
            std::filesystem::exists(fsroot + "/sys/class/infiniband/" + device, ignored))
            view.hcas.push_back(h);
    if (auto numa = topo::read_numa_nodes(fsroot)) view.numa = *std::move(numa);
    view.topo_file = topo_file(view.fabric, view.host(), fsroot, run_folder);
    return view;
}

Expected<void> private_folder(const std::string& path) {
    std::error_code failed;
    if (const auto up = std::filesystem::path(path).parent_path(); !up.empty())
        std::filesystem::create_directories(up, failed);
    const auto refuse = [&](std::string_view what) {
        return Error{Code::io, fmt::format("{}: {}; files for jobs cannot be put there", path, what)};
    };
    if (::mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) return refuse(std::strerror(errno));
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0) return refuse(std::strerror(errno));
    if (!S_ISDIR(info.st_mode)) return refuse("is no folder");
    if (info.st_uid != ::geteuid()) return refuse("belongs to another user");
    if ((info.st_mode & 022) != 0) return refuse("others can write to it");
    return {};
}

} // namespace spank
