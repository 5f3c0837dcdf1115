// What a job reports about its UCX endpoints. All of it is information: it comes from a user, and a user must
// not be able to move another user's job, or to have a host avoided, by such reports.
#include "restart/watch/rules/table.hpp"

#include <array>

namespace restart::table {
namespace {

using enum Severity;
using enum FaultClass;
using namespace std::chrono_literals;

constexpr auto ucx_rows = std::to_array<Rule>({
    {.name = "ucx.fallback",
     .signal = "ucx.fallback",
     .test = Test::above,
     .value = 0,
     .window = 10s,
     .severity = info,
     .fault = link,
     .says = "{value} of {of} endpoints to other hosts left InfiniBand: {text}",
     .source =
         "UCX takes TCP where no HCA reaches the peer, and says nothing; 10 s pass over the start of ranks"},
    {.name = "ucx.chosen_tcp",
     .signal = "ucx.chosen_tcp",
     .test = Test::above,
     .value = 0,
     .window = 1min,
     .severity = info,
     .says = "{value} of {of} endpoints to other hosts are kept from InfiniBand: {text}",
     .source = "the user's choice, often one of an old script"},
    {.name = "ucx.timeouts",
     .signal = "ucx.timeouts",
     .test = Test::delta,
     .value = 0,
     .window = 10min,
     .clear = 10min,
     .severity = info,
     .fault = link,
     .says = "{grown} endpoints lost their peer within {window}; the last: {text}",
     .source = "UCS_ERR_ENDPOINT_TIMEOUT: keepalive, or 7 retries of InfiniBand, went unanswered"},
    {.name = "ucx.failures",
     .signal = "ucx.failures",
     .test = Test::delta,
     .value = 0,
     .window = 10min,
     .clear = 10min,
     .severity = info,
     .fault = link,
     .says = "{grown} endpoints failed within {window}; the last: {text}",
     .source = "what UCX tells the error handler of an endpoint: its connection is lost"},
    {.name = "ucx.refused",
     .signal = "ucx.refused",
     .test = Test::delta,
     .value = 0,
     .window = 10min,
     .clear = 10min,
     .severity = info,
     .says = "{grown} endpoints could not be made within {window}; the last: {text}",
     .source = "ucp_ep_create failed: UCS_ERR_UNREACHABLE where no transport reaches the peer"},
    {.name = "ucx.resent",
     .signal = "ucx.resent",
     .test = Test::delta,
     .value = 1000,
     .window = 1min,
     .severity = info,
     .says = "{grown} segments were sent again over TCP within {window}; the last: {text}",
     .source = "TCP_INFO's tcpi_total_retrans; a sound network loses single ones, and no job computes over "
               "TCP for long"},
    {.name = "ucx.tcp_bytes",
     .signal = "ucx.tcp_bytes",
     .test = Test::delta,
     .value = 1'000'000'000,
     .window = 1min,
     .severity = info,
     .fault = link,
     .says = "{grown} bytes went over TCP within {window}; the last: {text}",
     .source = "UCX's own count: start-up and wire-up send kilobytes, a job that computes gigabytes"},
    {.name = "ucx.dropped",
     .signal = "ucx.dropped",
     .test = Test::delta,
     .value = 1000,
     .window = 1min,
     .severity = info,
     .fault = link,
     .says = "{grown} packets were dropped, and sent again, within {window}; the last: {text}",
     .source = "rx_drop of UCX's ud_iface; a sound rail drops single ones"},
    {.name = "ucx.unseen",
     .signal = "ucx.unseen",
     .test = Test::above,
     .value = 0,
     .window = 10s,
     .severity = info,
     .says = "cannot see UCX in {value} processes: {text}",
     .source = "librailucx.so was loaded there, and found no libucp that it knows"},
});

} // namespace

std::span<const Rule> ucx_rules() {
    return ucx_rows;
}

} // namespace restart::table
