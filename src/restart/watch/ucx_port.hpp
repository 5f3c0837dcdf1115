// A UDP port of loopback for the statistics of one job's UCX (UCX_STATS_DEST).
//
// A datagram carries no identity that the kernel vouches for. What is certain: the sender is on this host and
// in its network namespace, and at the time of the look (each minute anew) the socket behind its port was one
// of the job's user (/proc/net/udp). What is not: which of the user's processes it is, and for a moment after
// that socket was closed another user's could have its port. So the port is a random one, and what comes is
// no more than information.
#pragma once

#include "base/expected.hpp"
#include "base/unique_fd.hpp"
#include "restart/watch/ucx_intake.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>

namespace restart {

class UcxPort {
public:
    // For a job that the book has let in. Errors: Code::io with the reason.
    static base::Expected<std::unique_ptr<UcxPort>> open(UcxBook& book, const JobKey& job);

    int fd() const { return fd_.get(); }
    std::uint16_t number() const { return number_; }

    // Takes what has come, a bounded part of it, so that no sender occupies the thread.
    void receive(base::Time now);

private:
    UcxPort(UcxBook& book, const JobKey& job, base::UniqueFd fd, std::uint16_t number);
    bool may_send(std::uint16_t sender, base::Time now);

    struct Sender {
        bool allowed = false;
        base::Time looked{};
    };
    base::UniqueFd fd_;
    std::uint16_t number_;
    std::uint32_t uid_;
    std::map<std::uint16_t, Sender> senders_;
    base::Time second_{}; // in which so many were looked for
    int looks_ = 0;
    UcxIntake intake_;
};

// The user whose UDP socket has this port of 127.0.0.1, or of any address; none: nobody's has. `table`:
// /proc/net/udp.
std::optional<std::uint32_t> owner_of_udp(std::string_view table, std::uint16_t port);

} // namespace restart
