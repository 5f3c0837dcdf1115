// Faults of the host itself, its file systems and its jobs' UCX, each by the rule that is to find it.
#include "traces/host_kinds.hpp"

#include <cerrno>
#include <chrono>

namespace trace {

using namespace std::chrono_literals;
using restart::Sample;
using restart::Severity;

std::span<const HostTrace::Kind> HostTrace::host_faults() {
    static const Kind kinds[] = {
        {.name = "host.driver_blocked",
         .shortest = 1h,
         .longest = 2h,
         .of = Part::host,
         .show =
             [](Sample& sample, const Episode& one) {
                 sample.host->blocked_s = std::chrono::duration<double>(sample.now - one.begin).count();
                 sample.host->blocked_name = "python3";
             }},
        {.name = "host.memory_uncorrected",
         .shortest = 1h,
         .longest = 2h,
         .of = Part::memory,
         .begin = [](HostTrace& host, const Episode&) { host.memory_[0].uncorrected += 1; }},
        {.name = "host.memory_corrected",
         .shortest = 1h,
         .longest = 2h,
         .severity = Severity::info,
         .of = Part::memory,
         .tick =
             [](HostTrace& host, const Episode& one, base::Duration passed) {
                 if (each(5min, host.now_ - one.begin, passed)) ++host.memory_[0].corrected;
             }},
        {.name = "host.clock_source",
         .shortest = 1h,
         .longest = 2h,
         .of = Part::host,
         .show =
             [](Sample& sample, const Episode&) {
                 sample.host->clock_source = probe::ClockSource::hpet;
                 sample.host->clock_source_name = "hpet";
             }},
        {.name = "host.clock_step",
         .shortest = 1h,
         .longest = 2h,
         .severity = Severity::info,
         .of = Part::host,
         .show =
             [](Sample& sample, const Episode& one) {
                 if (sample.now == one.begin) sample.host->clock_step_ms = 400;
             }},
        {.name = "host.fabric_manager",
         .shortest = 1h,
         .longest = 2h,
         .of = Part::host,
         .show = [](Sample& sample, const Episode&) { sample.host->fabric_manager = false; }},
        {.name = "host.peer_memory",
         .shortest = 1h,
         .longest = 2h,
         .severity = Severity::info,
         .of = Part::host,
         .show = [](Sample& sample, const Episode&) { sample.host->peer_memory = false; }},
        {.name = "host.carrier_changes",
         .shortest = 1h,
         .longest = 2h,
         .of = Part::net,
         .begin = [](HostTrace& host, const Episode&) { host.carrier_changes_ += 4; }},
        {.name = "host.carrier_changes",
         .row = "host.carrier_changes#day",
         .shortest = 6h,
         .longest = 7h,
         .of = Part::net,
         .tick =
             [](HostTrace& host, const Episode& one, base::Duration passed) {
                 if (each(1h, host.now_ - one.begin, passed)) host.carrier_changes_ += 2;
             }},
        {.name = "mount.silent",
         .shortest = 1h,
         .longest = 2h,
         .of = Part::mount,
         .show =
             [](Sample& sample, const Episode& one) {
                 sample.mounts.at(0).silent_s = std::chrono::duration<double>(sample.now - one.begin).count();
             }},
        {.name = "mount.failed",
         .shortest = 1h,
         .longest = 2h,
         .of = Part::mount,
         .show = [](Sample& sample, const Episode&) { sample.mounts.at(0).failed = ESTALE; }},
        {.name = "mount.read_only",
         .shortest = 1h,
         .longest = 2h,
         .of = Part::mount,
         .show = [](Sample& sample, const Episode&) { sample.mounts.at(0).read_only = true; }},
        {.name = "mount.full",
         .shortest = 1h,
         .longest = 2h,
         .severity = Severity::info,
         .of = Part::mount,
         .show = [](Sample& sample, const Episode&) { sample.mounts.at(0).free_percent = 4; }},
        {.name = "ucx.fallback",
         .shortest = 1h,
         .longest = 2h,
         .severity = Severity::info,
         .of = Part::job,
         .show =
             [](Sample& sample, const Episode& one) {
                 sample.ucx.at(0).ranks.at(one.device).paths = {{"tcp/eth0", 7}};
             }},
        {.name = "ucx.chosen_tcp",
         .shortest = 1h,
         .longest = 2h,
         .severity = Severity::info,
         .of = Part::job,
         .show =
             [](Sample& sample, const Episode& one) {
                 auto& rank = sample.ucx.at(0).ranks.at(one.device);
                 rank.tls = "tcp,self";
                 rank.paths = {{"tcp/eth0", 7}};
             }},
        {.name = "ucx.timeouts",
         .shortest = 1h,
         .longest = 2h,
         .severity = Severity::info,
         .of = Part::job,
         .begin = [](HostTrace& host, const Episode&) { ++host.job_.timeouts; }},
        {.name = "ucx.failures",
         .shortest = 1h,
         .longest = 2h,
         .severity = Severity::info,
         .of = Part::job,
         .begin = [](HostTrace& host, const Episode&) { ++host.job_.failed; }},
        {.name = "ucx.refused",
         .shortest = 1h,
         .longest = 2h,
         .severity = Severity::info,
         .of = Part::job,
         .begin = [](HostTrace& host, const Episode&) { ++host.job_.refused; }},
        {.name = "ucx.resent",
         .shortest = 1h,
         .longest = 2h,
         .severity = Severity::info,
         .of = Part::job,
         .begin = [](HostTrace& host, const Episode&) { host.job_.resent += 5'000; }},
        {.name = "ucx.tcp_bytes",
         .shortest = 1h,
         .longest = 2h,
         .severity = Severity::info,
         .of = Part::job,
         .begin = [](HostTrace& host, const Episode&) { host.job_.tcp_bytes += std::uint64_t{3} << 30; }},
        {.name = "ucx.dropped",
         .shortest = 1h,
         .longest = 2h,
         .severity = Severity::info,
         .of = Part::job,
         .begin = [](HostTrace& host, const Episode&) { host.job_.dropped += 5'000; }},
        {.name = "ucx.unseen",
         .shortest = 1h,
         .longest = 2h,
         .severity = Severity::info,
         .of = Part::job,
         .show =
             [](Sample& sample, const Episode& one) {
                 sample.ucx.at(0).ranks.at(one.device).unseen = "no libucp that is known";
             }},
    };
    return kinds;
}

} // namespace trace
