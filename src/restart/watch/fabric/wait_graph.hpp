// Which ports that wait for credits wait for which: loops of links that wait for each other, and receivers
// that are too slow for the ports behind them. Pure.
//
// A port sends only into buffers that the other end has announced (credits; InfiniBand Architecture 1.7,
// volume 1, 7.9). A switch with a blocked output port fills its buffers and gives no credits to its input
// ports. So a port that waits at a switch waits for ports of that switch that wait themselves. Counters do
// not show which of them: all that a route may use next are considered. Such a chain ends at a port with a
// slow receiver; or at a port that sends at full rate, which is congestion and not reported here; or nowhere,
// where links wait for each other in a cycle: a credit loop (Dally and Seitz, "Deadlock-free message routing
// in multiprocessor interconnection networks", 1987). Correct routing cannot have one: in a fat tree it needs
// an up turn after a down.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace restart {

// A port that had to wait, and the device to which it sends.
struct WaitingPort {
    std::uint32_t from = 0, to = 0; // devices, by number
    std::uint32_t moved_ppm = 0;    // millionths of its capacity
    bool operator==(const WaitingPort&) const = default;
};

struct WaitGraph {
    // By device: -1 an HCA, 0 a leaf, above it 1, 2, …: traffic to a lower level goes down.
    std::vector<int> levels;
    std::vector<WaitingPort> ports;
};

struct CreditLoop {
    std::vector<std::size_t> ports;  // each waits for the next, and the last for the first
    std::uint32_t moved_ppm = 0;     // of the port that moved most
    std::vector<std::size_t> behind; // others that wait for these; sorted
};

struct SlowReceiver {
    std::size_t port = 0;            // sends to an HCA and waits
    std::vector<std::size_t> behind; // that wait for it, possibly also for others; sorted, not empty
};

struct WaitCauses {
    std::vector<CreditLoop> loops;
    std::vector<SlowReceiver> receivers;
};

// A loop consists of links between switches that moved less than this.
inline constexpr std::uint32_t loop_moves_less_ppm = 1'000;
// The limits of the result: the slowest loops, and the receivers that take least, are kept.
inline constexpr std::size_t most_loops = 16, most_receivers = 64;

// Of loops that share ports, the one whose fastest port moved least is kept; a loop in which every port waits
// for slow receivers along valid routes is left out. Time: linear in the ports for each receiver; for loops
// linear in the pairs of successive ports among links in cycles, and nothing if there is no cycle.
WaitCauses find_causes(const WaitGraph& graph);

} // namespace restart
