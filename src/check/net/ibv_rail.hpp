// One port of an HCA by libibverbs alone: a reliable connection (RC) to a peer's, over which the first of a
// pair writes to the other's memory and reads from it; the other only waits. UCX, with its choice of paths
// and protocols, is not involved. libibverbs is loaded when it is needed.
//
// Not thread-safe. Source: ibv_modify_qp(3), ibv_post_send(3) of rdma-core; InfiniBand Architecture 1.4, 9.7.
#pragma once

#include "base/expected.hpp"
#include "check/net/pair.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace check::net {

struct IbvCalls; // libibverbs, by open_ibv() of ibv_ports.hpp

class IbvRail {
public:
    // `device`: "mlx5_0:1"; port 1 if none is given. Errors: Code::unavailable, naming the device and what it
    // lacks.
    static base::Expected<IbvRail> open(std::shared_ptr<const IbvCalls> calls, const std::string& device);
    IbvRail(IbvRail&&) noexcept;
    IbvRail& operator=(IbvRail&&) noexcept;
    ~IbvRail();

    const std::string& device() const;
    const std::string& address() const; // for a peer's measure(): any bytes

    // As UcxRail::measure(); gbps is that of RDMA writes, gbps_back of RDMA reads, latency half the time of a
    // write of 8 bytes and its acknowledgement.
    base::Expected<Measured> measure(const std::string& peer, std::uint32_t meeting, bool first,
                                     const Effort& effort);

    class Port;

private:
    explicit IbvRail(std::unique_ptr<Port> port);
    std::unique_ptr<Port> port_;
};

} // namespace check::net
