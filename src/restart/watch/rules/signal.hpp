// What rules judge: a number with a name, read on this host or in the fabric at one moment. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace restart {

struct Signal {
    std::string_view name; // of the catalogue; lives as long as the signal is used
    std::string component; // "gpu3", "mlx5_0:1"
    double value = 0;
    double of = 0;      // what it is measured against, of kinds that have such a number; 0: not known
    std::string text;   // the source's words beside the number; for evidence
    std::string part{}; // of the component, that an event names; empty: none
    std::optional<std::uint32_t> user{}; // under whose program an event came; absent: not known
};

enum class Shape {
    gauge,   // a value that stands for now
    counter, // a lifetime value: only its growth is judged
    bits,    // a mask
    event    // a number that comes once, with the source's words
};

// A name that rules may use.
struct SignalKind {
    std::string_view name;
    Shape shape;
    std::string_view unit; // "" where there is none
    std::string_view of;   // what it is measured against; "" where there is none
    std::string_view meaning;
    bool of_faults = false; // there is none while all is well
};

// All of them. The last one's name ends with '*': any counter of a port, by its file's name.
std::span<const SignalKind> signal_kinds();

// The kind of that name; null: there is none.
const SignalKind* find_signal_kind(std::string_view name);

inline constexpr std::string_view counter_prefix = "ib.counter.";

// Whether fabricwatchd reads it, and not a host's nodewatchd.
bool is_of_fabric(std::string_view name);

} // namespace restart
