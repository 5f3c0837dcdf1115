#include "restart/watch/mad_notices.hpp"

#include <fmt/format.h>

#include <infiniband/mad.h>
#include <infiniband/umad.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

namespace restart {
namespace {

constexpr int mad_bytes = 256, data_at = 56; // of a SubnAdm datagram
constexpr std::uint8_t sa_class = 3, sa_version = 2;
constexpr std::uint8_t method_get = 1, method_set = 2, method_report = 6, answer = 0x80;
constexpr std::uint16_t notice = 2, inform_info = 3, link_state_trap = 128;
constexpr std::uint32_t sa_qkey = 0x80010000;
constexpr int answer_ms = 500, port_ms = 20; // until a datagram is considered lost

unsigned read_16(const std::uint8_t* at) {
    return static_cast<unsigned>(at[0]) << 8U | at[1];
}
void write_16(std::uint8_t* at, unsigned value) {
    at[0] = static_cast<std::uint8_t>(value >> 8U);
    at[1] = static_cast<std::uint8_t>(value);
}

base::Error failed(std::string_view what, const topo::MadPort& port) {
    const auto number = errno;
    return {base::Code::io, fmt::format("{} {}: {}: notices of the subnet administrator are not read", what,
                                        port.ca.empty() ? std::string("the first active HCA port")
                                                        : fmt::format("{} port {}", port.ca, port.port),
                                        number == 0 ? "there is none" : std::strerror(number))};
}

} // namespace

struct MadNotices::Port {
    topo::MadPort wanted;
    int fd = -1;
    int sa = -1, manager = -1; // agents
    ibmad_port* rpc = nullptr;
    umad_port_t info{};
    bool has_info = false;
    std::uint64_t serial = 0;
    std::vector<std::uint8_t> room;

    // Sized by the larger of the kernel's headers: ibsim's library copies that one, whatever umad_size()
    // returns.
    Port() : room(sizeof(ib_user_mad_t) + mad_bytes) {}
    Port(const Port&) = delete;
    Port& operator=(const Port&) = delete;
    ~Port() {
        if (rpc != nullptr) mad_rpc_close_port(rpc);
        if (fd >= 0) umad_close_port(fd);
        if (has_info) umad_release_port(&info);
    }

    // The subnet manager's address may have changed.
    bool read_info() {
        umad_port_t fresh{};
        errno = 0;
        if (umad_get_port(wanted.ca.empty() ? nullptr : wanted.ca.c_str(), wanted.port, &fresh) < 0)
            return false;
        if (has_info) umad_release_port(&info);
        info = fresh;
        return has_info = true;
    }
    std::uint8_t* mad() { return static_cast<std::uint8_t*>(umad_get_mad(room.data())); }

