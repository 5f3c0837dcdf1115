// One rail of this host through UCX: a device, and what a pair measures over it. The same code runs over RC
// of an HCA and over TCP of a network interface.
//
// Not thread-safe. Source: the UCP API of UCX 1.13 (ucp.h).
#pragma once

#include "base/expected.hpp"
#include "check/net/pair.hpp"

#include <memory>
#include <string>

namespace check::net {

class UcxRail {
public:
    // `device` as UCX names it: "mlx5_0:1", "eth0". `transports`: UCX_TLS; empty: "rc" for an HCA, else
    // "tcp". Errors: Code::unavailable, with the device and UCX's message, or that this build has no UCX.
    static base::Expected<UcxRail> open(const std::string& device, const std::string& transports);
    UcxRail(UcxRail&&) noexcept;
    UcxRail& operator=(UcxRail&&) noexcept;
    ~UcxRail();

    const std::string& device() const;
    const std::string& address() const; // for a peer's measure(): any bytes

    // Both ends call it at about the same time, one of them as the first, with a meeting number that is
    // unique for the pair. Errors (Code::unavailable): the peer does not answer, or fails, within the
    // patience.
    base::Expected<Measured> measure(const std::string& peer, std::uint32_t meeting, bool first,
                                     const Effort& effort);

    class Worker;

private:
    explicit UcxRail(std::unique_ptr<Worker> worker);
    std::unique_ptr<Worker> worker_;
};

} // namespace check::net
