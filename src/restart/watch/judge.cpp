#include "restart/watch/judge.hpp"

#include "restart/watch/gpu_signals.hpp"
#include "restart/watch/host_signals.hpp"
#include "restart/watch/ucx_signals.hpp"
#include "restart/watch/xid_words.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace restart {
namespace {

// A user's programs that ran this long without a fault show that the GPU is sound.
constexpr base::Duration sound_run = std::chrono::minutes(1);

} // namespace

Judge::Judge(const Limits& limits, const RuleSet& rules)
    : book_(rules, limits), ports_(RuleBook::counters(rules)) {}

void Judge::set_rules(const Limits& limits, const RuleSet& rules) {
    book_.set(rules, limits);
    signals_.clear(); // their names belong to the old rules' counters
    ports_.set_counters(RuleBook::counters(rules));
}

std::string Judge::component_of(const XidEvent& event) const {
    return gpu_at(event.pci);
}

std::string Judge::gpu_at(const std::string& pci) const {
    const auto place = without_function(pci);
    const auto gpu = gpu_by_pci_.find(place);
    if (gpu != gpu_by_pci_.end()) return gpu->second;
    return place.empty() ? "gpu" : "gpu/" + place;
}

std::string Judge::hca_at(const std::string& pci) const {
    const auto hca = hca_by_pci_.find(pci);
    if (hca != hca_by_pci_.end()) return hca->second;
    return pci.empty() ? "hca" : "hca/" + pci;
}

std::optional<Signal> Judge::signal_of(const DriverLine& line) const {
    switch (line.driver) {
    case probe::Driver::mlx5: return Signal{"hca.log", hca_at(line.device), 0, 0, line.text};
    case probe::Driver::nvidia: return Signal{"gpu.log", gpu_at(line.device), 0, 0, line.text};
    case probe::Driver::nvswitch: return Signal{"nvswitch.log", line.device, 0, 0, line.text};
    case probe::Driver::pcie: break;
    }
    // There are disks and network cards below a bridge, too.
    if (gpu_by_pci_.contains(without_function(line.device)))
        return Signal{"pci.log", gpu_at(line.device), 0, 0, line.text};
    if (hca_by_pci_.contains(line.device)) return Signal{"pci.log", hca_at(line.device), 0, 0, line.text};
    return std::nullopt;
}

// A user that comes and goes between two readings is not seen, and is no evidence.
void Judge::see_users(base::Time now, const std::string& gpu, const std::vector<std::uint32_t>& users) {
    auto& here = users_[gpu];
    for (auto at = here.begin(); at != here.end();) {
        if (std::binary_search(users.begin(), users.end(), at->first)) {
            ++at;
            continue;
        }
        if (now - at->second >= sound_run) book_.ran(gpu, at->first, at->second);
        at = here.erase(at);
    }
    for (const auto user : users)
        here.try_emplace(user, now);
}

std::vector<Finding> Judge::judge(const Sample& sample) {
    if (sample.listed) listing_ = *sample.listed;
    signals_.clear();
    if (sample.ib) {
        ports_.read(*sample.ib, listing_, signals_);
        has_infiniband_ = false;
        for (const auto& port : sample.ib->ports) {
            if (!port.pci.empty()) hca_by_pci_[port.pci] = port.device;
            has_infiniband_ = has_infiniband_ || port.state == "ACTIVE";
        }
    }
    has_switches_ = has_switches_ || (sample.host && sample.host->fabric_manager);
    if (sample.gpus)
        for (const auto& gpu : *sample.gpus) {
            if (!gpu.pci.empty()) gpu_by_pci_[without_function(gpu.pci)] = fmt::format("gpu{}", gpu.index);
            read_gpu(gpu, most_links_[gpu.index], has_switches_, signals_);
        }
    presence_.read(sample, listing_, signals_);
    if (sample.host) read_host(*sample.host, signals_);
    if (sample.slurmd) signals_.push_back({"host.slurmd", "host", *sample.slurmd ? 1.0 : 0.0, 0, {}});
    for (const auto& mount : sample.mounts)
        read_mount(mount, signals_);
    for (const auto& job : sample.ucx)
        read_ucx(job, has_infiniband_, signals_);
    book_.look(sample.now, signals_);
    // A network device that is no longer the default, a service that is no longer needed.
    if (sample.host) book_.rest_is_gone(sample.now, "host.");
    // A job that has ended does not come back; its findings stay as long as their rules require.
    book_.rest_is_gone(sample.now, "ucx.");
    book_.forget("ucx.");
    if (sample.ib) {
        // What is missing belongs to a port that was renamed, has left, or is no longer in the file.
        book_.rest_is_gone(sample.now, "ib.");
        if (!book_.pending("ib.came_up") && !book_.pending("ib.listed") && !book_.pending("ib.replaced"))
            fabric_ = listing_.digest;
        else if (fabric_ != listing_.digest)
            fabric_.clear();
    }
    for (const auto& event : sample.xids) {
        auto words = words_of_xid(event.code, event.text);
        book_.event(sample.now, {"gpu.xid", component_of(event), static_cast<double>(event.code), 0,
                                 std::move(words.text), std::move(words.part), event.user});
    }
    if (sample.gpus)
        for (const auto& gpu : *sample.gpus)
            if (gpu.users) see_users(sample.now, fmt::format("gpu{}", gpu.index), *gpu.users);
    for (const auto& line : sample.driver_lines)
        if (const auto event = signal_of(line)) book_.event(sample.now, *event);
    return book_.findings(sample.now);
}

} // namespace restart
