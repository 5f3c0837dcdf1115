#include "restart/watch/rules/table.hpp"

#include <array>

namespace restart::table {
namespace {

using enum Severity;
using enum FaultClass;
using namespace std::chrono_literals;

constexpr Rule grows(std::string_view name, double more_than, base::Duration window, Severity severity,
                     std::string_view source) {
    return {.name = name,
            .signal = name.substr(0, name.find('#')),
            .test = Test::delta,
            .value = more_than,
            .window = window,
            .severity = severity,
            .fault = link,
            .source = source};
}

constexpr Rule is_not(std::string_view name, std::string_view signal, base::Duration window, FaultClass fault,
                      std::string_view says, std::string_view source) {
    return {.name = name,
            .signal = signal,
            .value = 0,
            .window = window,
            .severity = evict,
            .fault = fault,
            .says = says,
            .source = source};
}

// Above its own limit for a minute, until it is a twentieth below it.
constexpr Rule too_hot(std::string_view name, FaultClass fault, std::string_view says,
                       std::string_view source) {
    return {.name = name,
            .signal = name,
            .test = Test::above,
            .value = 1,
            .until = 0.95,
            .against = Against::own,
            .window = 1min,
            .severity = warn,
            .fault = fault,
            .says = says,
            .source = source};
}

// A line of mlx5's driver. NVSentinel treats the first four as fatal, the rest as warnings that three in an
// hour make worse: here each is one step lower, as a driver's wording changes.
constexpr Rule line(std::string_view name, std::string_view text, FaultClass fault, std::string_view says,
                    std::uint64_t repeats = 0) {
    return {.name = name,
            .signal = "hca.log",
            .text = text,
            .window = 24h,
            .severity = repeats == 0 ? warn : info,
            .repeats = repeats,
            .within = 1h,
            .repeated = warn,
            .fault = fault,
            .says = says,
            .source = repeats == 0 ? "NVSentinel's syslog monitor: fatal at the first"
                                   : "NVSentinel's syslog monitor: a warning; its analyzer: 3 in 1 h"};
}

// The transport's retries survive one flap, which is no reason to move a job; three mean a bad cable.
constexpr auto ib_rows = std::to_array<Rule>({
    is_not("ib.link_down", "ib.active", 10s, link, "state {text}",
           "a link down is unhealthy: NVSentinel at once, gpud after 4 min; 10 s pass over a retrain"),
    is_not("ib.vanished", "ib.present", 3s, hca_gone, "the device has gone from the host",
           "NVSentinel: missing in 3 consecutive polls of 1 s"),
    is_not("ib.missing", "ib.listed", 120s, hca_gone,
           "the fabric file lists it with GUID {text}, the host does not have it",
           "in the fabric file but not seen since the start: drivers load late (NVSentinel #1701)"),
    is_not("ib.never_up", "ib.came_up", 120s, link, "the fabric file lists it, state {text}",
           "as ib.missing: a link comes up within seconds of its driver"),
    {.name = "ib.unlisted_down",
     .signal = "ib.unlisted",
     .value = 0,
     .window = 10s,
     .severity = info,
     .fault = link,
     .says = "state {text}; the fabric file does not list it, so that no job is moved for it",
     .source = "as ib.link_down of a port for storage or management; a site's row may say more"},
    {.name = "ib.changed",
     .signal = "ib.replaced",
     .value = 1,
     .window = 120s,
     .severity = warn,
     .fault = other,
     .says = "the fabric file lists GUID {text}: read the fabric again",
     .source = "another HCA works in its place: the fabric file is to be made anew"},
    {.name = "ib.flaps",
     .signal = "ib.active",
     .value = 0,
     .window = 25s,
     .clear = 1s,
     .severity = info,
     .repeats = 3,
     .within = 12h,
     .repeated = warn,
     .only_repeated = true,
     .fault = link,
     .says = "it was down (state {text})",
     .source = "gpud: down for 25 s or longer and up again, 3 times in 12 h"},
    {.name = "ib.rate",
     .signal = "ib.rate",
     .test = Test::below,
     .value = 1,
     .against = Against::own,
     .window = 10s,
     .severity = warn,
     .fault = link,
     .says = "{value} Gb/s, was {of} Gb/s",
     .source = "slower than this port has been: gpud expects the rated speed"},
    grows("ib.counter.link_downed", 0, 12h, warn, "delta above 0: NVSentinel, NVRx, UFM"),
    grows("ib.counter.link_downed#flaps", 2, 12h, evict, "gpud: 3 flaps in 12 h"),
    grows("ib.counter.symbol_error", 100, 10s, warn, "NVSentinel: above 10/s"),
    grows("ib.counter.symbol_error#hour", 120, 1h, evict,
          "IBTA bit error rate 1e-12: NVSentinel above 120/h fatal; UFM isolates at less"),
    grows("ib.counter.link_error_recovery", 5, 1min, warn, "NVSentinel: above 5/min"),
    grows("ib.counter.port_rcv_errors", 100, 10s, warn, "NVSentinel: above 10/s"),
    grows("ib.counter.port_rcv_remote_physical_errors", 100, 1h, warn,
          "ibqueryerrors' reference threshold 100"),
    grows("ib.counter.port_xmit_discards", 1000, 10s, warn, "NVSentinel: above 100/s"),
    grows("ib.counter.local_link_integrity_errors", 0, 1h, warn,
          "delta above 0: NVSentinel; ibqueryerrors 10"),
    grows("ib.counter.excessive_buffer_overrun_errors", 0, 1h, warn,
          "delta above 0: NVSentinel; UFM alarms at 100"),
    grows("ib.counter.local_ack_timeout_err", 10, 10s, warn, "NVSentinel: above 1/s"),
    grows("ib.counter.rnr_nak_retry_err", 0, 10min, warn,
          "delta above 0: NVSentinel; the slow receiver may be the peer"),
    {.name = "ib.pcie_width",
     .signal = "ib.pcie_width",
     .test = Test::below,
     .value = 1,
     .against = Against::own,
     .window = 60s,
     .severity = warn,
     .fault = pcie,
     .says = "PCIe x{value} of x{of}",
     .source = "fewer lanes than HCA and slot have: as gpu.pcie_width"},
    {.name = "ib.pcie_width#mean",
     .signal = "ib.pcie_width",
     .test = Test::below,
     .value = 0.9,
     .against = Against::own,
     .window = 1h,
     .samples = 12,
     .severity = warn,
     .fault = pcie,
     .says = "PCIe x{value} of x{of}",
     .source = "IBM Vela: below a floor, averaged over 12 hourly samples; it sees what comes and goes"},
    {.name = "ib.pcie_speed",
     .signal = "ib.pcie_speed",
     .test = Test::below,
     .value = 0.9,
     .against = Against::own,
     .window = 1h,
     .samples = 12,
     .severity = warn,
     .fault = pcie,
     .says = "PCIe {value} GT/s of {of} GT/s",
     .source = "IBM Vela: below a floor, averaged over 12 hourly samples"},
    too_hot("ib.asic_temperature", other, "the HCA's chip has {value} C, critical are {of} C: its airflow",
            "mlx5 core/hwmon.c: temp_threshold_hi, the firmware's own bound"),
    too_hot(
        "ib.module_temperature", link,
        "the module (transceiver) of its port has {value} C, critical are {of} C: its airflow, or the module",
        "mlx5 core/hwmon.c: temp_threshold_hi of the module; UFM's PDR plugin isolates above 70 C"),
    line("hca.command_timeout", "*Will cause a leak of a command resource*", hca_gone,
         "the HCA's firmware did not answer a command"),
    line("hca.health", "*health compromised*", hca_gone, "the HCA's firmware does not run on"),
    line("hca.unrecoverable", "*unrecoverable*", hca_gone,
         "the HCA has an error that it cannot recover from"),
    line("hca.lockup", "soft lockup*", hca_gone, "a processor does not leave the HCA's driver"),
    line("hca.tx_timeout", "*TX timeout*|*transmit queue * timed out*", link, "nothing was sent for seconds",
         3),
    line("hca.rx_timeout", "*RX timeout on channel*", link, "a queue of received packets does not go on", 3),
    line("hca.slot_power", "*insufficient power on the PCIe slot*", pcie, "the slot gives too little power",
         3),
    line("hca.overheat", "*igh temperature*|*igh Temperature*|*verheat*", link,
         "the HCA or a module is too hot", 3),
    line("hca.unplugged", "*able unplugged*", link, "a cable was unplugged", 3),
});

} // namespace

std::span<const Rule> port_rules() {
    return ib_rows;
}

} // namespace restart::table
