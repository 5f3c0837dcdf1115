// What a process over a UCX that was built with statistics (--enable-stats) says of its devices: the
// datagrams that it sends with UCX_STATS_DEST=udp:…, put together and read. Pure: no socket.
//
// Everything in them may be forged: any process of the host can send to a port of loopback. So sizes are
// bounded before there is memory for them, every length is checked before it is used, and what does not fit
// is counted and forgotten.
//
// Source: ucs/stats/client_server.c and serialization.c of UCX 1.13.1, the same in UCX of August 2026.
// Numbers have the sender's byte order: only senders of this host are heard.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace probe {

// One process at one moment, counted from its start; endpoints and devices that it has closed are no longer
// counted.
struct UcxStatistics {
    struct Device {
        std::uint64_t sent = 0;     // bytes, of all of its endpoints
        std::uint64_t received = 0; // bytes of active messages
        std::uint64_t dropped =
            0; // packets of unreliable datagrams that came out of order: they are sent again
    };
    std::string
        process; // as UCX calls it: "n001:4711", with the number that the process has in its own namespace
    std::map<std::string, Device, std::less<>> devices; // "mlx5_0:1", "eth0", "memory", "self"
};

// Of one whole message. Errors (Code::input) name the offset and what is wrong there.
base::Expected<UcxStatistics> read_ucx_statistics(std::span<const std::byte> message);

// Puts fragments together, one message a sender at a time.
class UcxDatagrams {
public:
    static constexpr std::size_t most_message = 256 << 10; // bytes: some thousand endpoints
    static constexpr std::size_t most_senders = 256;
    static constexpr std::size_t most_held = 4 << 20; // bytes, of all messages that are not whole yet
    static constexpr std::size_t longest = 1400;      // bytes of a datagram
    static constexpr base::Duration patience{60'000}; // a sender that is silent for so long may be another
    static constexpr base::Duration fragments{5'000}; // come this soon one after the other, or never

    // A datagram of this sender, known by the number of its port. The whole message that it completes; else
    // none.
    std::optional<std::vector<std::byte>> take(std::uint16_t sender, std::span<const std::byte> datagram,
                                               base::Time now);

    // Datagrams that were no part of a message, or found no room.
    std::uint64_t refused() const { return refused_; }
    std::size_t senders() const { return senders_.size(); }
    std::size_t held() const; // bytes

private:
    struct Message {
        std::uint64_t time = 0; // the sender's; a later one ends an earlier message
        std::vector<std::byte> bytes;
        std::vector<bool> come; // fragments
        std::size_t missing = 0;
        base::Time last{};
    };
    bool has_room(std::size_t bytes, base::Time now);

    std::map<std::uint16_t, Message> senders_;
    std::uint64_t refused_ = 0;
};

} // namespace probe
