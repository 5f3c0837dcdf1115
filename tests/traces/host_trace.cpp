#include "traces/host_trace.hpp"

#include "traces/host_kinds.hpp"

#include "restart/watch/rules/rule_book.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace trace {
namespace {

using namespace std::chrono_literals;
using restart::GpuSample;
using restart::PortSample;

constexpr base::Duration coarse = 60s, fine = 1s;
constexpr base::Duration around = 150s; // what begins or ends is looked at each second for so long
constexpr base::Duration boots = 4min;
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

} // namespace

const HostTrace::Kind& HostTrace::kind_of(const Episode& episode) const {
    const auto kind = static_cast<std::size_t>(episode.kind);
    return episode.fault >= 0 ? planted_[kind] : noise_[kind];
}

std::uint64_t HostTrace::between(std::uint64_t low, std::uint64_t high) {
    return std::uniform_int_distribution<std::uint64_t>(low, high)(random_);
}

HostTrace::HostTrace(std::uint64_t seed, const Plan& plan)
    : random_(seed), now_(start()), end_(start() + plan.length), counters_(devices), replays_(devices),
      ecc_corrected_(devices) {
    add_faults(plan);
    add_noise(plan);
    std::sort(episodes_.begin(), episodes_.end(),
              [](const Episode& a, const Episode& b) { return a.begin < b.begin; });
    boot();
}

void HostTrace::add_faults(const Plan& plan) {
    const auto seconds = static_cast<std::uint64_t>(plan.length / 1s);
    // At times of their own, so that each is found by itself.
    const auto room = seconds / static_cast<std::uint64_t>(plan.faults + 1);
    for (int i = 0; i < plan.faults; ++i) {
        Episode one;
        one.kind = static_cast<int>(between(0, planted_kinds() - 1));
        one.fault = i;
        one.device = static_cast<std::uint32_t>(between(0, devices - 1));
        const auto& kind = kind_of(one);
        one.begin = start() +
                    std::chrono::seconds(room * static_cast<std::uint64_t>(i) + between(room / 8, room / 4));
        one.end = one.begin + std::chrono::seconds(between(static_cast<std::uint64_t>(kind.shortest / 1s),
                                                           static_cast<std::uint64_t>(kind.longest / 1s)));
        episodes_.push_back(one);
        faults_.push_back({one.begin, one.end, kind.name,
                           kind.on_gpu ? gpu_name(one.device) : port_name(one.device), kind.grave});
    }
}

void HostTrace::add_noise(const Plan& plan) {
    const auto months = std::chrono::duration<double>(plan.length) / std::chrono::duration<double>(24h * 30);
    for (std::size_t number = 0; number < noise_kinds(); ++number) {
        const auto& kind = noise_[number];
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
    std::fill(replays_.begin(), replays_.end(), 0);
    std::fill(ecc_corrected_.begin(), ecc_corrected_.end(), 0);
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
        sample_.ib->ports.push_back(std::move(port));
        sample_.listed->ports.push_back({guid_of(i), 0, 1, true, port_name(i)});
        GpuSample gpu;
        gpu.index = i;
        gpu.pci = fmt::format("0000:{:02x}:00.0", 0x14 + 28 * i);
        gpu.reasons = 0;
        gpu.ecc_corrected = ecc_corrected_[i];
        gpu.ecc_uncorrected = 0;
        gpu.remap_failed = gpu.remap_pending = false;
        gpu.pcie_generation = gpu.pcie_generation_max = 5;
        gpu.pcie_width = gpu.pcie_width_max = 16;
        gpu.pcie_replays = replays_[i];
        sample_.gpus->push_back(std::move(gpu));
    }
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
        if (one.fault >= 0) faults_[static_cast<std::size_t>(one.fault)].begin = now_;
        if (kind.begin) kind.begin(*this, one);
        active_.push_back(one);
        if (!kind.in_minutes) fine_until_ = now_ + around;
    }
    changed |= !begin.empty() || booted_;
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
    if (changed) describe_host();
    for (const auto& one : active_) {
        const auto& kind = kind_of(one);
        if (kind.show) kind.show(sample_, one);
        if (kind.maintenance) drained_until_ = now_ + resumes_after;
    }
    return Look{&sample_, std::exchange(fresh_agent_, false), std::exchange(booted_, false),
                now_ < drained_until_};
}

} // namespace trace
