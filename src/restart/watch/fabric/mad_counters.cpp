#include "restart/watch/fabric/mad_counters.hpp"

#include <fmt/format.h>

#include <infiniband/mad.h>
#include <infiniband/umad.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace restart {
namespace {

using What = CounterLine::What;
using Outcome = CounterLine::Outcome;

constexpr int mad_bytes = 256, data_at = IB_PC_DATA_OFFS;
constexpr std::uint8_t version = 1, method_get = 1, answer = 0x80;
constexpr std::uint16_t class_port_info = 1;
constexpr std::uint32_t gsi_qkey = IB_DEFAULT_QP1_QKEY;

// Bits of ClassPortInfo's CapabilityMask and CapabilityMask2: 16.1.3.1.
constexpr std::uint32_t has_extended = 1U << 9 | 1U << 10, has_waits = 1U << 12, has_additional = 1U << 1;

struct Field {
    PortCounter counter;
    MAD_FIELDS narrow, wide;
};
constexpr auto fields = std::to_array<Field>({
    {PortCounter::symbol_errors, IB_PC_ERR_SYM_F, IB_PC_EXT_ERR_SYM_F},
    {PortCounter::link_recoveries, IB_PC_LINK_RECOVERS_F, IB_PC_EXT_LINK_RECOVERS_F},
    {PortCounter::link_downs, IB_PC_LINK_DOWNED_F, IB_PC_EXT_LINK_DOWNED_F},
    {PortCounter::receive_errors, IB_PC_ERR_RCV_F, IB_PC_EXT_ERR_RCV_F},
    {PortCounter::remote_physical_errors, IB_PC_ERR_PHYSRCV_F, IB_PC_EXT_ERR_PHYSRCV_F},
    {PortCounter::switch_relay_errors, IB_PC_ERR_SWITCH_REL_F, IB_PC_EXT_ERR_SWITCH_REL_F},
    {PortCounter::transmit_discards, IB_PC_XMT_DISCARDS_F, IB_PC_EXT_XMT_DISCARDS_F},
    {PortCounter::transmit_constraint_errors, IB_PC_ERR_XMTCONSTR_F, IB_PC_EXT_ERR_XMTCONSTR_F},
    {PortCounter::receive_constraint_errors, IB_PC_ERR_RCVCONSTR_F, IB_PC_EXT_ERR_RCVCONSTR_F},
    {PortCounter::integrity_errors, IB_PC_ERR_LOCALINTEG_F, IB_PC_EXT_ERR_LOCALINTEG_F},
    {PortCounter::buffer_overruns, IB_PC_ERR_EXCESS_OVR_F, IB_PC_EXT_ERR_EXCESS_OVR_F},
    {PortCounter::vl15_drops, IB_PC_VL15_DROPPED_F, IB_PC_EXT_VL15_DROPPED_F},
    {PortCounter::transmit_words, IB_PC_XMT_BYTES_F, IB_PC_EXT_XMT_BYTES_F},
    {PortCounter::receive_words, IB_PC_RCV_BYTES_F, IB_PC_EXT_RCV_BYTES_F},
    {PortCounter::transmit_packets, IB_PC_XMT_PKTS_F, IB_PC_EXT_XMT_PKTS_F},
    {PortCounter::receive_packets, IB_PC_RCV_PKTS_F, IB_PC_EXT_RCV_PKTS_F},
    {PortCounter::transmit_waits, IB_PC_XMT_WAIT_F, IB_PC_EXT_XMT_WAIT_F},
});
static_assert(fields.size() == port_counters);

void write_16(std::uint8_t* at, unsigned value) {
    at[0] = static_cast<std::uint8_t>(value >> 8U);
    at[1] = static_cast<std::uint8_t>(value);
}
unsigned read_16(const std::uint8_t* at) {
    return static_cast<unsigned>(at[0]) << 8U | at[1];
}

std::uint16_t attribute_of(What what) {
    switch (what) {
    case What::abilities: return class_port_info;
    case What::extended: return IB_GSI_PORT_COUNTERS_EXT;
    case What::counters: break;
    }
    return IB_GSI_PORT_COUNTERS;
}

std::uint8_t abilities_in(std::uint8_t* data) {
    const auto mask = mad_get_field(data, 0, IB_CPI_CAPMASK_F);
    const auto mask_2 = mad_get_field(data, 0, IB_CPI_CAPMASK2_F);
    unsigned found = pm::known;
    if ((mask & has_extended) != 0) found |= pm::extended;
    if ((mask & has_waits) != 0) found |= pm::waits;
    if ((mask_2 & has_additional) != 0) found |= pm::additional;
    return static_cast<std::uint8_t>(found);
}

PortReading counters_in(std::uint8_t* data, bool wide) {
    PortReading part;
    for (const auto& field : fields) {
        part.values[static_cast<std::size_t>(field.counter)] =
            wide ? mad_get_field64(data, 0, field.wide) : mad_get_field(data, 0, field.narrow);
        part.has |= bit_of(field.counter);
    }
    if (wide) part.wide = part.has;
    return part;
}

std::string name_of(const topo::MadPort& port) {
    return port.ca.empty() ? std::string("the first active HCA port")
                           : fmt::format("{} port {}", port.ca, port.port);
}

base::Error failed(std::string_view what, const topo::MadPort& port, int number) {
    return {base::Code::io, fmt::format("{} {}: {}: counters of the fabric are not read", what, name_of(port),
                                        number == 0 ? "there is none" : std::strerror(number))};
}

} // namespace

