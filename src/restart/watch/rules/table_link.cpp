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
            .says = "{text}: {what} grew by {grown} within {window} (allowed: {limit})",
            .source = source};
}

// More errors in the window than the named bit error rate explains at the link's rate.
constexpr Rule bit_errors(std::string_view name, double per_gbps, base::Duration window, Severity severity,
                          std::string_view says, std::string_view source) {
    auto rule = grows(name, per_gbps, window, severity, source);
    rule.against = Against::own;
    rule.says = says;
    return rule;
}

constexpr Rule a_second(std::string_view name, double more_than, Severity severity, std::string_view source) {
    auto rule = grows(name, more_than, 1min, severity, source);
    rule.test = Test::rate;
    rule.says = "{text}: {what} grew by {grown} within {window} (allowed: {limit} a second)";
    return rule;
}

constexpr Rule is(std::string_view name, base::Duration window, Severity severity, std::string_view says,
                  std::string_view source) {
    return {.name = name,
            .signal = name,
            .value = 1,
            .window = window,
            .severity = severity,
            .fault = link,
            .says = says,
            .source = source};
}

// Counters do not show which end of a link is to blame: nothing here requests moving a job.
constexpr auto link_rows = std::to_array<Rule>({
    bit_errors("link.symbol_errors", 0.0072, 12min, warn,
               "{text}: {grown} symbol errors within {window}, more than one in 1e14 bits at {of} Gb/s",
               "UFM's PDR plugin isolates above rate * 720 s * 1e-14: 2.88 at NDR"),
    bit_errors("link.symbol_errors#slow", 0.0075, 125min, info,
               "{text}: {grown} symbol errors within {window}, more than one in 1e15 bits at {of} Gb/s",
               "UFM's PDR plugin isolates above rate * 7500 s * 1e-15: 3 at NDR"),
    grows("link.recoveries", 5, 1min, warn, "NVSentinel: above 5/min"),
    grows("link.downs", 0, 5min, info,
          "UFM's PDR plugin isolates above 0 at both ends in 300 s; a host that restarts does the same"),
    grows("link.downs#flaps", 2, 12h, warn, "gpud: 3 flaps in 12 h"),
    a_second("link.receive_errors", 10, warn, "NVSentinel: above 10/s"),
    grows("link.remote_errors", 100, 1h, info,
          "ibqueryerrors' reference threshold 100; the fault is on another link"),
    a_second("link.discards", 100, warn, "NVSentinel: above 100/s"),
    grows("link.integrity_errors", 0, 1h, warn, "delta above 0: NVSentinel; ibqueryerrors 10"),
    grows("link.buffer_overruns", 0, 1h, warn, "delta above 0: NVSentinel; UFM alarms at 100"),
    grows("link.vl15_drops", 50, 5min, info, "UFM alarms at 50"),
    {.name = "link.waiting",
     .signal = "link.waiting",
     .test = Test::above,
     .value = 0.5,
     .window = 1min,
     .severity = info,
     .fault = other,
     .says = "{text}: it waited for {value} of the time in which it had something to send",
     .source = "no project acts on PortXmitWait: half of the time is a port that halves its jobs' bandwidth"},
    {.name = "link.slow_receiver",
     .signal = "link.slow_receiver",
     .test = Test::below,
     .value = 10,
     .window = 1min,
     .severity = warn,
     .fault = other,
     .says = "{text}; it sent {value}{unit} of its rate",
     .source = "no project names the port at which waits begin; congestion by load leaves that port at its "
               "full rate"},
    {.name = "link.credit_loop",
     .signal = "link.credit_loop",
     .test = Test::below,
     .value = 100,
     .window = 1min,
     .severity = warn,
     .fault = other,
     .says = "the routing lets these wait for each other: {text}; each sent at most {value} millionths of "
             "its rate",
     .source =
         "Dally and Seitz 1987: sound routing has no loops; ibdiagnet looks for them in the routes alone. "
         "What switches discard after their lifetime limit is less than this"},
    {.name = "link.rate",
     .signal = "link.rate",
     .test = Test::below,
     .value = 1,
     .against = Against::own,
     .window = 10s,
     .severity = warn,
     .fault = link,
     .says = "{value} Gb/s, in the fabric file {of} Gb/s",
     .source = "slower than the fabric file: gpud expects the rated speed"},
    is("link.moved", 10s, warn, "{text}",
       "the fabric file is to be made anew, or the cable to be moved back"),
    is("link.absent", 5min, warn, "down at both of its ends",
       "in the fabric file, and not there: a cable that was taken out, or ports that were disabled"),
    {.name = "link.unlisted",
     .signal = "link.unlisted",
     .test = Test::above,
     .value = 0,
     .window = 10min,
     .severity = info,
     .fault = other,
     .says = "{value} links between its devices are not in it: {text}; read the fabric again",
     .source = "the fabric file is to be made anew: railtopo discover"},
    is("link.silent", 1min, info, "{text}: its counters cannot be read",
       "what cannot be seen is a finding of its own"),
    is("link.full", 0s, info, "{text}: at the end, where they stay until somebody clears them",
       "counters of 4 to 32 bits stay at their end (IBTA 16.1.3.5): faults on this link would not be seen"),
    {.name = "rail.traffic",
     .signal = "rail.traffic",
     .test = Test::below,
     .value = 0.5,
     .window = 5min,
     .severity = info,
     .fault = other,
     .says = "{text}: {value} times the median of the unit's rails",
     .source = "collectives load all rails alike: a rail at half is a slow link or a wrong binding"},
    {.name = "rail.traffic#more",
     .signal = "rail.traffic",
     .test = Test::above,
     .value = 2,
     .window = 5min,
     .severity = info,
     .fault = other,
     .says = "{text}: {value} times the median of the unit's rails",
     .source = "as rail.traffic"},
});

} // namespace

std::span<const Rule> link_rules() {
    return link_rows;
}

} // namespace restart::table
