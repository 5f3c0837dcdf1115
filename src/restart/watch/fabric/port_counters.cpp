#include "restart/watch/fabric/port_counters.hpp"

#include <fmt/format.h>

#include <cstring>
#include <type_traits>

namespace restart {
namespace {

struct Kind {
    std::string_view name;
    unsigned bits; // in PortCounters
};

constexpr std::array<Kind, port_counters> kinds{{{"symbol_errors", 16},
                                                 {"link_recoveries", 8},
                                                 {"link_downs", 8},
                                                 {"receive_errors", 16},
                                                 {"remote_physical_errors", 16},
                                                 {"switch_relay_errors", 16},
                                                 {"transmit_discards", 16},
                                                 {"transmit_constraint_errors", 8},
                                                 {"receive_constraint_errors", 8},
                                                 {"integrity_errors", 4},
                                                 {"buffer_overruns", 4},
                                                 {"vl15_drops", 16},
                                                 {"transmit_words", 32},
                                                 {"receive_words", 32},
                                                 {"transmit_packets", 32},
                                                 {"receive_packets", 32},
                                                 {"transmit_waits", 32}}};

constexpr std::uint64_t all_bits = ~std::uint64_t{0};

// From the last quarter of its range to the first.
bool wrapped(std::uint64_t before, std::uint64_t now) {
    return before > all_bits - all_bits / 4 && now < all_bits / 4;
}

} // namespace

std::string_view to_string(PortCounter counter) {
    return kinds[static_cast<std::size_t>(counter)].name;
}

std::uint64_t end_of(PortCounter counter) {
    return (std::uint64_t{1} << kinds[static_cast<std::size_t>(counter)].bits) - 1;
}

bool at_its_end(const PortReading& reading, PortCounter counter) {
    if (!reading.counts(counter) || (reading.wide & bit_of(counter)) != 0) return false;
    return reading.at(counter) >= end_of(counter);
}

PortGrowth growth(const PortReading& before, const PortReading& now) {
    PortGrowth grown;
    for (std::size_t i = 0; i < port_counters; ++i) {
        const auto bit = std::uint32_t{1} << i;
        const bool wide = (now.wide & bit) != 0;
        if ((before.has & now.has & bit) == 0 || ((before.wide ^ now.wide) & bit) != 0) continue;
        const auto old = before.values[i], fresh = now.values[i];
        if (wide && (old == all_bits || fresh == all_bits)) continue;
        if (fresh >= old || (wide && wrapped(old, fresh)))
            grown.by[i] = fresh - old;
        else
            grown.restarted = true;
    }
    if (grown.restarted) grown.by = {};
    return grown;
}

std::string to_bytes(std::span<const PortReading> readings) {
    static_assert(std::is_trivially_copyable_v<PortReading>);
    return {reinterpret_cast<const char*>(readings.data()), readings.size_bytes()};
}

base::Expected<std::vector<PortReading>> readings_from(std::string_view bytes) {
    if (bytes.size() % sizeof(PortReading) != 0)
        return base::Error{base::Code::input,
                           fmt::format("the counters of a sweep: {} bytes are no whole readings of {}",
                                       bytes.size(), sizeof(PortReading))};
    std::vector<PortReading> readings(bytes.size() / sizeof(PortReading));
    if (!readings.empty()) std::memcpy(readings.data(), bytes.data(), bytes.size());
    return readings;
}

} // namespace restart
