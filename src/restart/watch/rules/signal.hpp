// Input of the rules: a named number, read on this host or in the fabric at one moment. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace restart {

struct Signal {
    std::string_view name; // from the catalogue; must outlive the signal
    std::string component; // "gpu3", "mlx5_0:1"
    double value = 0;
    double of = 0;                       // reference value, for kinds that have one; 0: unknown
    std::string text;                    // the source's text, in addition to the number; for evidence
    std::string part{};                  // of the component, named by an event; empty: none
    std::optional<std::uint32_t> user{}; // whose program caused an event; absent: unknown
};

enum class Shape {
    gauge,   // the current value
    counter, // a lifetime value: only its growth is evaluated
    bits,    // a mask
    event    // a number that occurs once, with the source's text
};

// A name that rules may use.
struct SignalKind {
    std::string_view name;
    Shape shape;
    std::string_view unit; // "" if there is none
    std::string_view of;   // the reference; "" if there is none
    std::string_view meaning;
    bool of_faults = false; // absent while there is no fault
};

// All kinds. The last one's name ends with '*': any counter of a port, by its file's name.
std::span<const SignalKind> signal_kinds();

// The kind of that name; null: none.
const SignalKind* find_signal_kind(std::string_view name);

inline constexpr std::string_view counter_prefix = "ib.counter.";

// Whether fabricwatchd reads it, rather than a host's nodewatchd.
bool is_of_fabric(std::string_view name);

} // namespace restart
