// A UDP port of loopback for the statistics of one job's UCX (UCX_STATS_DEST).
//
// The kernel does not authenticate datagrams. What is certain: the sender is on this host and in its network
// namespace, and when the table was read (every minute) the socket with its port belonged to the job's user
// (/proc/net/udp). What is not: which of the user's processes it is; and just after that socket was closed,
// another user's socket could have its port. So the port is random, and the data are only information.
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
    // For a job that the book has admitted. Errors: Code::io with the reason.
    static base::Expected<std::unique_ptr<UcxPort>> open(UcxBook& book, const JobKey& job);

    int fd() const { return fd_.get(); }
    std::uint16_t number() const { return number_; }

    // Reads received datagrams, up to a limit, so that no sender occupies the thread.
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
    base::Time second_{}; // the second for which looks_ counts
    int looks_ = 0;
    UcxIntake intake_;
};

// The user whose UDP socket has this port of 127.0.0.1, or of any address; none: there is none. `table`:
// contents of /proc/net/udp.
std::optional<std::uint32_t> owner_of_udp(std::string_view table, std::uint16_t port);

} // namespace restart
