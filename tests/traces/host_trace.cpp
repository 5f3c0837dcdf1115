#include "traces/host_trace.hpp"

#include "traces/host_kinds.hpp"

#include "restart/watch/rules/rule_book.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace trace {
namespace {

using namespace std::chrono_literals;
using restart::GpuSample;
using restart::PortSample;

constexpr base::Duration coarse = 60s, fine = 1s;
constexpr base::Duration around = 150s; // what begins or ends is looked at each second for so long
constexpr base::Duration boots = 4min;
constexpr base::Duration trains = 90s;         // NVLinks and what hangs on them, behind a boot
constexpr base::Duration resumes_after = 2min; // the end of the work a person resumes the host

restart::Guid guid_of(std::uint32_t hca) {
    return 0x946dae0000010010 + 0x10 * static_cast<restart::Guid>(hca);
}

std::string port_name(std::uint32_t hca) {
    return fmt::format("mlx5_{}:1", hca);
}

std::string gpu_name(std::uint32_t gpu) {
    return fmt::format("gpu{}", gpu);
}

// The pack of this round, the same for all hosts.
std::vector<int> shuffled(int cards, int round) {
    std::vector<int> pack(static_cast<std::size_t>(cards));
    std::iota(pack.begin(), pack.end(), 0);
    std::mt19937_64 random(static_cast<std::uint64_t>(round));
    std::shuffle(pack.begin(), pack.end(), random);
    return pack;
}

} // namespace

const HostTrace::Kind& HostTrace::kind_of(const Episode& episode) {
    const auto kind = static_cast<std::size_t>(episode.kind);
    return episode.fault >= 0 ? *planted()[kind] : noise()[kind];
}

std::string HostTrace::component_of(const Episode& episode) const {
    switch (kind_of(episode).of) {
    case Part::port: return port_name(episode.device);
    case Part::hca: return fmt::format("mlx5_{}", episode.device);
    case Part::gpu: return gpu_name(episode.device);
    case Part::host: return "host";
    case Part::memory: return "mc0";
    case Part::net: return "eth0";
    case Part::mount: return "/home";
    case Part::job: break;
    }
    return fmt::format("job{}", job_number_);
}

std::uint64_t HostTrace::between(std::uint64_t low, std::uint64_t high) {
    return std::uniform_int_distribution<std::uint64_t>(low, high)(random_);
}

HostTrace::HostTrace(std::uint64_t seed, const Plan& plan)
    : random_(seed), now_(start()), end_(start() + plan.length), counters_(devices), gpus_(devices) {
    add_faults(plan);
    add_noise(plan);
    std::sort(episodes_.begin(), episodes_.end(),
              [](const Episode& a, const Episode& b) { return a.begin < b.begin; });
    boot();
}

// At times of their own, so that each is found by itself: one after the other, with as much time between
// them.
void HostTrace::add_faults(const Plan& plan) {
    const auto kinds = static_cast<int>(planted().size());
    std::vector<Episode> dealt;
    auto left = plan.length;
    for (int i = 0; i < plan.faults; ++i) {
        Episode one;
        const auto card = plan.first + i;
        one.kind = shuffled(kinds, card / kinds)[static_cast<std::size_t>(card % kinds)];
        one.fault = i;
        one.device = static_cast<std::uint32_t>(between(0, devices - 1));
        const auto& kind = kind_of(one);
        one.amount = kind.least;
        one.end = base::Time(std::chrono::seconds(between(static_cast<std::uint64_t>(kind.shortest / 1s),
                                                          static_cast<std::uint64_t>(kind.longest / 1s))));
        left -= one.end.time_since_epoch();
        dealt.push_back(one);
    }
    const auto room = static_cast<std::uint64_t>(std::max<base::Duration>(left, 0s) / 1s) /
                      static_cast<std::uint64_t>(plan.faults + 1);
    auto from = start();
    for (auto& one : dealt) {
        const auto lasts = one.end.time_since_epoch();
        one.begin = from + std::chrono::seconds(between(room / 2, room));
        one.end = one.begin + lasts;
        from = one.end;
        const auto& kind = kind_of(one);
        episodes_.push_back(one);
        faults_.push_back({one.begin, one.end, kind.name, kind.row.empty() ? kind.name : kind.row,
                           component_of(one), std::min(kind.severity, restart::Severity::evict)});
    }
}

