#include "restart/watch/pace_meter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace restart {
namespace {

// Below this neither a GPU nor a port works for a job: housekeeping, and the traffic of management.
constexpr double least_busy = 0.05, least_mb_s = 1;

// Looks that follow each other closer than this would take the grain of the readings for peaks.
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
    if (gpu.sm_mhz) mean.sm_mhz.add(*gpu.sm_mhz);
    if (gpu.mem_mhz) mean.mem_mhz.add(*gpu.mem_mhz);
    if (gpu.power_mw) mean.power_w.add(*gpu.power_mw / 1000.0);
    if (gpu.busy_percent) mean.busy.add(std::min(*gpu.busy_percent, 100U) / 100.0);
    if (gpu.pcie_generation && gpu.pcie_width)
        mean.pcie_gbs = std::max(mean.pcie_gbs, lane_gbs(*gpu.pcie_generation) * *gpu.pcie_width);
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
    // A counter that went back was set to zero: nothing is known of this time.
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
    // Ports that have gone.
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
