// Which links hold up others, from what each port sent and waited since the last sweep: signals for slow
// receivers and credit loops (wait_graph.hpp), with the affected hosts. Pure.
//
// A port counts as waiting if it waited for at least half of the time and sent less than half of its
// capacity. The length of a tick of PortXmitWait depends on the device: by NVIDIA's manual of ibdiagnet
// ("Congestion Assessment on InfiniBand Links") the time of 8 octets from HDR on (Quantum), of 32 octets per
// lane before (Switch-IB, SwitchX), which is assumed for links below 200 Gb/s. A counter of 32 bits at its
// maximum means nothing: such a port is not known to wait.
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

// The component name of signals about one end of a link.
std::string component_of(std::size_t link, std::size_t side);

// What a port sent and how long it waited since the last sweep.
struct PortLoad {
    LinkEnd at;
    double gbps = 0;
    std::uint64_t words = 0; // of 4 octets
    std::uint64_t waits = 0; // ticks
};

// Millionths of its capacity in that time; nullopt: it does not count as waiting.
std::optional<std::uint32_t> moved_while_waiting(const PortLoad& load, base::Duration passed);

class LinkWaits {
public:
    explicit LinkWaits(const LinkMap& map);

    // Takes what was sent since the last sweep, `passed` ago. Creates signals for ports that were a cause at
    // any time.
    void read(const LinkMap& map, const std::vector<PortLoad>& loads, base::Duration passed,
              std::vector<Signal>& into);

    // For a signal's component: the hosts that are held up, folded as in LinkMap, and the ends of links that
    // wait because of it, including itself; the last known values, since a finding outlasts its cause. Null:
    // it was never a cause.
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
    std::map<Key, Cause> causes_;                       // last known
    std::set<Key> now_;                                 // those of this sweep
    std::map<Key, std::set<LinkEnd>> told_; // at any time; for loops the links that were in them last
};

} // namespace restart
