#include "check/net/ucx_rail.hpp"

#include <railyard_config.h>

#ifdef RY_HAVE_UCX

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <poll.h>
#include <ucp/api/ucp.h>
#include <ucs/config/global_opts.h>
#include <vector>

namespace check::net {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t block_size = 256 << 10; // bytes of a message of the bandwidth's measure
constexpr std::uint32_t most_blocks = 1024;   // in flight at once
constexpr std::uint32_t least_pings = 40, most_pings = 1000;

enum class Kind : std::uint8_t { ping, pong, count, block, taken };

base::Error failed(const std::string& device, std::string_view what, ucs_status_t status) {
    return {base::Code::unavailable, fmt::format("{}: {}: {}", device, what, ucs_status_string(status))};
}

double seconds_since(Clock::time_point from) {
    return std::chrono::duration<double>(Clock::now() - from).count();
}

} // namespace

class UcxRail::Worker {
public:
    static base::Expected<std::unique_ptr<Worker>> open(const std::string& device,
                                                        const std::string& transports) {
        // UCX would print its messages on standard output; we report errors ourselves.
        ucs_global_opts_set_value("LOG_LEVEL", "fatal");
        std::unique_ptr<Worker> made(new Worker(device));
        ucp_config_t* config = nullptr;
        if (const auto status = ucp_config_read(nullptr, nullptr, &config); status != UCS_OK)
            return failed(device, "UCX's settings", status);
        const bool hca = device.find(':') != std::string::npos;
        ucp_config_modify(config, "NET_DEVICES", device.c_str());
        ucp_config_modify(config, "TLS", !transports.empty() ? transports.c_str() : hca ? "rc" : "tcp");
        ucp_params_t params{};
        params.field_mask = UCP_PARAM_FIELD_FEATURES;
        params.features = UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP;
        auto status = ucp_init(&params, config, &made->context_);
        ucp_config_release(config);
        if (status != UCS_OK) return failed(device, "UCX has no such device, or no transport for it", status);
        ucp_worker_params_t worker{};
        worker.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
        worker.thread_mode = UCS_THREAD_MODE_SINGLE;
        if (status = ucp_worker_create(made->context_, &worker, &made->worker_); status != UCS_OK)
            return failed(device, "UCX worker", status);
        if (status = ucp_worker_get_efd(made->worker_, &made->event_); status != UCS_OK)
            return failed(device, "UCX's event descriptor", status);
        ucp_address_t* address = nullptr;
        std::size_t size = 0;
        if (status = ucp_worker_get_address(made->worker_, &address, &size); status != UCS_OK)
            return failed(device, "UCX's address", status);
        made->address_.assign(reinterpret_cast<const char*>(address), size);
        ucp_worker_release_address(made->worker_, address);
        made->blocks_.resize(block_size);
        return made;
    }
    ~Worker() {
        if (worker_ != nullptr) ucp_worker_destroy(worker_);
        if (context_ != nullptr) ucp_cleanup(context_);
    }
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    const std::string& device() const { return device_; }
    const std::string& address() const { return address_; }

    base::Expected<Measured> measure(const std::string& peer, std::uint32_t meeting, bool first,
                                     const Effort& effort) {
        meeting_ = meeting;
        broken_ = UCS_OK;
        deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                       std::chrono::duration<double>(effort.patience_s));
        ucp_ep_params_t params{};
        params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                            UCP_EP_PARAM_FIELD_ERR_HANDLER;
        params.address = reinterpret_cast<const ucp_address_t*>(peer.data());
        params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
        params.err_handler.cb = [](void* self, ucp_ep_h, ucs_status_t status) {
            static_cast<Worker*>(self)->broken_ = status;
        };
        params.err_handler.arg = this;
        if (const auto status = ucp_ep_create(worker_, &params, &peer_); status != UCS_OK)
            return failed(device_, "no way to the peer", status);
        auto measured = first ? lead(effort.seconds) : follow(effort.seconds);
        disconnect(measured.has_value());
        return measured;
    }

