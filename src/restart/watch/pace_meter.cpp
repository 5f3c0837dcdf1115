#include "restart/watch/pace_meter.hpp"

#include "probe/nvml_abi.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace restart {
namespace {

// Below this neither a GPU nor a port works for a job: only housekeeping and management traffic.
constexpr double least_busy = 0.05, least_mb_s = 1;

// With shorter steps, the granularity of the readings would appear as peaks.
constexpr base::Duration least_between{900};

constexpr std::string_view sent = "port_xmit_data", received = "port_rcv_data", waits = "port_xmit_wait";
constexpr std::array<std::string_view, 2> resent{"local_ack_timeout_err", "packet_seq_err"};

// What a PCIe lane carries in one direction, GB/s, after its encoding (PCI Express Base Specification).
double lane_gbs(std::uint32_t generation) {
    constexpr std::array<double, 7> gbs{0, 0.25, 0.5, 0.985, 1.969, 3.938, 7.563};
    return generation < gbs.size() ? gbs[generation] : 0;
}

const std::uint64_t* counter(const PortSample& port, std::string_view name) {
    const auto found = port.counters.find(std::string(name));
    return found == port.counters.end() ? nullptr : &found->second;
}

} // namespace

GpuPace pace_of(const GpuSample& gpu) {
    constexpr auto slows = NVML_REASON_HW_SLOWDOWN | NVML_REASON_SW_THERMAL_SLOWDOWN |
                           NVML_REASON_HW_THERMAL_SLOWDOWN | NVML_REASON_HW_POWER_BRAKE;
    const auto watts = [](const std::optional<std::uint32_t>& milliwatts) {
        return milliwatts ? std::optional(*milliwatts / 1000.0) : std::nullopt;
    };
    const auto share = [](const std::optional<double>& number) {
        return number ? std::optional(std::clamp(*number, 0.0, 1.0)) : std::nullopt;
    };
    GpuPace pace;
    pace.gpu = gpu.index;
    pace.sm_mhz = gpu.sm_mhz;
    pace.mem_mhz = gpu.mem_mhz;
    pace.power_w = watts(gpu.power_mw);
    if (gpu.busy_percent) pace.busy = std::min(*gpu.busy_percent, 100U) / 100.0;
    if (gpu.pcie_generation && gpu.pcie_width)
        pace.pcie_gbs = lane_gbs(*gpu.pcie_generation) * *gpu.pcie_width;
    pace.limit_w = watts(gpu.power_limit_mw);
    if (gpu.reasons) {
        const bool capped = (*gpu.reasons & NVML_REASON_SW_POWER_CAP) != 0;
        pace.capped = capped ? 1 : 0;
        if (capped) pace.capped_mhz = pace.sm_mhz;
        pace.slowed = (*gpu.reasons & slows) != 0 ? 1 : 0;
    }
    pace.sm_active = share(gpu.sm_active);
    pace.tensor_active = share(gpu.tensor_active);
    return pace;
}

const std::vector<std::string>& PaceMeter::counters() {
    static const std::vector<std::string> names{std::string(sent), std::string(received), std::string(waits),
                                                std::string(resent[0]), std::string(resent[1])};
    return names;
}

std::optional<double> PaceMeter::Mean::take() const {
    if (n == 0) return {};
    return rounded(sum / n);
}

void PaceMeter::set_window(base::Duration window) {
    if (window == window_) return;
    window_ = window;
    begun_.reset();
    closed_.reset();
}

void PaceMeter::take(const GpuSample& gpu) {
    if (gpu.lost || (gpus_.size() >= most_paced_gpus && !gpus_.contains(gpu.index))) return;
    auto& mean = gpus_[gpu.index];
    const auto now = pace_of(gpu);
    mean.sm_mhz.add(now.sm_mhz);
    mean.mem_mhz.add(now.mem_mhz);
    mean.power_w.add(now.power_w);
    mean.busy.add(now.busy);
    mean.pcie_gbs = std::max(mean.pcie_gbs, now.pcie_gbs.value_or(0));
    mean.limit_w.add(now.limit_w);
    mean.capped.add(now.capped);
    mean.capped_mhz.add(now.capped_mhz);
    mean.slowed.add(now.slowed);
    mean.sm_active.add(now.sm_active);
    mean.tensor_active.add(now.tensor_active);
}

