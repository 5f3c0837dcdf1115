#include "check/net/ibv_rail.hpp"

#include <railyard_config.h>

#ifdef RY_HAVE_VERBS

#include "base/file.hpp"
#include "base/units.hpp"
#include "check/net/ibv_calls.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <infiniband/verbs.h>
#include <thread>

namespace check::net {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::size_t block_size = 1 << 20, most_on_their_way = 16;
constexpr std::uint32_t least_pings = 40, most_pings = 1000;
constexpr std::uint8_t least_rnr_timer = 12, timeout = 12, retries = 7; // 4.096 us * 2^12: 17 ms

base::Error failed(const std::string& device, std::string_view what, int number) {
    return {base::Code::unavailable, fmt::format("{}: {}: {}", device, what, std::strerror(number))};
}

double seconds_since(Clock::time_point from) {
    return std::chrono::duration<double>(Clock::now() - from).count();
}

// What the first host of a pair writes to the other's memory at the end; `meeting` is written last.
struct Control {
    double latency_us = 0, gbps = 0, gbps_back = 0;
    std::uint64_t meeting = 0;
};

struct Memory {
    Control control; // the peer writes here
    alignas(64) Control own;
    alignas(4096) std::array<std::byte, block_size> block;
};

// The wire format: both ends have the same architecture.
struct Address {
    std::array<char, 4> magic{'i', 'b', 'v', '1'};
    std::uint32_t queue = 0, key = 0;
    std::uint64_t memory = 0;
    std::uint16_t lid = 0;
    std::uint8_t mtu = 0, reads = 0, routed = 0, gid_index = 0;
    std::array<std::uint8_t, 16> gid{};
};

// For RoCE the routed version, with an IPv4 address if there is one; for InfiniBand the first.
std::uint8_t gid_index_of(const std::string& name, int port) {
    const std::filesystem::path folder = fmt::format("/sys/class/infiniband/{}/ports/{}", name, port);
    int best = 0;
    for (int index = 0; index < 32; ++index) {
        const auto kind = base::read_file((folder / "gid_attrs/types" / std::to_string(index)).string(), 64);
        const auto gid = base::read_file((folder / "gids" / std::to_string(index)).string(), 64);
        if (!kind || !gid || !kind->starts_with("RoCE v2")) continue;
        best = index;
        if (gid->find(":ffff:") != std::string::npos) break;
    }
    return static_cast<std::uint8_t>(best);
}

std::pair<std::string, int> parts_of(const std::string& device) {
    const auto colon = std::min(device.find(':'), device.size());
    const auto port = base::parse_count(std::string_view(device).substr(std::min(colon + 1, device.size())));
    return {device.substr(0, colon), port && *port < 256 ? static_cast<int>(*port) : 1};
}

} // namespace

class IbvRail::Port {
public:
    static base::Expected<std::unique_ptr<Port>> open(std::shared_ptr<const IbvCalls> calls,
                                                      const std::string& device) {
        std::unique_ptr<Port> made(new Port(std::move(calls), device));
        if (auto opened = made->open(); !opened) return std::move(opened).error();
        return made;
    }
    ~Port() {
        if (queue_ != nullptr) calls_->ibv_destroy_qp(queue_);
        if (done_ != nullptr) calls_->ibv_destroy_cq(done_);
        if (region_ != nullptr) calls_->ibv_dereg_mr(region_);
        if (domain_ != nullptr) calls_->ibv_dealloc_pd(domain_);
        if (context_ != nullptr) calls_->ibv_close_device(context_);
    }
    Port(const Port&) = delete;
    Port& operator=(const Port&) = delete;

    const std::string& device() const { return device_; }
    const std::string& address() const { return address_; }

    base::Expected<Measured> measure(const std::string& text, std::uint32_t meeting, bool first,
                                     const Effort& effort) {
        if (text.size() != sizeof peer_ || !text.starts_with("ibv1"))
            return base::Error{base::Code::unavailable,
                               device_ + ": the peer does not measure by libibverbs"};
        std::memcpy(&peer_, text.data(), sizeof peer_);
        deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                       std::chrono::duration<double>(effort.patience_s));
        return first ? lead(meeting, effort.seconds) : follow(meeting);
    }