struct MadCounters::Port {
    topo::MadPort wanted;
    int fd = -1, agent = -1;
    // Sized by the larger of the kernel's headers: ibsim's library copies that one, whatever umad_size()
    // returns.
    alignas(8) std::array<std::uint8_t, sizeof(ib_user_mad_t) + mad_bytes> room{};

    Port() = default;
    Port(const Port&) = delete;
    Port& operator=(const Port&) = delete;
    ~Port() {
        if (fd >= 0) umad_close_port(fd); // also releases its agent
    }
    std::uint8_t* mad() { return static_cast<std::uint8_t*>(umad_get_mad(room.data())); }
};

MadCounters::MadCounters(std::unique_ptr<Port> port) : port_(std::move(port)) {}
MadCounters::~MadCounters() = default;

base::Expected<std::unique_ptr<MadCounters>> MadCounters::open(const topo::MadPort& wanted) {
    auto port = std::make_unique<Port>();
    port->wanted = wanted;
    errno = 0;
    if (umad_init() < 0) return failed("cannot open", wanted, errno);
    port->fd = umad_open_port(wanted.ca.empty() ? nullptr : wanted.ca.c_str(), wanted.port);
    if (port->fd < 0) return failed("cannot open", wanted, -port->fd);
    port->agent = umad_register(port->fd, IB_PERFORMANCE_CLASS, version, 0, nullptr);
    if (port->agent < 0) return failed("cannot ask from", wanted, -port->agent);
    return std::unique_ptr<MadCounters>(new MadCounters(std::move(port)));
}

base::Expected<void> MadCounters::ask(const Question& question, base::Duration patience) {
    auto& port = *port_;
    auto* m = port.mad();
    std::memset(port.room.data(), 0, port.room.size());
    m[0] = 1; // base version
    m[1] = IB_PERFORMANCE_CLASS;
    m[2] = version;
    m[3] = method_get;
    // The upper half of a transaction number is reserved for the kernel.
    write_16(m + 12, question.number >> 16U);
    write_16(m + 14, question.number & 0xffffU);
    write_16(m + 16, attribute_of(question.what));
    if (question.what != What::abilities) mad_set_field(m + data_at, 0, IB_PC_PORT_SELECT_F, question.port);
    umad_set_addr(port.room.data(), question.lid, 1, 0, static_cast<int>(gsi_qkey));
    for (int tries = 0;; ++tries) {
        const int sent = umad_send(port.fd, port.agent, port.room.data(), mad_bytes,
                                   static_cast<int>(patience.count()), 0);
        if (sent >= 0) return {};
        const int number = errno;
        // A datagram that the device cannot accept now counts as lost in the fabric.
        if (number == EAGAIN || number == ENOBUFS || number == ENOMEM) return {};
        if (number != EINTR || tries > 100) return failed("cannot send from", port.wanted, number);
    }
}

base::Expected<std::optional<CounterLine::Answer>> MadCounters::next(base::Duration longest) {
    auto& port = *port_;
    int length = mad_bytes;
    errno = 0;
    const int got = umad_recv(port.fd, port.room.data(), &length, static_cast<int>(longest.count()));
    if (got < 0) {
        const int number = errno;
        if (number == ETIMEDOUT || number == EWOULDBLOCK || number == EINTR || number == 0)
            return std::optional<Answer>();
        return failed("cannot receive at", port.wanted, number);
    }
    auto* m = port.mad();
    // An unrelated datagram has a number that the sweep does not know.
    Answer told;
    told.number = read_16(m + 12) << 16U | read_16(m + 14);
    if (m[1] != IB_PERFORMANCE_CLASS) return std::optional<Answer>();
    if (umad_status(port.room.data()) != 0) {
        told.outcome = Outcome::silent;
        return std::optional(told);
    }
    if (m[3] != (method_get | answer)) return std::optional<Answer>();
    constexpr unsigned busy = 1, status_bits = 0x1f;
    const auto status = read_16(m + 4);
    if ((status & status_bits) != 0) {
        told.outcome = (status & busy) != 0 ? Outcome::busy : Outcome::refused;
        return std::optional(told);
    }
    told.outcome = Outcome::answered;
    auto* data = m + data_at;
    switch (read_16(m + 16)) {
    case class_port_info: told.part.abilities = abilities_in(data); break;
    case IB_GSI_PORT_COUNTERS: told.part = counters_in(data, false); break;
    case IB_GSI_PORT_COUNTERS_EXT: told.part = counters_in(data, true); break;
    default: told.outcome = Outcome::refused;
    }
    return std::optional(told);
}

} // namespace restart