private:
    explicit Worker(std::string device) : device_(std::move(device)) {}

    base::Error lost() const {
        if (broken_ != UCS_OK) return failed(device_, "the peer", broken_);
        return {base::Code::unavailable, device_ + ": the peer does not answer"};
    }

    // Lets UCX work. Spins while there is work and for a moment after, then sleeps: on a host with fewer
    // cores than processes a peer may need this one.
    void progress() {
        if (ucp_worker_progress(worker_) != 0) {
            idle_ = 0;
            return;
        }
        if (++idle_ < 2000) return;
        if (ucp_worker_arm(worker_) != UCS_OK) return;
        pollfd watched{event_, POLLIN, 0};
        ::poll(&watched, 1, 1);
    }

    // True once the request is done. Frees it.
    bool done(ucs_status_ptr_t request) {
        if (request == nullptr) return true;
        if (UCS_PTR_IS_ERR(request)) {
            broken_ = UCS_PTR_STATUS(request);
            return false;
        }
        idle_ = 0;
        bool cancelled = false;
        auto until = deadline_;
        ucs_status_t status = UCS_INPROGRESS;
        while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS) {
            progress();
            if ((broken_ == UCS_OK || cancelled) && Clock::now() < until) continue;
            if (cancelled) break; // UCX keeps it; it is never used again
            ucp_request_cancel(worker_, request);
            cancelled = true;
            until = Clock::now() + std::chrono::milliseconds(50);
        }
        ucp_request_free(request);
        return status == UCS_OK && !cancelled;
    }

    ucp_tag_t tag(Kind kind) const {
        return static_cast<ucp_tag_t>(meeting_) << 8 | static_cast<ucp_tag_t>(kind);
    }

    ucs_status_ptr_t begin_send(Kind kind, const void* data, std::size_t size) {
        ucp_request_param_t params{};
        return ucp_tag_send_nbx(peer_, data, size, tag(kind), &params);
    }
    ucs_status_ptr_t begin_receive(Kind kind, void* data, std::size_t size) {
        ucp_request_param_t params{};
        return ucp_tag_recv_nbx(worker_, data, size, tag(kind), ~ucp_tag_t{0}, &params);
    }
    bool send(Kind kind, std::uint64_t word) { return done(begin_send(kind, &word, sizeof word)); }
    bool receive(Kind kind, std::uint64_t& word) { return done(begin_receive(kind, &word, sizeof word)); }

    // Transfers `blocks` blocks, all in flight at once.
    bool all(std::uint32_t blocks, bool sent) {
        std::vector<ucs_status_ptr_t> requests;
        for (std::uint32_t i = 0; i < blocks; ++i)
            requests.push_back(sent ? begin_send(Kind::block, blocks_.data(), block_size)
                                    : begin_receive(Kind::block, blocks_.data(), block_size));
        bool good = true;
        for (auto* request : requests)
            good = done(request) && good;
        return good;
    }

    // Round trips, until the time is over and there were enough; the last message says that it is the last.
    bool ask_latency(double seconds, double& latency_us) {
        std::vector<double> times;
        std::uint64_t word = 1;
        if (!send(Kind::ping, word) || !receive(Kind::pong, word)) return false; // connects
        const auto began = Clock::now();
        for (bool more = true; more;) {
            more = times.size() + 1 < least_pings ||
                   (seconds_since(began) < seconds && times.size() + 1 < most_pings);
            const auto sent = Clock::now();
            if (!send(Kind::ping, more ? 1 : 0) || !receive(Kind::pong, word)) return false;
            times.push_back(seconds_since(sent));
        }
        latency_us = *std::min_element(times.begin(), times.end()) / 2 * 1e6;
        return true;
    }
    bool answer_latency() {
        for (std::uint64_t more = 1; more != 0;)
            if (!receive(Kind::ping, more) || !send(Kind::pong, more)) return false;
        return true;
    }

    // Doubles the number of blocks in flight until they take a quarter of the time: a slow rail is done after
    // a few, a fast one is not slowed by waiting for the replies in between.
    bool push(double seconds, double& gbps) {
        const auto began = Clock::now();
        std::uint64_t word = 0;
        for (std::uint32_t blocks = 1;; blocks = std::min(blocks * 2, most_blocks)) {
            const auto sent = Clock::now();
            if (!send(Kind::count, blocks) || !all(blocks, true) || !receive(Kind::taken, word)) return false;
            const double took = seconds_since(sent);
            gbps = static_cast<double>(blocks) * block_size * 8 / took / 1e9;
            if (took > seconds / 4 || seconds_since(began) > seconds) break;
        }
        return send(Kind::count, 0);
    }
    bool take() {
        for (;;) {
            std::uint64_t blocks = 0;
            if (!receive(Kind::count, blocks)) return false;
            if (blocks == 0) return true;
            if (blocks > most_blocks || !all(static_cast<std::uint32_t>(blocks), false) ||
                !send(Kind::taken, 0))
                return false;
        }
    }

    // Each end sends the other the value that only it has measured.
    base::Expected<Measured> lead(double seconds) {
        Measured measured;
        std::uint64_t back = 0;
        if (!ask_latency(seconds, measured.latency_us) || !push(seconds, measured.gbps) || !take() ||
            !receive(Kind::count, back) || !send(Kind::taken, 0))
            return lost();
        measured.gbps_back = static_cast<double>(back) / 1e6;
        return measured;
    }
    base::Expected<Measured> follow(double seconds) {
        Measured measured;
        std::uint64_t word = 0;
        if (!answer_latency() || !take() || !push(seconds, measured.gbps_back) ||
            !send(Kind::count, static_cast<std::uint64_t>(measured.gbps_back * 1e6)) ||
            !receive(Kind::taken, word))
            return lost();
        return measured;
    }

    void disconnect(bool well) {
        ucp_request_param_t params{};
        params.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
        params.flags = well ? 0 : UCP_EP_CLOSE_FLAG_FORCE;
        deadline_ = Clock::now() + std::chrono::milliseconds(well ? 500 : 200);
        broken_ = UCS_OK;
        done(ucp_ep_close_nbx(peer_, &params));
        peer_ = nullptr;
    }

    std::string device_, address_;
    ucp_context_h context_ = nullptr;
    ucp_worker_h worker_ = nullptr;
    ucp_ep_h peer_ = nullptr;
    int event_ = -1; // owned by the worker
    std::uint32_t meeting_ = 0;
    ucs_status_t broken_ = UCS_OK; // of the peer
    Clock::time_point deadline_;
    int idle_ = 0;
    std::vector<char> blocks_;
};

