#include "traces/host_kinds.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace trace {

using namespace std::chrono_literals;
using restart::PortSample;
using restart::Sample;

namespace {

PortSample* port_of(restart::Sample& sample, std::uint32_t device) {
    for (auto& port : sample.ib->ports)
        if (port.device == fmt::format("mlx5_{}", device)) return &port;
    return nullptr;
}

void down(restart::Sample& sample, std::uint32_t device) {
    if (auto* port = port_of(sample, device)) {
        port->state = "DOWN";
        port->phys_state = "Polling";
    }
}

void brake(restart::Sample& sample, std::uint32_t device, int reasons) {
    auto& shown = sample.gpus->at(device).reasons;
    shown = shown.value_or(0) | static_cast<std::uint64_t>(reasons);
}

void remove(restart::Sample& sample, std::uint32_t device) {
    std::erase_if(sample.ib->ports,
                  [&](const PortSample& port) { return port.device == fmt::format("mlx5_{}", device); });
}

} // namespace

const HostTrace::Kind HostTrace::noise_[] = {
    {.name = "a link retrains",
     .a_month = 3,
     .shortest = 1s,
     .longest = 8s,
     .begin =
         [](HostTrace& host, const Episode& one) {
             host.counters_[one.device]["link_downed"] += 1;
             host.counters_[one.device]["link_error_recovery"] += 2;
         },
     .show = [](Sample& sample, const Episode& one) { down(sample, one.device); }},
    {.name = "bit errors below the threshold",
     .a_month = 10,
     .shortest = 5s,
     .longest = 60s,
     .least = 10,
     .most = 80,
     .begin = [](HostTrace& host,
                 const Episode& one) { host.counters_[one.device]["symbol_error"] += one.amount; }},
    {.name = "somebody resets counters",
     .a_month = 4,
     .shortest = 1s,
     .longest = 1s,
     .begin =
         [](HostTrace& host, const Episode&) {
             for (auto& port : host.counters_)
                 for (auto& [name, value] : port)
                     value = 0;
         }},
    {.name = "counters are misread once",
     .a_month = 6,
     .shortest = 1s,
     .longest = 1s,
     .most = 2,
     .show =
         [](Sample& sample, const Episode& one) {
             if (auto* port = port_of(sample, one.device))
                 for (auto& [name, value] : port->counters)
                     value = one.amount == 0 ? 0 : one.amount == 1 ? 0xffff'ffff : ~std::uint64_t{0};
         }},
    {.name = "the host is rebooted", .a_month = 1, .shortest = 60s, .longest = 60s, .boots_first = true},
    {.name = "the agent is exchanged",
     .a_month = 1,
     .shortest = 1s,
     .longest = 1s,
     .begin = [](HostTrace& host, const Episode&) { host.fresh_agent_ = true; }},
    {.name = "drivers are loaded again",
     .a_month = 0.5,
     .shortest = 20s,
     .longest = 60s,
     .maintenance = true,
     .begin =
         [](HostTrace& host, const Episode&) {
             for (auto& port : host.counters_)
                 port["link_downed"] += 2;
         },
     .show = [](Sample& sample, const Episode&) { sample.ib->ports.clear(); }},
    {.name = "a cable is put in anew",
     .a_month = 0.5,
     .shortest = 60s,
     .longest = 600s,
     .maintenance = true,
     .begin =
         [](HostTrace& host, const Episode& one) {
             host.counters_[one.device]["link_downed"] += 3;
             host.counters_[one.device]["symbol_error"] += 10'000;
         },
     .show = [](Sample& sample, const Episode& one) { down(sample, one.device); }},
    {.name = "a GPU brakes for a moment",
     .a_month = 30,
     .shortest = 1s,
     .longest = 4s,
     .least = 0,
     .most = 2,
     .on_gpu = true,
     .show =
         [](Sample& sample, const Episode& one) {
             brake(sample, one.device, std::array{0x8, 0x48, 0x88}[one.amount]);
         }},
    {.name = "a GPU at its power cap",
     .a_month = 200,
     .shortest = 60s,
     .longest = 3600s,
     .on_gpu = true,
     .in_minutes = true,
     .show = [](Sample& sample, const Episode& one) { brake(sample, one.device, 0x4); }},
    {.name = "an application's XID",
     .a_month = 6,
     .shortest = 1s,
     .longest = 1s,
     .least = 0,
     .most = 3,
     .on_gpu = true,
     .show =
         [](Sample& sample, const Episode& one) {
             if (sample.now == one.begin)
                 sample.xids.push_back(
                     {sample.gpus->at(one.device).pci, std::array{13U, 31U, 43U, 45U}[one.amount], "pid=7"});
         }},
    {.name = "PCIe lanes while a GPU is reset",
     .a_month = 1,
     .shortest = 10s,
     .longest = 40s,
     .on_gpu = true,
     .show = [](Sample& sample, const Episode& one) { sample.gpus->at(one.device).pcie_width = 8; }},
    {.name = "a few PCIe replays",
     .a_month = 40,
     .shortest = 1s,
     .longest = 1s,
     .least = 1,
     .most = 20,
     .on_gpu = true,
     .begin = [](HostTrace& host, const Episode& one) { host.replays_[one.device] += one.amount; }},
    {.name = "corrected memory errors",
     .a_month = 20,
     .shortest = 1s,
     .longest = 1s,
     .least = 1,
     .most = 5,
     .on_gpu = true,
     .begin = [](HostTrace& host, const Episode& one) { host.ecc_corrected_[one.device] += one.amount; }},
    {.name = "a burst of discards",
     .a_month = 5,
     .shortest = 1s,
     .longest = 1s,
     .least = 100,
     .most = 900,
     .begin = [](HostTrace& host,
                 const Episode& one) { host.counters_[one.device]["port_xmit_discards"] += one.amount; }},
    {.name = "late acknowledgements",
     .a_month = 5,
     .shortest = 1s,
     .longest = 1s,
     .least = 1,
     .most = 9,
     .begin = [](HostTrace& host,
                 const Episode& one) { host.counters_[one.device]["local_ack_timeout_err"] += one.amount; }},
    {.name = "a link comes up slowly",
     .a_month = 1,
     .shortest = 3s,
     .longest = 8s,
     .show =
         [](Sample& sample, const Episode& one) {
             if (auto* port = port_of(sample, one.device)) port->rate_gbps = 100;
         }},
};

