// Statistics about devices from a process whose UCX was built with statistics (--enable-stats): reassembles
// and parses the datagrams that it sends with UCX_STATS_DEST=udp:…. Pure: no socket.
//
// All content may be forged: any process on the host can send to a loopback port. So sizes are limited before
// memory is allocated, every length is checked before it is used, and invalid datagrams are counted and
// dropped.
//
// Source: ucs/stats/client_server.c and serialization.c of UCX 1.13.1, unchanged in UCX of August 2026.
// Numbers are in the sender's byte order: only senders on this host are accepted.
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
// included.
struct UcxStatistics {
    struct Device {
        std::uint64_t sent = 0;     // bytes, summed over its endpoints
        std::uint64_t received = 0; // bytes of active messages
        std::uint64_t dropped = 0;  // unreliable datagram packets that arrived out of order: they are resent
    };
    std::string process; // as UCX names it: "n001:4711", with the PID in its own namespace
    std::map<std::string, Device, std::less<>> devices; // "mlx5_0:1", "eth0", "memory", "self"
};

// Parses one complete message. Errors (Code::input) give the offset and the problem there.
base::Expected<UcxStatistics> read_ucx_statistics(std::span<const std::byte> message);

// Reassembles fragments, one message per sender at a time.
class UcxDatagrams {
public:
    static constexpr std::size_t most_message = 256 << 10; // bytes: some thousand endpoints
    static constexpr std::size_t most_senders = 256;
    static constexpr std::size_t most_held = 4 << 20; // bytes in all incomplete messages
    static constexpr std::size_t longest = 1400;      // bytes of a datagram
    static constexpr base::Duration patience{60'000}; // after this silence it may be another process
    static constexpr base::Duration fragments{5'000}; // maximum time between two fragments

    // A datagram from this sender, identified by its port number. Returns the message if this completes it.
    std::optional<std::vector<std::byte>> take(std::uint16_t sender, std::span<const std::byte> datagram,
                                               base::Time now);

    // Datagrams that were not part of a message, or for which there was no room.
    std::uint64_t refused() const { return refused_; }
    std::size_t senders() const { return senders_.size(); }
    std::size_t held() const; // bytes

private:
    struct Message {
        std::uint64_t time = 0; // the sender's time; a later one ends an earlier message
        std::vector<std::byte> bytes;
        std::vector<bool> come; // fragments received
        std::size_t missing = 0;
        base::Time last{};
    };
    bool has_room(std::size_t bytes, base::Time now);

    std::map<std::uint16_t, Message> senders_;
    std::uint64_t refused_ = 0;
};

} // namespace probe
