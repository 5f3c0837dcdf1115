// Faults of HCAs and their ports, each by the rule that is to find it.
#include "traces/host_kinds.hpp"

#include <array>
#include <chrono>
#include <fmt/format.h>

namespace trace {

using namespace std::chrono_literals;
using restart::Sample;
using restart::Severity;

namespace {

void remove_hca(Sample& sample, std::uint32_t device) {
    std::erase_if(sample.ib->ports, [&](const restart::PortSample& port) {
        return port.device == fmt::format("mlx5_{}", device);
    });
}

} // namespace

std::span<const HostTrace::Kind> HostTrace::port_faults() {
    // The counter after which the rule is called grows by the amount.
    constexpr auto count = [](HostTrace& host, const Episode& one) {
        const auto counter = kind_of(one).name.substr(std::string_view("ib.counter.").size());
        host.counters_[one.device][std::string(counter)] += one.amount;
    };
    static const Kind kinds[] = {
        {.name = "ib.link_down",
         .shortest = 2h,
         .longest = 4h,
         .severity = Severity::evict,
         .show = [](Sample& sample, const Episode& one) { take_down(sample, one.device); }},
        {.name = "ib.counter.link_downed",
         .row = "ib.counter.link_downed#flaps",
         .shortest = 6h,
         .longest = 8h,
         .severity = Severity::evict,
         .tick =
             [](HostTrace& host, const Episode& one, base::Duration passed) {
                 if (each(90min, host.now_ - one.begin, passed)) ++host.counters_[one.device]["link_downed"];
             }},
        {.name = "ib.counter.symbol_error",
         .row = "ib.counter.symbol_error#hour",
         .shortest = 3h,
         .longest = 5h,
         .severity = Severity::evict,
         .tick =
             [](HostTrace& host, const Episode& one, base::Duration passed) {
                 if (host.between(0, 9) < static_cast<std::uint64_t>(passed / 1s))
                     host.counters_[one.device]["symbol_error"] +=
                         static_cast<std::uint64_t>(passed / 1s) > 9 ? 6 : 1;
             }},
        {.name = "ib.vanished",
         .shortest = 2h,
         .longest = 4h,
         .severity = Severity::evict,
         .show = [](Sample& sample, const Episode& one) { remove_hca(sample, one.device); }},
        {.name = "ib.never_up",
         .shortest = 2h,
         .longest = 4h,
         .severity = Severity::evict,
         .boots_first = true,
         .show = [](Sample& sample, const Episode& one) { take_down(sample, one.device); }},
        {.name = "ib.missing",
         .shortest = 2h,
         .longest = 4h,
         .severity = Severity::evict,
         .boots_first = true,
         .show = [](Sample& sample, const Episode& one) { remove_hca(sample, one.device); }},
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
        {.name = "ib.counter.link_downed",
         .shortest = 10min,
         .longest = 30min,
         .least = 1,
         .most = 1,
         .begin = count},
        {.name = "ib.counter.symbol_error",
         .shortest = 10min,
         .longest = 30min,
         .least = 105,
         .most = 105,
         .begin = count},
        {.name = "ib.counter.link_error_recovery",
         .shortest = 10min,
         .longest = 30min,
         .least = 6,
         .most = 6,
         .begin = count},
        {.name = "ib.counter.port_rcv_errors",
         .shortest = 10min,
         .longest = 30min,
         .least = 101,
         .most = 101,
         .begin = count},
        {.name = "ib.counter.port_rcv_remote_physical_errors",
         .shortest = 10min,
         .longest = 30min,
         .least = 101,
         .most = 101,
         .begin = count},
        {.name = "ib.counter.port_xmit_discards",
         .shortest = 10min,
         .longest = 30min,
         .least = 1001,
         .most = 1001,
         .begin = count},
        {.name = "ib.counter.local_link_integrity_errors",
         .shortest = 10min,
         .longest = 30min,
         .least = 1,
         .most = 1,
         .begin = count},
        {.name = "ib.counter.excessive_buffer_overrun_errors",
         .shortest = 10min,
         .longest = 30min,
         .least = 1,
         .most = 1,
         .begin = count},
        {.name = "ib.counter.rnr_nak_retry_err",
         .shortest = 10min,
         .longest = 30min,
         .least = 1,
         .most = 1,
         .begin = count},
        {.name = "ib.flaps",
         .shortest = 90min,
         .longest = 2h,
         // Down for three minutes each half hour.
         .show =
             [](Sample& sample, const Episode& one) {
                 if ((sample.now - one.begin) % 30min < 3min) take_down(sample, one.device);
             }},
        {.name = "ib.changed",
         .shortest = 1h,
         .longest = 2h,
         .boots_first = true,
         .show = [](Sample& sample,
                    const Episode& one) { sample.listed->ports.at(one.device).node += 0x1000; }},
        {.name = "ib.pcie_width",
         .shortest = 1h,
         .longest = 2h,
         .of = Part::hca,
         .show =
             [](Sample& sample, const Episode& one) {
                 if (auto* port = port_of(sample, one.device)) port->pcie_width = 8;
             }},
        {.name = "ib.pcie_width",
         .row = "ib.pcie_width#mean",
         .shortest = 14h,
         .longest = 15h,
         .of = Part::hca,
         .show =
             [](Sample& sample, const Episode& one) {
                 auto* port = port_of(sample, one.device);
                 if (port != nullptr && comes_and_goes(sample, one.begin)) port->pcie_width = 4;
             }},
        {.name = "ib.pcie_speed",
         .shortest = 14h,
         .longest = 15h,
         .of = Part::hca,
         .show =
             [](Sample& sample, const Episode& one) {
                 if (auto* port = port_of(sample, one.device)) port->pcie_speed = 16;
             }},
        {.name = "hca.command_timeout",
         .shortest = 1h,
         .longest = 2h,
         .of = Part::hca,
         .says =
             "wait_func:1158:(pid 812): ACCESS_REG(0x805) timeout. Will cause a leak of a command resource"},
        {.name = "hca.health",
         .shortest = 1h,
         .longest = 2h,
         .of = Part::hca,
         .says = "poll_health:955:(pid 0): device's health compromised - reached miss count"},
        {.name = "hca.unrecoverable",
         .shortest = 1h,
         .longest = 2h,
         .of = Part::hca,
         .says = "health: unrecoverable hardware error"},
        {.name = "hca.lockup",
         .shortest = 1h,
         .longest = 2h,
         .of = Part::hca,
         .says = "soft lockup - CPU#3 stuck for 22s! [kworker/3:1:311]"},
        {.name = "hca.tx_timeout",
         .shortest = 1h,
         .longest = 2h,
         .of = Part::hca,
         .says = "mlx5e_tx_timeout: TX timeout detected",
         .times = 3},
        {.name = "hca.rx_timeout",
         .shortest = 1h,
         .longest = 2h,
         .of = Part::hca,
         .says = "mlx5e_rx_reporter: RX timeout on channel: 3, ICOSQ: 0x12",
         .times = 3},
        {.name = "hca.slot_power",
         .shortest = 1h,
         .longest = 2h,
         .of = Part::hca,
         .says = "Detected insufficient power on the PCIe slot (27W)",
         .times = 3},
        {.name = "hca.overheat",
         .shortest = 1h,
         .longest = 2h,
         .of = Part::hca,
         .says = "High temperature on sensors with bit set 0x1",
         .times = 3},
        {.name = "hca.unplugged",
         .shortest = 1h,
         .longest = 2h,
         .of = Part::hca,
         .says = "Port module event: module 0, Cable unplugged",
         .times = 3},
    };
    return kinds;
}

} // namespace trace
