// Which links hold others up, from what each port sent and waited since the last sweep: signals of slow
// receivers and credit loops (wait_graph.hpp), with who suffers. Pure.
//
// A port counts as waiting when it waited for half of the time at least and sent less than half of what it
// could. How long a tick of PortXmitWait is depends on the device: by NVIDIA's manual of ibdiagnet
// ("Congestion Assessment on InfiniBand Links") the time of 8 octets from HDR on (Quantum), of 32 octets a
// lane before (Switch-IB, SwitchX), which is taken for links below 200 Gb/s. A counter of 32 bits that is at
// its end tells nothing: such a port is not known to wait.
#pragma once

#include "base/clock.hpp"
#include "restart/watch/fabric/link_map.hpp"
#include "restart/watch/fabric/wait_graph.hpp"
#include "restart/watch/rules/signal.hpp"

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace restart {

// One end of a link, in its sending direction.
struct LinkEnd {
    std::size_t link = 0, side = 0;
    auto operator<=>(const LinkEnd&) const = default;
};

// The component of signals about one end of a link.
std::string component_of(std::size_t link, std::size_t side);

// What a port sent and how long it waited since the last sweep.
struct PortLoad {
    LinkEnd at;
    double gbps = 0;
    std::uint64_t words = 0; // of 4 octets
    std::uint64_t waits = 0; // ticks
};

// Millionths of what it could have sent in that time; nullopt: it does not count as waiting.
std::optional<std::uint32_t> moved_while_waiting(const PortLoad& load, base::Duration passed);

class LinkWaits {
public:
    explicit LinkWaits(const LinkMap& map);

    // What was sent since the last sweep, `passed` ago. Signals are made for ports that were a cause once.
    void read(const LinkMap& map, const std::vector<PortLoad>& loads, base::Duration passed,
              std::vector<Signal>& into);

    // Of a signal's component: who is held up, folded as LinkMap does it, and the ends of links that wait
    // because of it, itself too; as they were last, since a finding outlasts what it is about. Null: it
    // never was a cause.
    struct Cause {
        std::string hosts;
        std::vector<LinkEnd> ends;
    };
    const Cause* cause(const std::string& signal, const std::string& component) const;

private:
    using Key = std::pair<std::string, std::string>; // signal, component
    void tell_receivers(const LinkMap& map, const WaitGraph& graph, const std::vector<LinkEnd>& ends,
                        const WaitCauses& causes, std::vector<Signal>& into);
    void tell_loops(const LinkMap& map, const std::vector<LinkEnd>& ends, const WaitCauses& causes,
                    std::vector<Signal>& into);

    std::vector<std::array<std::uint32_t, 2>> devices_; // of each link's ends
    std::vector<int> levels_;                           // of devices
    std::map<Key, Cause> causes_;                       // as they were last
    std::set<Key> now_;                                 // of them, those of this sweep
    std::map<Key, std::set<LinkEnd>> told_; // once; of loops with the links that were in them last
};

} // namespace restart