void HostTrace::add_noise(const Plan& plan) {
    const auto months = std::chrono::duration<double>(plan.length) / std::chrono::duration<double>(24h * 30);
    for (std::size_t number = 0; number < noise().size(); ++number) {
        const auto& kind = noise()[number];
        const auto times = std::poisson_distribution<int>(kind.a_month * months)(random_);
        for (int i = 0; i < times; ++i) {
            Episode one;
            one.kind = static_cast<int>(number);
            one.device = static_cast<std::uint32_t>(between(0, devices - 1));
            one.begin =
                start() + std::chrono::seconds(between(600, static_cast<std::uint64_t>(plan.length / 1s)));
            one.end =
                one.begin + std::chrono::seconds(between(static_cast<std::uint64_t>(kind.shortest / 1s),
                                                         static_cast<std::uint64_t>(kind.longest / 1s)));
            one.amount = between(kind.least, kind.most);
            // A fault's host is not also rebooted or taken apart.
            const auto overlaps = [&](const Fault& fault) {
                return one.begin < fault.end + 15min && fault.begin < one.end + 15min;
            };
            if (std::any_of(faults_.begin(), faults_.end(), overlaps)) continue;
            episodes_.push_back(one);
        }
    }
}

// Counters begin anew; links train, and count meanwhile.
void HostTrace::boot() {
    for (auto& port : counters_) {
        port.clear();
        for (const auto& name : restart::RuleBook::counters({}))
            port[name] = 0;
        port["link_downed"] = between(0, 3);
        port["symbol_error"] = between(0, 5000);
    }
    std::fill(gpus_.begin(), gpus_.end(), GpuCounts{});
    memory_.fill({});
    carrier_changes_ = between(1, 3);
    job_ = {};
    trained_ = now_ + trains;
    fresh_agent_ = booted_ = true;
}

base::Time HostTrace::step_to() {
    auto next = now_ + (now_ < fine_until_ ? fine : coarse);
    if (begun_ < episodes_.size()) next = std::min(next, std::max(episodes_[begun_].begin, now_ + fine));
    for (const auto& one : active_)
        next = std::min(next, std::max(one.end, now_ + fine));
    return next;
}

// What counts on a sound host, too; whether something did.
bool HostTrace::count(base::Duration passed) {
    const auto hours = std::chrono::duration<double>(passed) / std::chrono::duration<double>(1h);
    const auto errors = std::poisson_distribution<int>(hours * devices)(random_);
    for (int i = 0; i < errors; ++i)
        ++counters_[between(0, devices - 1)]["symbol_error"];
    return errors > 0;
}

// The host without what happens to it now.
void HostTrace::describe_host() {
    sample_.ib.emplace();
    sample_.gpus.emplace();
    sample_.listed.emplace();
    sample_.listed->digest = "made up";
    for (std::uint32_t i = 0; i < devices; ++i) {
        PortSample port;
        port.device = fmt::format("mlx5_{}", i);
        port.node = port.guid = guid_of(i);
        port.state = "ACTIVE";
        port.phys_state = "LinkUp";
        port.rate_gbps = 400;
        port.counters = counters_[i];
        port.pci = fmt::format("0000:{:02x}:00.0", 0x13 + 28 * i);
        port.pcie_width = port.pcie_width_max = 16;
        port.pcie_speed = port.pcie_speed_max = 32;
        sample_.ib->ports.push_back(std::move(port));
        sample_.listed->ports.push_back({guid_of(i), 0, 1, true, port_name(i)});
        GpuSample gpu;
        gpu.index = i;
        gpu.pci = fmt::format("0000:{:02x}:00.0", 0x14 + 28 * i);
        gpu.reasons = 0;
        gpu.ecc_corrected = gpus_[i].ecc_corrected;
        gpu.ecc_uncorrected = 0;
        gpu.remap_failed = gpu.remap_pending = false;
        gpu.pcie_generation = gpu.pcie_generation_max = 5;
        gpu.pcie_width = gpu.pcie_width_max = 16;
        gpu.pcie_replays = gpus_[i].pcie_replays;
        const bool trained = now_ >= trained_;
        gpu.nvlinks_active = trained ? nvlinks : i;
        gpu.nvlink_crc = gpus_[i].nvlink_crc;
        gpu.nvlink_replays = gpus_[i].nvlink_replays;
        gpu.nvlink_recoveries = gpus_[i].nvlink_recoveries;
        gpu.nvlink_rcv_errors = gpus_[i].nvlink_rcv_errors;
        gpu.thermal_violation_ms = gpus_[i].thermal_ms;
        gpu.recovery_action = 0;
        gpu.fabric_state = trained ? 3 : 2;
        gpu.fabric_status = 0;
        sample_.gpus->push_back(std::move(gpu));
    }
    auto& host = sample_.host.emplace();
    for (std::size_t i = 0; i < memory_.size(); ++i)
        host.memory.push_back({fmt::format("mc{}", i), memory_[i].corrected, memory_[i].uncorrected});
    host.clock_source = probe::ClockSource::tsc;
    host.clock_source_name = "tsc";
    host.fabric_manager = host.peer_memory = now_ >= trained_;
    host.net_device = "eth0";
    host.carrier_changes = carrier_changes_;
    host.blocked_s = 0;
    sample_.mounts = {{.path = "/home", .answered = true, .read_only = false, .free_percent = 40},
                      {.path = "/scratch", .answered = true, .read_only = false, .free_percent = 11}};
    describe_job();
}