const HostTrace::Kind HostTrace::planted_[] = {
    {.name = "ib.link_down",
     .shortest = 2h,
     .longest = 4h,
     .grave = true,
     .show = [](Sample& sample, const Episode& one) { down(sample, one.device); }},
    {.name = "ib.counter.link_downed",
     .shortest = 6h,
     .longest = 8h,
     .grave = true,
     .tick =
         [](HostTrace& host, const Episode& one, base::Duration passed) {
             // Once in 90 minutes.
             const auto lasted = host.now_ - one.begin;
             if (lasted / 90min != (lasted - passed) / 90min) ++host.counters_[one.device]["link_downed"];
         }},
    {.name = "ib.counter.symbol_error",
     .shortest = 3h,
     .longest = 5h,
     .grave = true,
     .tick =
         [](HostTrace& host, const Episode& one, base::Duration passed) {
             if (host.between(0, 9) < static_cast<std::uint64_t>(passed / 1s))
                 host.counters_[one.device]["symbol_error"] +=
                     static_cast<std::uint64_t>(passed / 1s) > 9 ? 6 : 1;
         }},
    {.name = "ib.vanished",
     .shortest = 2h,
     .longest = 4h,
     .grave = true,
     .show = [](Sample& sample, const Episode& one) { remove(sample, one.device); }},
    {.name = "ib.never_up",
     .shortest = 2h,
     .longest = 4h,
     .grave = true,
     .boots_first = true,
     .show = [](Sample& sample, const Episode& one) { down(sample, one.device); }},
    {.name = "ib.missing",
     .shortest = 2h,
     .longest = 4h,
     .grave = true,
     .boots_first = true,
     .show = [](Sample& sample, const Episode& one) { remove(sample, one.device); }},
    {.name = "ib.rate",
     .shortest = 2h,
     .longest = 4h,
     .show =
         [](Sample& sample, const Episode& one) {
             if (auto* port = port_of(sample, one.device)) port->rate_gbps = 200;
         }},
    {.name = "ib.counter.local_ack_timeout_err",
     .shortest = 10min,
     .longest = 30min,
     .tick =
         [](HostTrace& host, const Episode& one, base::Duration passed) {
             host.counters_[one.device]["local_ack_timeout_err"] +=
                 5 * static_cast<std::uint64_t>(passed / 1s);
         }},
    {.name = "gpu.throttle.hw_power_brake",
     .shortest = 10min,
     .longest = 1h,
     .grave = true,
     .on_gpu = true,
     .show = [](Sample& sample, const Episode& one) { brake(sample, one.device, 0x88); }},
    {.name = "gpu.throttle.hw_thermal_slowdown",
     .shortest = 10min,
     .longest = 1h,
     .grave = true,
     .on_gpu = true,
     // Four seconds of five.
     .show =
         [](Sample& sample, const Episode& one) {
             if ((sample.now - one.begin) / 1s % 5 != 4) brake(sample, one.device, 0x48);
         }},
    {.name = "gpu.lost",
     .shortest = 2h,
     .longest = 4h,
     .grave = true,
     .on_gpu = true,
     .show = [](Sample& sample, const Episode& one) { sample.gpus->at(one.device).lost = true; }},
    {.name = "gpu.xid.79",
     .shortest = 2h,
     .longest = 4h,
     .grave = true,
     .on_gpu = true,
     .show =
         [](Sample& sample, const Episode& one) {
             if (sample.now == one.begin)
                 sample.xids.push_back({sample.gpus->at(one.device).pci, 79, "GPU has fallen off the bus."});
         }},
    {.name = "gpu.xid.48",
     .shortest = 2h,
     .longest = 4h,
     .grave = true,
     .on_gpu = true,
     .show =
         [](Sample& sample, const Episode& one) {
             if (sample.now == one.begin)
                 sample.xids.push_back({sample.gpus->at(one.device).pci, 48, "double bit error"});
         }},
    {.name = "gpu.remap_failed",
     .shortest = 2h,
     .longest = 4h,
     .grave = true,
     .on_gpu = true,
     .show = [](Sample& sample, const Episode& one) { sample.gpus->at(one.device).remap_failed = true; }},
    {.name = "gpu.pcie_width",
     .shortest = 2h,
     .longest = 4h,
     .on_gpu = true,
     .show = [](Sample& sample, const Episode& one) { sample.gpus->at(one.device).pcie_width = 8; }},
    {.name = "gpu.ecc",
     .shortest = 2h,
     .longest = 4h,
     .on_gpu = true,
     .show = [](Sample& sample, const Episode& one) { sample.gpus->at(one.device).ecc_uncorrected = 1; }},
};

std::size_t HostTrace::noise_kinds() {
    return std::size(noise_);
}

std::size_t HostTrace::planted_kinds() {
    return std::size(planted_);
}

} // namespace trace
