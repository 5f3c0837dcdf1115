// Which ports that wait for credits wait for which: loops of links that wait for each other, and receivers
// that are too slow for all who wait behind them. Pure.
//
// A port sends only into buffers that the other end has told it of (credits; InfiniBand Architecture 1.7,
// volume 1, 7.9). A switch whose port out is held up fills its buffers and gives no credits to the ports into
// it. So a port that waits at a switch waits for ports of that switch which wait themselves, though which of
// them is not known from counters: all that a route may take next. At the end of such a chain stands a port
// whose receiver takes too little; or one that sends all that it can, which is congestion and not told here;
// or none at all, where links wait for each other in a circle: a credit loop (Dally and Seitz, "Deadlock-free
// message routing in multiprocessor interconnection networks", 1987), which sound routing cannot have: in a
// fat tree it needs a turn upwards after a way down.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace restart {

// A port that had to wait, and the device it sends to.
struct WaitingPort {
    std::uint32_t from = 0, to = 0; // devices, by number
    std::uint32_t moved_ppm = 0;    // millionths of what it could have sent
    bool operator==(const WaitingPort&) const = default;
};

struct WaitGraph {
    // Of each device: -1 an HCA, 0 a leaf, above it 1, 2, …: what is sent to a lower one goes down.
    std::vector<int> levels;
    std::vector<WaitingPort> ports;
};

struct CreditLoop {
    std::vector<std::size_t>
        ports;                   // in the order in which each waits for the next, and the last for the first
    std::uint32_t moved_ppm = 0; // by that which moved most
    std::vector<std::size_t> behind; // others that wait for these; sorted
};

struct SlowReceiver {
    std::size_t port = 0;            // that sends to an HCA and waits
    std::vector<std::size_t> behind; // that wait for it, perhaps among others; sorted, at least one
};

struct WaitCauses {
    std::vector<CreditLoop> loops;
    std::vector<SlowReceiver> receivers;
};

// A loop consists of links between switches that moved less than this.
inline constexpr std::uint32_t loop_moves_less_ppm = 1'000;
// What is more than these is left out, loops after those of the slowest, receivers after those that take
// least.
inline constexpr std::size_t most_loops = 16, most_receivers = 64;

// Of loops that share ports that in which the port that moved most moved least; none whose every port waits
// for slow receivers on ways that sound routing has. Time: receivers are linear in ports each, loops in pairs
// of ports that follow each other, of links that are in circles at all; nothing where none is.
WaitCauses find_causes(const WaitGraph& graph);

} // namespace restart