// A process a GPU, each with an endpoint to others over its own rail.
void HostTrace::describe_job() {
    sample_.ucx.clear();
    if (now_ < trained_) return;
    auto& job = sample_.ucx.emplace_back();
    job.name = fmt::format("job{}", job_number_);
    for (std::uint32_t i = 0; i < devices; ++i)
        job.ranks.push_back(
            {i, "", port_name(i), "", {{fmt::format("rc_mlx5/{}", port_name(i)), 7}, {"sysv/memory", 7}}});
    const auto count = [](std::uint64_t total) { return restart::UcxCount{total, "rank 3"}; };
    job.failed = count(job_.failed);
    job.timeouts = count(job_.timeouts);
    job.refused = count(job_.refused);
    job.resent = count(job_.resent);
    job.tcp_bytes = count(job_.tcp_bytes);
    job.dropped = count(job_.dropped);
}

// What the kernel log says of it now.
void HostTrace::tell(Episode& one) {
    const auto& kind = kind_of(one);
    if ((kind.xid == 0 && kind.says.empty()) || one.told >= kind.times ||
        now_ < one.begin + one.told * kind.every)
        return;
    ++one.told;
    if (kind.xid != 0) {
        auto& xid = sample_.xids.emplace_back();
        xid.pci = sample_.gpus->at(one.device).pci;
        xid.code = kind.xid;
        xid.text = kind.says;
        xid.user = 1000 + one.told; // each under a program of another user
    } else if (const auto* port = port_of(sample_, one.device))
        sample_.driver_lines.push_back({probe::Driver::mlx5, port->pci, std::string(kind.says)});
}

std::optional<HostTrace::Look> HostTrace::next() {
    const auto before = now_;
    now_ = step_to();
    if (now_ >= end_) return std::nullopt;
    bool changed = count(now_ - before) || !active_.empty();
    std::vector<Episode> begin;
    for (; begun_ < episodes_.size() && episodes_[begun_].begin <= now_; ++begun_)
        begin.push_back(episodes_[begun_]);
    for (auto one : begin) {
        const auto& kind = kind_of(one);
        if (kind.boots_first) {
            // Nobody looks while it boots, and what was to come meanwhile comes afterwards.
            now_ += boots;
            boot();
        }
        one.begin = now_;
        one.end = std::max(one.end, now_ + fine);
        if (one.fault >= 0) {
            auto& fault = faults_[static_cast<std::size_t>(one.fault)];
            fault.begin = now_;
            fault.component = component_of(one);
        }
        if (kind.begin) kind.begin(*this, one);
        active_.push_back(one);
        if (!kind.in_minutes) fine_until_ = now_ + around;
    }
    changed |= !begin.empty() || booted_ || before < trained_;
    for (const auto& one : active_)
        if (const auto& kind = kind_of(one); kind.tick) kind.tick(*this, one, now_ - before);
    // A fault ends with its repair, and that with a boot.
    bool repaired = false;
    std::erase_if(active_, [&](const Episode& one) {
        if (one.end > now_) return false;
        repaired |= one.fault >= 0;
        if (!kind_of(one).in_minutes) fine_until_ = now_ + around;
        return true;
    });
    if (repaired) {
        now_ += boots;
        fine_until_ = now_ + around;
        boot();
    }

    sample_.now = now_;
    sample_.xids.clear();
    sample_.driver_lines.clear();
    if (changed) describe_host();
    sample_.host->clock_step_ms = 0;
    for (auto& one : active_) {
        const auto& kind = kind_of(one);
        tell(one);
        if (kind.show) kind.show(sample_, one);
        if (kind.maintenance) drained_until_ = now_ + resumes_after;
    }
    return Look{&sample_, std::exchange(fresh_agent_, false), std::exchange(booted_, false),
                now_ < drained_until_};
}

} // namespace trace