std::optional<PaceMeter::Counts> PaceMeter::counts_of(const PortSample& port) {
    const auto* out = counter(port, sent);
    const auto* in = counter(port, received);
    if (out == nullptr || in == nullptr) return {};
    Counts counts;
    counts.bytes = 4 * (*out + *in); // counted in words of four bytes (IBTA, PortCountersExtended)
    for (const auto name : resent)
        if (const auto* held = counter(port, name)) counts.resent += *held;
    if (const auto* held = counter(port, waits)) counts.waits = *held;
    return counts;
}

void PaceMeter::take(const PortSample& port, base::Time now) {
    if (port.state != "ACTIVE") return;
    const auto name = fmt::format("{}:{}", port.device, port.port);
    if (ports_.size() >= most_paced_ports && !ports_.contains(name)) return;
    const auto counts = counts_of(port);
    auto& held = ports_[name];
    held.gbps = port.rate_gbps;
    const auto last = std::exchange(held.last, counts);
    const double seconds = base::to_seconds(now - std::exchange(held.at, now));
    // A counter that went back was reset: nothing is known about this time.
    if (!counts || !last || seconds <= 0 || counts->bytes < last->bytes || counts->resent < last->resent)
        return;
    held.seconds += seconds;
    held.bytes += static_cast<double>(counts->bytes - last->bytes);
    held.resent += static_cast<double>(counts->resent - last->resent);
    if (counts->waits && last->waits && *counts->waits >= *last->waits) {
        held.has_waits = true;
        held.waits += static_cast<double>(*counts->waits - *last->waits);
    }
    if (held.mb_s.size() < most_looks)
        held.mb_s.push_back(static_cast<double>(counts->bytes - last->bytes) / seconds / 1e6);
}

void PaceMeter::close(base::Time now, base::Time wall) {
    auto& made = closed_.emplace();
    made.window = static_cast<std::uint64_t>(std::max<std::int64_t>(0, wall.time_since_epoch().count()));
    made.seconds = rounded(base::to_seconds(now - *begun_));
    worked_ = false;
    for (const auto& [index, gpu] : gpus_) {
        auto& pace = made.gpus.emplace_back();
        pace.gpu = index;
        pace.sm_mhz = gpu.sm_mhz.take();
        pace.mem_mhz = gpu.mem_mhz.take();
        pace.power_w = gpu.power_w.take();
        pace.busy = gpu.busy.take();
        if (gpu.pcie_gbs > 0) pace.pcie_gbs = rounded(gpu.pcie_gbs);
        pace.limit_w = gpu.limit_w.take();
        pace.capped = gpu.capped.take();
        pace.capped_mhz = gpu.capped_mhz.take();
        pace.slowed = gpu.slowed.take();
        pace.sm_active = gpu.sm_active.take();
        pace.tensor_active = gpu.tensor_active.take();
        worked_ = worked_ || pace.busy.value_or(0) >= least_busy;
    }
    for (auto& [name, port] : ports_) {
        if (port.seconds <= 0) continue;
        auto& pace = made.ports.emplace_back();
        pace.port = name;
        pace.mb_s = rounded(port.bytes / port.seconds / 1e6);
        std::sort(port.mb_s.begin(), port.mb_s.end());
        pace.peak_mb_s = rounded(port.mb_s[port.mb_s.size() * 9 / 10]);
        if (port.has_waits) pace.waits = rounded(port.waits / port.seconds);
        pace.resent = rounded(port.resent / port.seconds);
        pace.gbps = port.gbps;
        worked_ = worked_ || pace.mb_s >= least_mb_s;
        port.seconds = port.bytes = port.waits = port.resent = 0;
        port.has_waits = false;
        port.mb_s.clear();
    }
    gpus_.clear();
    // Removes ports that are gone.
    std::erase_if(ports_, [&](const auto& entry) { return now - entry.second.at > window_; });
}

bool PaceMeter::look(const Sample& sample, base::Time wall) {
    if (window_ == base::Duration{} || (begun_ && sample.now - last_look_ < least_between)) return false;
    last_look_ = sample.now;
    if (sample.gpus)
        for (const auto& gpu : *sample.gpus)
            take(gpu);
    if (sample.ib)
        for (const auto& port : sample.ib->ports)
            take(port, sample.now);
    if (!begun_) begun_ = sample.now;
    if (sample.now - *begun_ < window_) return false;
    close(sample.now, wall);
    begun_ = sample.now;
    return true;
}

std::optional<HostPace> PaceMeter::pace(bool marks) const {
    return worked_ || marks ? closed_ : std::nullopt;
}

} // namespace restart