    int register_agent(int mgmt_class, int version, bool reports) {
        std::array<long, 16 / sizeof(long)> methods{};
        if (reports) methods[0] = 1L << method_report;
        return umad_register(fd, mgmt_class, version, 0, reports ? methods.data() : nullptr);
    }
    // Returns the received notice as an acknowledgement.
    void acknowledge() {
        mad()[3] = method_report | answer;
        umad_send(fd, sa, room.data(), mad_bytes, 0, 0);
    }
    void be_inactive_manager() {
        constexpr int data = 64; // of an SMP
        auto* m = mad();
        m[3] = method_get | answer;
        m[4] |= 0x80; // the direction bit of the route
        std::memset(m + data, 0, 64);
        std::memcpy(m + data, &info.port_guid, sizeof info.port_guid);
        umad_send(fd, manager, room.data(), mad_bytes, 0, 0);
    }
};

MadNotices::MadNotices(std::unique_ptr<Port> port) : port_(std::move(port)) {}
MadNotices::MadNotices(MadNotices&&) noexcept = default;
MadNotices& MadNotices::operator=(MadNotices&&) noexcept = default;
MadNotices::~MadNotices() = default;

base::Expected<MadNotices> MadNotices::open(const topo::MadPort& wanted, bool as_manager) {
    auto port = std::make_unique<Port>();
    port->wanted = wanted;
    if (umad_init() < 0 || !port->read_info()) return failed("no HCA port is found for", wanted);
    port->fd = umad_open_port(port->info.ca_name, port->info.portnum);
    if (port->fd < 0) {
        errno = -port->fd;
        return failed("cannot open", wanted);
    }
    port->sa = port->register_agent(sa_class, sa_version, true);
    if (port->sa < 0) return failed("cannot take notices at", wanted);
    if (as_manager) port->manager = port->register_agent(IB_SMI_DIRECT_CLASS, 1, false);
    int smi = IB_SMI_CLASS;
    port->rpc = mad_rpc_open_port(port->info.ca_name, port->info.portnum, &smi, 1);
    if (port->rpc == nullptr) return failed("cannot ask switches from", wanted);
    mad_rpc_set_retries(port->rpc, 1);
    return MadNotices(std::move(port));
}

base::Expected<void> MadNotices::subscribe() {
    auto& port = *port_;
    if (!port.read_info()) return failed("gone is", port.wanted);
    auto* m = port.mad();
    std::fill(port.room.begin(), port.room.end(), std::uint8_t{0});
    m[0] = 1; // base version
    m[1] = sa_class;
    m[2] = sa_version;
    m[3] = method_set;
    const auto transaction = htobe64(++port.serial);
    std::memcpy(m + 8, &transaction, sizeof transaction);
    write_16(m + 16, inform_info);
    auto* info = m + data_at;
    write_16(info + 16, 0xFFFF); // all end ports' LIDs, with no GID
    info[22] = 1;                // IsGeneric
    info[23] = 1;                // Subscribe
    write_16(info + 24, 0xFFFF); // any type
    write_16(info + 26, link_state_trap);
    info[33] = info[34] = info[35] = 0xFF; // any kind of producer
    umad_set_addr(port.room.data(), static_cast<int>(port.info.sm_lid), 1, static_cast<int>(port.info.sm_sl),
                  static_cast<int>(sa_qkey));
    errno = 0;
    if (umad_send(port.fd, port.sa, port.room.data(), mad_bytes, answer_ms, 1) < 0)
        return failed("cannot send from", port.wanted);
    return {};
}

base::Expected<MadNotices::Event> MadNotices::next(base::Duration longest) {
    auto& port = *port_;
    using Clock = std::chrono::steady_clock;
    for (const auto until = Clock::now() + longest;;) {
        const auto left =
            std::max(std::chrono::ceil<base::Duration>(until - Clock::now()), base::Duration::zero());
        int length = mad_bytes;
        errno = 0;
        if (umad_recv(port.fd, port.room.data(), &length, static_cast<int>(left.count())) < 0) {
            if (errno == ETIMEDOUT || errno == EWOULDBLOCK || errno == EINTR) return Event{};
            return failed("cannot receive at", port.wanted);
        }
        const auto* m = port.mad();
        if (m[1] == IB_SMI_DIRECT_CLASS && m[3] == method_get && port.manager >= 0) {
            port.be_inactive_manager();
            continue;
        }
        if (m[1] != sa_class) continue;
        if (umad_status(port.room.data()) != 0) return Event{Event::Kind::no_manager};
        const auto attribute = read_16(m + 16);
        if (attribute == inform_info && m[3] == (method_get | answer)) {
            const auto status = static_cast<std::uint16_t>(read_16(m + 4));
            return status == 0 ? Event{Event::Kind::subscribed} : Event{Event::Kind::refused, 0, status};
        }
        if (attribute != notice || m[3] != method_report) continue;
        const auto* data = m + data_at;
        const auto trap = read_16(data + 4);
        const auto lid = static_cast<std::uint16_t>(read_16(data + 10));
        port.acknowledge();
        if (trap == link_state_trap) return Event{Event::Kind::link_state, lid};
    }
}

std::optional<topo::Guid> MadNotices::node_at(std::uint16_t lid) {
    std::array<std::uint8_t, IB_SMP_DATA_SIZE> info{};
    ib_portid_t at{};
    at.lid = lid;
    if (smp_query_via(info.data(), &at, IB_ATTR_NODE_INFO, 0, port_ms, port_->rpc) == nullptr) return {};
    return mad_get_field64(info.data(), 0, IB_NODE_GUID_F);
}

std::optional<bool> MadNotices::is_down(std::uint16_t lid, std::uint8_t number) {
    constexpr std::uint32_t down = 1;
    std::array<std::uint8_t, IB_SMP_DATA_SIZE> info{};
    ib_portid_t at{};
    at.lid = lid;
    if (smp_query_via(info.data(), &at, IB_ATTR_PORT_INFO, number, port_ms, port_->rpc) == nullptr) return {};
    return mad_get_field(info.data(), 0, IB_PORT_STATE_F) == down;
}

} // namespace restart
