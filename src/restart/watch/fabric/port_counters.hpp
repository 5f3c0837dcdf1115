// The counters of one port of the fabric as read by a sweep, and their growth between two readings. Pure.
//
// PortCounters (InfiniBand Architecture 1.7, 16.1.3.5) has counters of 4 to 32 bits, which stop at their
// maximum; PortCountersExtended (16.1.4.11) has 64 bits for data and packets, and also for errors if the
// device announces it (CapabilityMask2 bit 1).
#pragma once

#include "base/expected.hpp"
#include "topo/fabric.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace restart {

enum class PortCounter : std::uint8_t {
    symbol_errors,
    link_recoveries,
    link_downs,
    receive_errors,
    remote_physical_errors,
    switch_relay_errors,
    transmit_discards,
    transmit_constraint_errors,
    receive_constraint_errors,
    integrity_errors,
    buffer_overruns,
    vl15_drops,
    transmit_words, // of 4 octets
    receive_words,  // of 4 octets
    transmit_packets,
    receive_packets,
    transmit_waits // ticks in which data was waiting and could not be sent
};
inline constexpr std::size_t port_counters = 17;

std::string_view to_string(PortCounter counter); // "symbol_errors"

inline constexpr std::uint32_t bit_of(PortCounter counter) {
    return std::uint32_t{1} << static_cast<unsigned>(counter);
}

// The capabilities of a device's performance management, from its ClassPortInfo.
namespace pm {
inline constexpr std::uint8_t known = 1;      // it was queried
inline constexpr std::uint8_t extended = 2;   // it has PortCountersExtended,
inline constexpr std::uint8_t additional = 4; // with the errors in it,
inline constexpr std::uint8_t waits = 8;      // and PortCounters has PortXmitWait
} // namespace pm

struct PortReading {
    topo::Guid node = 0;
    std::uint16_t lid = 0;
    std::uint8_t port = 0;
    std::uint8_t abilities = 0; // pm::
    bool answered = false;      // false: the members below are unknown
    std::uint32_t has = 0;      // one bit per counter: the device has it,
    std::uint32_t wide = 0;     // with 64 bits
    std::array<std::uint64_t, port_counters> values{};

    std::uint64_t at(PortCounter counter) const { return values[static_cast<std::size_t>(counter)]; }
    bool counts(PortCounter counter) const { return (has & bit_of(counter)) != 0; }
    bool operator==(const PortReading&) const = default;
};

// The maximum of a counter of PortCounters.
std::uint64_t end_of(PortCounter counter);

// Whether the counter is at its maximum and no longer grows.
bool at_its_end(const PortReading& reading, PortCounter counter);

struct PortGrowth {
    // A counter is lower than before, which is not a fault: the device was restarted, or the counters were
    // cleared. Nothing grew then.
    bool restarted = false;
    std::array<std::uint64_t, port_counters> by{};
    std::uint64_t of(PortCounter counter) const { return by[static_cast<std::size_t>(counter)]; }
};

// Between two answered readings of one port. A counter that is missing in one of them, or has another width,
// has not grown. A counter with all of 64 bits set means that the device does not answer; one of 64 bits that
// wraps has not fallen.
PortGrowth growth(const PortReading& before, const PortReading& now);

// For the pipe between a sweep's process and its parent: records of one size, in this machine's byte order.
std::string to_bytes(std::span<const PortReading> readings);
// Error (Code::input): an incomplete record.
base::Expected<std::vector<PortReading>> readings_from(std::string_view bytes);

} // namespace restart