private:
    Port(std::shared_ptr<const IbvCalls> calls, const std::string& device)
        : calls_(std::move(calls)), device_(device), memory_(std::make_unique<Memory>()) {}

    base::Expected<void> open() {
        const auto [name, port] = parts_of(device_);
        number_ = static_cast<std::uint8_t>(port);
        const IbvDevices devices(*calls_);
        auto* device = devices.find(name);
        if (device == nullptr) return failed(device_, "libibverbs shows no such device", ENODEV);
        context_ = calls_->ibv_open_device(device);
        if (context_ == nullptr) return failed(device_, "it cannot be opened", errno);
        ibv_port_attr attributes{};
        if (!query_port(*calls_, context_, port, attributes))
            return failed(device_, "it has no such port", errno);
        if (attributes.state != IBV_PORT_ACTIVE)
            return base::Error{base::Code::unavailable, device_ + ": the port is not active"};
        domain_ = calls_->ibv_alloc_pd(context_);
        if (domain_ == nullptr) return failed(device_, "no protection domain", errno);
        region_ =
            (calls_->ibv_reg_mr)(domain_, memory_.get(), sizeof(Memory),
                                 IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
        if (region_ == nullptr)
            return failed(device_, "its memory cannot be registered, see ulimit -l", errno);
        done_ = calls_->ibv_create_cq(context_, 2 * most_on_their_way, nullptr, nullptr, 0);
        if (done_ == nullptr) return failed(device_, "no completion queue", errno);
        ibv_qp_init_attr queue{};
        queue.send_cq = queue.recv_cq = done_;
        queue.cap = {.max_send_wr = 2 * most_on_their_way,
                     .max_recv_wr = 1,
                     .max_send_sge = 1,
                     .max_recv_sge = 1,
                     .max_inline_data = 0};
        queue.qp_type = IBV_QPT_RC;
        queue_ = calls_->ibv_create_qp(domain_, &queue);
        if (queue_ == nullptr) return failed(device_, "no queue pair", errno);
        return tell_address(name, attributes);
    }

    base::Expected<void> tell_address(const std::string& name, const ibv_port_attr& attributes) {
        Address own;
        ibv_device_attr about{};
        if (calls_->ibv_query_device(context_, &about) != 0)
            return failed(device_, "it does not answer", errno);
        own.queue = queue_->qp_num;
        own.key = region_->rkey;
        own.memory = reinterpret_cast<std::uint64_t>(memory_.get());
        own.lid = attributes.lid;
        own.mtu = static_cast<std::uint8_t>(attributes.active_mtu);
        own.reads = static_cast<std::uint8_t>(
            std::clamp(std::min(about.max_qp_rd_atom, about.max_qp_init_rd_atom), 1, 16));
        own.routed = attributes.link_layer == IBV_LINK_LAYER_ETHERNET || attributes.lid == 0;
        own.gid_index = gid_index_of(name, number_);
        ::ibv_gid gid{};
        if (calls_->ibv_query_gid(context_, number_, own.gid_index, &gid) == 0)
            std::memcpy(own.gid.data(), gid.raw, own.gid.size());
        own_ = own;
        address_.assign(reinterpret_cast<const char*>(&own), sizeof own);
        return {};
    }

    bool modify(ibv_qp_attr& attributes, int mask) {
        return calls_->ibv_modify_qp(queue_, &attributes, mask) == 0;
    }

    // From any state. Both ends number their packets starting from the meeting, so that packets left over
    // from an earlier one have other numbers.
    bool connect(std::uint32_t meeting) {
        const auto packet = meeting << 8 & 0xffffff;
        ibv_qp_attr next{};
        next.qp_state = IBV_QPS_RESET;
        if (!modify(next, IBV_QP_STATE)) return false;
        next = {};
        next.qp_state = IBV_QPS_INIT;
        next.port_num = number_;
        next.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
        if (!modify(next, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)) return false;
        next = {};
        next.qp_state = IBV_QPS_RTR;
        next.path_mtu = static_cast<ibv_mtu>(std::min(own_.mtu, peer_.mtu));
        next.dest_qp_num = peer_.queue;
        next.rq_psn = packet;
        next.max_dest_rd_atomic = own_.reads;
        next.min_rnr_timer = least_rnr_timer;
        next.ah_attr.dlid = peer_.lid;
        next.ah_attr.port_num = number_;
        if (own_.routed != 0) {
            next.ah_attr.is_global = 1;
            next.ah_attr.grh.sgid_index = own_.gid_index;
            next.ah_attr.grh.hop_limit = 64;
            std::memcpy(next.ah_attr.grh.dgid.raw, peer_.gid.data(), peer_.gid.size());
        }
        if (!modify(next, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                              IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
            return false;
        next = {};
        next.qp_state = IBV_QPS_RTS;
        next.timeout = timeout;
        next.retry_cnt = next.rnr_retry = retries;
        next.sq_psn = packet;
        next.max_rd_atomic = std::min(own_.reads, peer_.reads);
        return modify(next, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                                IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
    }

    // Between the same offset of both memories.
    bool post(ibv_wr_opcode what, const void* at, std::size_t bytes, std::size_t to) {
        ibv_sge here{reinterpret_cast<std::uint64_t>(at), static_cast<std::uint32_t>(bytes), region_->lkey};
        ibv_send_wr work{};
        work.sg_list = &here;
        work.num_sge = 1;
        work.opcode = what;
        work.send_flags = IBV_SEND_SIGNALED;
        work.wr.rdma.remote_addr = peer_.memory + to;
        work.wr.rdma.rkey = peer_.key;
        ibv_send_wr* bad = nullptr;
        return ::ibv_post_send(queue_, &work, &bad) == 0;
    }

    // Whether one posted request has completed successfully.
    bool one_done() {
        ibv_wc ended{};
        for (int looks = 0;; ++looks) {
            const int n = ::ibv_poll_cq(done_, 1, &ended);
            if (n > 0) break;
            if (n < 0 || (looks % 1024 == 0 && Clock::now() > deadline_)) {
                trouble_ = n < 0 ? "its completion queue fails" : "the peer does not answer";
                return false;
            }
        }
        if (ended.status == IBV_WC_SUCCESS) return true;
        unheard_ = ended.status == IBV_WC_RETRY_EXC_ERR;
        trouble_ = calls_->ibv_wc_status_str(ended.status);
        return false;
    }
    bool write(const void* at, std::size_t bytes, std::size_t to) {
        return post(IBV_WR_RDMA_WRITE, at, bytes, to) && one_done();
    }

    // The peer may not be there yet: the device gives up after a while, and the connection is retried until
    // the patience ends.
    bool reach(std::uint32_t meeting) {
        do {
            if (!connect(meeting)) {
                trouble_ = fmt::format("no connection: {}", std::strerror(errno));
                return false;
            }
            if (write(&memory_->own, sizeof(double), offsetof(Memory, control))) return true;
            while (drained()) {}
        } while (unheard_ && Clock::now() < deadline_);
        return false;
    }
    // Whether there was another completion.
    bool drained() {
        ibv_wc ended{};
        return ::ibv_poll_cq(done_, 1, &ended) > 0;
    }

    bool ask_latency(double seconds, double& latency_us) {
        std::vector<double> times;
        const auto began = Clock::now();
        while (times.size() < least_pings || (seconds_since(began) < seconds && times.size() < most_pings)) {
            const auto sent = Clock::now();
            if (!write(&memory_->own, sizeof(double), offsetof(Memory, control))) return false;
            times.push_back(seconds_since(sent));
        }
        latency_us = *std::min_element(times.begin(), times.end()) / 2 * 1e6;
        return true;
    }

    // Blocks one after the other, several of them in flight at once.
    bool move(ibv_wr_opcode what, double seconds, double& gbps) {
        std::size_t sent = 0, ended = 0;
        const auto began = Clock::now();
        double took = 0;
        while (took < seconds || ended < sent) {
            const bool more = took < seconds;
            if (more && sent - ended < most_on_their_way) {
                if (!post(what, memory_->block.data(), block_size, offsetof(Memory, block))) {
                    trouble_ = "it takes no work";
                    return false;
                }
                ++sent;
                continue;
            }
            if (!one_done()) return false;
            ++ended;
            took = seconds_since(began);
        }
        gbps = static_cast<double>(ended) * block_size * 8 / took / 1e9;
        return true;
    }

    base::Error lost() const { return {base::Code::unavailable, fmt::format("{}: {}", device_, trouble_)}; }

    base::Expected<Measured> lead(std::uint32_t meeting, double seconds) {
        Measured measured;
        if (!reach(meeting) || !ask_latency(seconds, measured.latency_us) ||
            !move(IBV_WR_RDMA_WRITE, seconds, measured.gbps) ||
            !move(IBV_WR_RDMA_READ, seconds, measured.gbps_back))
            return lost();
        memory_->own = {measured.latency_us, measured.gbps, measured.gbps_back, meeting};
        constexpr auto last = offsetof(Control, meeting);
        if (!write(&memory_->own, last, offsetof(Memory, control)) ||
            !write(&memory_->own.meeting, sizeof memory_->own.meeting, offsetof(Memory, control) + last))
            return lost();
        return measured;
    }

    base::Expected<Measured> follow(std::uint32_t meeting) {
        auto& control = memory_->control;
        const std::atomic_ref<std::uint64_t> told(control.meeting);
        told.store(0);
        if (!connect(meeting)) return failed(device_, "no connection", errno);
        while (told.load(std::memory_order_acquire) != meeting) {
            if (Clock::now() > deadline_)
                return base::Error{base::Code::unavailable, device_ + ": the peer does not answer"};
            std::this_thread::sleep_for(50us);
        }
        return Measured{control.latency_us, control.gbps, control.gbps_back};
    }

    std::shared_ptr<const IbvCalls> calls_;
    std::string device_, address_;
    std::unique_ptr<Memory> memory_;
    std::uint8_t number_ = 1; // of the port
    ibv_context* context_ = nullptr;
    ibv_pd* domain_ = nullptr;
    ibv_mr* region_ = nullptr;
    ibv_cq* done_ = nullptr;
    ibv_qp* queue_ = nullptr;
    Address own_, peer_;
    Clock::time_point deadline_;
    std::string trouble_;
    bool unheard_ = false; // the last that failed had no acknowledgement
};

IbvRail::IbvRail(std::unique_ptr<Port> port) : port_(std::move(port)) {}
IbvRail::IbvRail(IbvRail&&) noexcept = default;
IbvRail& IbvRail::operator=(IbvRail&&) noexcept = default;
IbvRail::~IbvRail() = default;

base::Expected<IbvRail> IbvRail::open(std::shared_ptr<const IbvCalls> calls, const std::string& device) {
    auto port = Port::open(std::move(calls), device);
    if (!port) return std::move(port).error();
    return IbvRail(*std::move(port));
}
const std::string& IbvRail::device() const {
    return port_->device();
}
const std::string& IbvRail::address() const {
    return port_->address();
}
base::Expected<Measured> IbvRail::measure(const std::string& peer, std::uint32_t meeting, bool first,
                                          const Effort& effort) {
    return port_->measure(peer, meeting, first, effort);
}

} // namespace check::net

#else

#include "check/net/ibv_calls.hpp"

namespace check::net {

class IbvRail::Port {
public:
    std::string nothing;
};
IbvRail::IbvRail(std::unique_ptr<Port> port) : port_(std::move(port)) {}
IbvRail::IbvRail(IbvRail&&) noexcept = default;
IbvRail& IbvRail::operator=(IbvRail&&) noexcept = default;
IbvRail::~IbvRail() = default;

base::Expected<IbvRail> IbvRail::open(std::shared_ptr<const IbvCalls>, const std::string&) {
    return ibv_not_built();
}
const std::string& IbvRail::device() const {
    return port_->nothing;
}
const std::string& IbvRail::address() const {
    return port_->nothing;
}
base::Expected<Measured> IbvRail::measure(const std::string&, std::uint32_t, bool, const Effort&) {
    return ibv_not_built();
}

} // namespace check::net

#endif