UcxRail::UcxRail(std::unique_ptr<Worker> worker) : worker_(std::move(worker)) {}
UcxRail::UcxRail(UcxRail&&) noexcept = default;
UcxRail& UcxRail::operator=(UcxRail&&) noexcept = default;
UcxRail::~UcxRail() = default;

base::Expected<UcxRail> UcxRail::open(const std::string& device, const std::string& transports) {
    auto worker = Worker::open(device, transports);
    if (!worker) return std::move(worker).error();
    return UcxRail(*std::move(worker));
}
const std::string& UcxRail::device() const {
    return worker_->device();
}
const std::string& UcxRail::address() const {
    return worker_->address();
}
base::Expected<Measured> UcxRail::measure(const std::string& peer, std::uint32_t meeting, bool first,
                                          const Effort& effort) {
    return worker_->measure(peer, meeting, first, effort);
}

} // namespace check::net

#else

namespace check::net {

class UcxRail::Worker {
public:
    std::string nothing;
};
UcxRail::UcxRail(std::unique_ptr<Worker> worker) : worker_(std::move(worker)) {}
UcxRail::UcxRail(UcxRail&&) noexcept = default;
UcxRail& UcxRail::operator=(UcxRail&&) noexcept = default;
UcxRail::~UcxRail() = default;

base::Expected<UcxRail> UcxRail::open(const std::string&, const std::string&) {
    return base::Error{base::Code::unavailable,
                       "this railcheck was built without UCX: configure found no libucx-dev"};
}
const std::string& UcxRail::device() const {
    return worker_->nothing;
}
const std::string& UcxRail::address() const {
    return worker_->nothing;
}
base::Expected<Measured> UcxRail::measure(const std::string&, std::uint32_t, bool, const Effort&) {
    return base::Error{base::Code::internal, "no UCX"};
}

} // namespace check::net

#endif
