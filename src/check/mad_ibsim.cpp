#include "check/mad_ibsim.hpp"

#include "restart/watch/fabric/mad_counters.hpp"
#include "restart/watch/run_apart.hpp"
#include "topo/fabric_json.hpp"
#include "topo/read/assemble.hpp"
#include "topo/read/mad_discover.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <infiniband/mad.h>
#include <iterator>
#include <sys/stat.h>
#include <thread>

namespace check {
namespace {

using namespace std::chrono_literals;
using restart::CounterLine;
using restart::PortCounter;

// A subnet manager brings up a reconnected cable within this time.
constexpr auto comes_up_within = 20s;
constexpr base::Duration answers_within = 10s;
// ibsim answers within a millisecond; queries that it is set not to answer must not take long.
constexpr restart::CounterSweepLimits limits{
    .window = 16, .tries = 2, .timeout = 100ms, .longest = 5s, .patience = 100};

struct Field {
    PortCounter counter;
    std::string_view name;
};
constexpr auto fields = std::to_array<Field>({
    {PortCounter::symbol_errors, "PortCounters.SymbolErrorCounter"},
    {PortCounter::link_recoveries, "PortCounters.LinkErrorRecoveryCounter"},
    {PortCounter::link_downs, "PortCounters.LinkDownedCounter"},
    {PortCounter::receive_errors, "PortCounters.PortRcvErrors"},
    {PortCounter::remote_physical_errors, "PortCounters.PortRcvRemotePhysicalErrors"},
    {PortCounter::switch_relay_errors, "PortCounters.PortRcvSwitchRelayErrors"},
    {PortCounter::transmit_discards, "PortCounters.PortXmitDiscards"},
    {PortCounter::transmit_constraint_errors, "PortCounters.PortXmitConstraintErrors"},
    {PortCounter::receive_constraint_errors, "PortCounters.PortRcvConstraintErrors"},
    {PortCounter::integrity_errors, "PortCounters.LocalLinkIntegrityErrors"},
    {PortCounter::buffer_overruns, "PortCounters.ExcessiveBufferOverrunErrors"},
    {PortCounter::vl15_drops, "PortCounters.VL15Dropped"},
    {PortCounter::transmit_words, "PortCountersExtended.PortXmitData"},
    {PortCounter::receive_words, "PortCountersExtended.PortRcvData"},
    {PortCounter::transmit_packets, "PortCountersExtended.PortXmitPkts"},
    {PortCounter::receive_packets, "PortCountersExtended.PortRcvPkts"},
    {PortCounter::transmit_waits, "PortCounters.PortXmitWait"},
});
static_assert(fields.size() == restart::port_counters);

} // namespace

base::Error IbsimPorts::bad(std::string_view why) const {
    return {base::Code::io, fmt::format("{}: {}", name_, why)};
}

base::Expected<std::unique_ptr<IbsimPorts>> IbsimPorts::open(const std::string& console) {
    std::signal(SIGPIPE, SIG_IGN); // an ibsim that ends is reported as an error
    // Does not block until there is a reader.
    base::UniqueFd pipe(::open(console.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
    if (!pipe && errno == ENXIO)
        return base::Error{base::Code::io, fmt::format("{}: no ibsim reads its commands from it", console)};
    if (!pipe) return base::system_error(console, errno);
    struct stat kind {};
    if (::fstat(pipe.get(), &kind) != 0) return base::system_error(console, errno);
    if (!S_ISFIFO(kind.st_mode))
        return base::Error{base::Code::io,
                           fmt::format("{}: not a named pipe, as a console of ibsim is", console)};
    std::unique_ptr<IbsimPorts> ports(new IbsimPorts(console, std::move(pipe)));
    if (auto done = ports->read_fabric(); !done) return std::move(done).error();
    if (auto done = ports->is_what_the_console_changes(); !done) return std::move(done).error();
    return ports;
}

base::Expected<void> IbsimPorts::read_fabric() {
    // Names and cables, as an administrator would write them to a file.
    const auto text = restart::run_apart(
        []() -> base::Expected<std::string> {
            const auto raw = topo::discover_live({});
            if (!raw) return raw.error();
            const auto assembly = topo::assemble(*raw);
            if (!assembly) return assembly.error();
            return topo::print_fabric(assembly->fabric);
        },
        answers_within);
    if (!text) return text.error();
    auto fabric = topo::parse_fabric(*text, name_);
    if (!fabric) return std::move(fabric).error();
    fabric_ = *std::move(fabric);
    if (auto done = see(); !done) return done;
    const auto answers = std::find_if(seen_->begin(), seen_->end(),
                                      [](const auto& end) { return end.active && end.lid != 0; });
    if (answers == seen_->end())
        return bad("no port of its fabric is active: a subnet manager (opensm) must run on it");
    some_lid_ = answers->lid;
    return {};
}

base::Expected<void> IbsimPorts::is_what_the_console_changes() {
    for (const std::uint64_t shown : {7U, 0U}) {
        FabricPort port;
        for (const auto& end : *seen_)
            if (end.active && end.lid != 0) port = {end.node, end.port};
        if (auto done = set(port, PortCounter::vl15_drops, shown); !done) return done;
        const auto read = look();
        if (!read) return read.error();
        const auto found =
            std::find_if(read->readings.begin(), read->readings.end(), [&](const auto& reading) {
                return FabricPort{reading.node, reading.port} == port && reading.answered;
            });
        if (found == read->readings.end() || found->at(PortCounter::vl15_drops) != shown)
            return bad(
                "what is changed there does not change in the fabric that this program sees: run it with "
                "LD_PRELOAD=libumad2sim.so and that ibsim's IBSIM_SOCKNAME");
    }
    return {};
}

base::Expected<void> IbsimPorts::command(const std::string& line) {
    const auto text = line + '\n';
    const auto written = ::write(console_.get(), text.data(), text.size());
    if (written < 0 && errno == EPIPE) return bad("the ibsim that read its commands from it has ended");
    if (written < 0) return base::system_error(name_, errno);
    if (static_cast<std::size_t>(written) != text.size()) return bad("it takes no more commands");
    ++commands_;
    return {};
}

base::Expected<void> IbsimPorts::settle() const {
    if (commands_ == 0) return {};
    const auto line = restart::MadCounters::open({});
    if (!line) return line.error();
    // One more: a query already queued when a command arrives is answered before it is read.
    for (std::uint32_t number = 1; number <= commands_ + 1; ++number) {
        CounterLine::Question question;
        question.number = number;
        question.lid = some_lid_;
        question.what = CounterLine::What::abilities;
        if (auto done = (*line)->ask(question, 1s); !done) return done;
        for (;;) {
            const auto answer = (*line)->next(2s);
            if (!answer) return answer.error();
            if (!*answer) return bad("ibsim does not answer any more");
            if ((*answer)->number == number) break;
        }
    }
    return {};
}

std::string IbsimPorts::id(FabricPort port) const {
    const bool is_switch = std::any_of(fabric_.switches.begin(), fabric_.switches.end(),
                                       [&](const auto& one) { return one.guid == port.node; });
    return fmt::format("\"{}-{:016x}\"[{}]", is_switch ? 'S' : 'H', port.node, port.number);
}

base::Expected<void> IbsimPorts::set(FabricPort port, PortCounter counter, std::uint64_t value) {
    const auto& field = fields[static_cast<std::size_t>(counter)];
    return command(fmt::format("PerformanceSet {} {}={}", id(port), field.name, value));
}

base::Expected<void> IbsimPorts::answer(FabricPort port, bool answers) {
    if (answers)
        silent_.erase(port);
    else
        silent_.insert(port);
    return command(fmt::format("Error {} {} {}", id(port), answers ? 0 : 100, +IB_GSI_PORT_COUNTERS));
}

const restart::SeenEnd* IbsimPorts::find_seen(FabricPort port) const {
    const auto at = std::find_if(seen_->begin(), seen_->end(), [&](const auto& end) {
        return end.node == port.node && end.port == port.number;
    });
    return at == seen_->end() ? nullptr : &*at;
}

base::Expected<void> IbsimPorts::set_width(const restart::SeenEnd& at, bool narrow) const {
    constexpr std::uint32_t one_lane = 1, four_lanes = 2;
    constexpr unsigned patience_ms = 1'000;
    const auto done = restart::run_apart(
        [&]() -> base::Expected<std::string> {
            std::array<int, 1> classes{IB_SMI_CLASS};
            const std::unique_ptr<ibmad_port, decltype(&mad_rpc_close_port)> rpc(
                mad_rpc_open_port(nullptr, 0, classes.data(), classes.size()), mad_rpc_close_port);
            if (!rpc) return bad("no port of its fabric can be opened");
            std::array<std::uint8_t, IB_SMP_DATA_SIZE> info{};
            ib_portid_t to{};
            ib_portid_set(&to, at.lid, 0, 0);
            if (smp_query_via(info.data(), &to, IB_ATTR_PORT_INFO, at.port, patience_ms, rpc.get()) ==
                nullptr)
                return bad("a port does not tell its PortInfo");
            mad_set_field(info.data(), 0, IB_PORT_LINK_WIDTH_ENABLED_F, narrow ? one_lane : four_lanes);
            mad_set_field(info.data(), 0, IB_PORT_STATE_F, 0); // no change
            mad_set_field(info.data(), 0, IB_PORT_PHYS_STATE_F, 0);
            if (smp_set_via(info.data(), &to, IB_ATTR_PORT_INFO, at.port, patience_ms, rpc.get()) == nullptr)
                return bad("a port takes no other width");
            return std::string();
        },
        answers_within);
    if (!done) return done.error();
    return {};
}

base::Expected<void> IbsimPorts::set_rate(FabricPort port, std::uint32_t mbps) {
    const auto rate = link_at(fabric_, port).link.mbps;
    // A subnet manager in the middle of a sweep writes back the width that it read before.
    constexpr int most_tries = 200, holds_for = 5;
    int held = 0;
    for (int tries = 0; held < holds_for; ++tries) {
        if (tries == most_tries) return bad(id(port) + " does not keep another width");
        if (auto done = see(); !done) return done;
        const auto* at = find_seen(port);
        if (at == nullptr || at->lid == 0) return bad(id(port) + " is gone");
        ++held;
        if ((at->mbps < rate) != (mbps < rate)) {
            held = 0;
            if (auto done = set_width(*at, mbps < rate); !done) return done;
        }
        std::this_thread::sleep_for(20ms);
        seen_.reset();
    }
    return see();
}

base::Expected<void> IbsimPorts::swap(FabricPort one, FabricPort other, bool swapped) {
    const std::array<FabricPort, 2> ports{one, other};
    for (const auto& port : ports)
        if (auto done = command("Unlink " + id(port)); !done) return done;
    for (std::size_t i = 0; i < ports.size(); ++i) {
        const auto to = link_at(fabric_, ports[swapped ? 1 - i : i]).far;
        if (auto done = command(fmt::format("Link {} {}", id(ports[i]), id(to))); !done) return done;
    }
    seen_.reset();
    return wait_until_active();
}

base::Expected<void> IbsimPorts::cut(FabricPort port, bool out) {
    if (auto done = command(fmt::format("{} {}", out ? "Unlink" : "ReLink", id(port))); !done) return done;
    seen_.reset();
    return wait_until_active();
}

base::Expected<void> IbsimPorts::see() {
    if (seen_) return {};
    const auto bytes = restart::run_apart(
        [&]() -> base::Expected<std::string> {
            if (auto done = settle(); !done) return std::move(done).error();
            const auto raw = topo::discover_live({});
            if (!raw) return raw.error();
            return restart::to_bytes(restart::seen_ends(*raw));
        },
        answers_within);
    if (!bytes) return bytes.error();
    commands_ = 0;
    auto seen = restart::ends_from(*bytes);
    if (!seen) return std::move(seen).error();
    seen_ = *std::move(seen);
    return {};
}

base::Expected<void> IbsimPorts::wait_until_active() {
    const auto until = std::chrono::steady_clock::now() + comes_up_within;
    for (;;) {
        if (auto done = see(); !done) return done;
        const bool all = std::all_of(seen_->begin(), seen_->end(),
                                     [](const auto& end) { return end.peer == 0 || end.active; });
        if (all) return {};
        if (std::chrono::steady_clock::now() > until)
            return bad("the subnet manager does not bring up a cable that was put in anew");
        seen_.reset();
        std::this_thread::sleep_for(50ms);
    }
}

base::Expected<std::vector<restart::PortReading>> IbsimPorts::read() {
    std::vector<restart::SeenEnd> cabled;
    std::copy_if(seen_->begin(), seen_->end(), std::back_inserter(cabled),
                 [](const auto& end) { return end.peer != 0; });
    const auto bytes = restart::run_apart(
        [&]() -> base::Expected<std::string> {
            if (auto done = settle(); !done) return std::move(done).error();
            const auto line = restart::MadCounters::open({});
            if (!line) return line.error();
            const auto swept =
                restart::sweep_counters(**line, restart::targets_of(cabled, abilities_), limits);
            if (!swept) return swept.error();
            return restart::to_bytes(swept->readings);
        },
        answers_within);
    if (!bytes) return bytes.error();
    commands_ = 0;
    return restart::readings_from(*bytes);
}

base::Expected<FabricPorts::Look> IbsimPorts::look() {
    if (auto done = see(); !done) return std::move(done).error();
    // On a busy machine the simulator may be late; only ports set not to answer may stay silent.
    constexpr int most_tries = 20;
    for (int tries = 0; tries < most_tries; ++tries) {
        auto readings = read();
        if (!readings) return std::move(readings).error();
        bool late = false;
        for (const auto& reading : *readings) {
            if (reading.answered && (reading.abilities & restart::pm::known) != 0)
                abilities_[reading.node] = reading.abilities;
            late = late || (!reading.answered && !silent_.contains({reading.node, reading.port}));
        }
        if (!late) return Look{*seen_, *std::move(readings)};
    }
    return bad("ibsim does not answer for all ports");
}

} // namespace check
