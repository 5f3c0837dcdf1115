// The noise of sound hosts: what is no fault, and looks like one for a while.
#include "traces/host_kinds.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>

namespace trace {

using namespace std::chrono_literals;
using restart::Sample;

std::span<const HostTrace::Kind> HostTrace::noise() {
    static const Kind kinds[] = {
        {.name = "a link retrains",
         .a_month = 3,
         .shortest = 1s,
         .longest = 8s,
         .begin =
             [](HostTrace& host, const Episode& one) {
                 host.counters_[one.device]["link_downed"] += 1;
                 host.counters_[one.device]["link_error_recovery"] += 2;
             },
         .show = [](Sample& sample, const Episode& one) { take_down(sample, one.device); }},
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
         .show =
             [](Sample& sample, const Episode&) {
                 sample.ib->ports.clear();
                 sample.host->peer_memory = false;
             }},
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
         .show = [](Sample& sample, const Episode& one) { take_down(sample, one.device); }},
        {.name = "a GPU brakes for a moment",
         .a_month = 30,
         .shortest = 1s,
         .longest = 4s,
         .least = 0,
         .most = 2,
         .of = Part::gpu,
         .show =
             [](Sample& sample, const Episode& one) {
                 slow_down(sample, one.device, std::array{0x8U, 0x48U, 0x88U}[one.amount]);
             }},
        {.name = "a GPU at its power cap",
         .a_month = 200,
         .shortest = 60s,
         .longest = 3600s,
         .of = Part::gpu,
         .in_minutes = true,
         .show = [](Sample& sample, const Episode& one) { slow_down(sample, one.device, 0x4); }},
        {.name = "an application's XID",
         .a_month = 6,
         .shortest = 1s,
         .longest = 1s,
         .least = 0,
         .most = 3,
         .of = Part::gpu,
         .show =
             [](Sample& sample, const Episode& one) {
                 if (sample.now == one.begin)
                     sample.xids.push_back({sample.gpus->at(one.device).pci,
                                            std::array{13U, 31U, 43U, 45U}[one.amount], "pid=7"});
             }},
        {.name = "PCIe lanes while a GPU is reset",
         .a_month = 1,
         .shortest = 10s,
         .longest = 40s,
         .of = Part::gpu,
         .show = [](Sample& sample, const Episode& one) { sample.gpus->at(one.device).pcie_width = 8; }},
        {.name = "a few PCIe replays",
         .a_month = 40,
         .shortest = 1s,
         .longest = 1s,
         .least = 1,
         .most = 20,
         .of = Part::gpu,
         .begin = [](HostTrace& host,
                     const Episode& one) { host.gpus_[one.device].pcie_replays += one.amount; }},
        {.name = "corrected memory errors",
         .a_month = 20,
         .shortest = 1s,
         .longest = 1s,
         .least = 1,
         .most = 5,
         .of = Part::gpu,
         .begin = [](HostTrace& host,
                     const Episode& one) { host.gpus_[one.device].ecc_corrected += one.amount; }},
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
         .begin =
             [](HostTrace& host, const Episode& one) {
                 host.counters_[one.device]["local_ack_timeout_err"] += one.amount;
             }},
        {.name = "a link comes up slowly",
         .a_month = 1,
         .shortest = 3s,
         .longest = 8s,
         .show =
             [](Sample& sample, const Episode& one) {
                 if (auto* port = port_of(sample, one.device)) port->rate_gbps = 100;
             }},
        {.name = "the fabric manager starts again",
         .a_month = 3,
         .shortest = 10s,
         .longest = 200s,
         .of = Part::host,
         .show =
             [](Sample& sample, const Episode&) {
                 sample.host->fabric_manager = false;
                 for (auto& gpu : *sample.gpus)
                     gpu.fabric_state = 2;
             }},
        {.name = "GPUs are reset between two jobs",
         .a_month = 4,
         .shortest = 10s,
         .longest = 90s,
         .of = Part::host,
         .begin = [](HostTrace& host,
                     const Episode&) { std::fill(host.gpus_.begin(), host.gpus_.end(), GpuCounts{}); },
         .show =
             [](Sample& sample, const Episode& one) {
                 sample.host->peer_memory = false;
                 for (auto& gpu : *sample.gpus) {
                     gpu.fabric_state = 2;
                     gpu.nvlinks_active = sample.now - one.begin < 30s ? 0 : gpu.index % 2 * nvlinks;
                 }
             }},
        {.name = "the time of day is set right",
         .a_month = 6,
         .shortest = 1s,
         .longest = 1s,
         .least = 5,
         .most = 120,
         .of = Part::host,
         .show =
             [](Sample& sample, const Episode& one) {
                 if (sample.now == one.begin) sample.host->clock_step_ms = static_cast<double>(one.amount);
             }},
        {.name = "another clock source while the processor's is checked",
         .a_month = 1,
         .shortest = 5s,
         .longest = 40s,
         .of = Part::host,
         .show = [](Sample& sample,
                    const Episode&) { sample.host->clock_source = probe::ClockSource::hpet; }},
        {.name = "an NFS server starts again",
         .a_month = 4,
         .shortest = 5s,
         .longest = 55s,
         .of = Part::mount,
         .show =
             [](Sample& sample, const Episode& one) {
                 sample.mounts[0].silent_s = std::chrono::duration<double>(sample.now - one.begin).count();
             }},
        {.name = "a file system is mounted anew",
         .a_month = 2,
         .shortest = 5s,
         .longest = 50s,
         .least = 0,
         .most = 1,
         .of = Part::mount,
         .show =
             [](Sample& sample, const Episode& one) {
                 if (one.amount == 0)
                     sample.mounts[0].failed = ESTALE;
                 else
                     sample.mounts[0].read_only = true;
             }},
        {.name = "a file system is nearly full for a moment",
         .a_month = 4,
         .shortest = 60s,
         .longest = 240s,
         .of = Part::mount,
         .show = [](Sample& sample, const Episode&) { sample.mounts[0].free_percent = 9; }},
        {.name = "corrected errors of a DIMM",
         .a_month = 4,
         .shortest = 1s,
         .longest = 1s,
         .least = 1,
         .most = 3,
         .of = Part::memory,
         .begin = [](HostTrace& host, const Episode& one) { host.memory_[0].corrected += one.amount; }},
        {.name = "the management switch starts again",
         .a_month = 1,
         .shortest = 60s,
         .longest = 120s,
         .of = Part::net,
         .begin = [](HostTrace& host, const Episode&) { host.carrier_changes_ += 2; }},
        {.name = "a process waits for the driver",
         .a_month = 6,
         .shortest = 20s,
         .longest = 240s,
         .of = Part::host,
         .show =
             [](Sample& sample, const Episode& one) {
                 sample.host->blocked_s = std::chrono::duration<double>(sample.now - one.begin).count();
                 sample.host->blocked_name = "nvidia-smi";
             }},
        {.name = "NVLinks repeat a few flits",
         .a_month = 10,
         .shortest = 1s,
         .longest = 1s,
         .least = 1,
         .most = 90,
         .of = Part::gpu,
         .begin =
             [](HostTrace& host, const Episode& one) {
                 host.gpus_[one.device].nvlink_crc += one.amount;
                 host.gpus_[one.device].nvlink_replays += one.amount / 20;
             }},
        {.name = "NVML refuses a question",
         .a_month = 4,
         .shortest = 1s,
         .longest = 40s,
         .of = Part::gpu,
         .show =
             [](Sample& sample, const Episode& one) {
                 auto& gpu = sample.gpus->at(one.device);
                 gpu.ecc_corrected.reset();
                 gpu.ecc_uncorrected.reset();
                 gpu.unseen = {"ECC errors: Timeout (10)"};
             }},
        {.name = "warmth",
         .a_month = 20,
         .shortest = 60s,
         .longest = 600s,
         .of = Part::gpu,
         .tick =
             [](HostTrace& host, const Episode& one, base::Duration passed) {
                 host.gpus_[one.device].thermal_ms += static_cast<std::uint64_t>(passed / 1s) * 4;
             }},
        {.name = "an HCA's link is trained again on PCIe",
         .a_month = 1,
         .shortest = 5s,
         .longest = 40s,
         .of = Part::hca,
         .show =
             [](Sample& sample, const Episode& one) {
                 if (auto* port = port_of(sample, one.device)) port->pcie_width = 8;
             }},
        {.name = "a word of an HCA's driver",
         .a_month = 6,
         .shortest = 1s,
         .longest = 1s,
         .least = 0,
         .most = 3,
         .of = Part::hca,
         .show =
             [](Sample& sample, const Episode& one) {
                 constexpr std::array words{"Port module event: module 0, Cable plugged", "mlx5e_sw link up",
                                            "TX timeout detected",
                                            "Port module event: module 0, Cable unplugged"};
                 const auto* port = port_of(sample, one.device);
                 if (sample.now == one.begin && port != nullptr)
                     sample.driver_lines.push_back({probe::Driver::mlx5, port->pci, words[one.amount]});
             }},
        {.name = "a job starts",
         .a_month = 60,
         .shortest = 2s,
         .longest = 8s,
         .least = 1,
         .most = 60,
         .of = Part::job,
         .begin =
             [](HostTrace& host, const Episode& one) {
                 host.job_ = {};
                 ++host.job_number_;
                 host.job_.resent = one.amount;
                 host.job_.tcp_bytes = one.amount << 20;
             },
         .show =
             [](Sample& sample, const Episode&) {
                 for (auto& job : sample.ucx) // none while the host boots
                     for (auto& rank : job.ranks)
                         rank.paths = {{"tcp/eth0", 7}};
             }},
        {.name = "single packets are lost",
         .a_month = 20,
         .shortest = 1s,
         .longest = 1s,
         .least = 1,
         .most = 400,
         .of = Part::job,
         .begin =
             [](HostTrace& host, const Episode& one) {
                 host.job_.dropped += one.amount;
                 host.job_.resent += one.amount;
             }},
        {.name = "an application's NVLink words",
         .a_month = 2,
         .shortest = 1s,
         .longest = 1s,
         .of = Part::gpu,
         .xid = 149,
         .says = "NETIR_LINK_EVT  Nonfatal XC0 i0 Link 03 (0x00400000 0x00000000)"},
        {.name = "a recovery action that is taken back",
         .a_month = 1,
         .shortest = 1s,
         .longest = 1s,
         .of = Part::gpu,
         .xid = 154,
         .says = "GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)"},
    };
    return kinds;
}

} // namespace trace
