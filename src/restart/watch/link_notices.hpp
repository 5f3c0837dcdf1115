// The fast half of fabricwatchd: a child process that gets notices from the subnet administrator (SA) when
// links of a leaf change, queries that leaf's ports and the other leaves of the hosts behind them, and
// reports changes to restartd within milliseconds. The sweep remains authoritative: the subnet manager skips
// frequent notices, forgets its subscribers, or may refuse them.
//
// A process and not a thread: a device that hangs must not stop the sweeps, in the simulator umad descriptors
// cannot be polled together with others, and the sweeps fork (run_apart.hpp). The parent writes the addresses
// of leaves found by each sweep to the child's pipe; the child ends when the pipe is closed.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "base/unique_fd.hpp"
#include "restart/watch/leaf_links.hpp"
#include "restart/wire/delivery.hpp"
#include "topo/fabric.hpp"
#include "topo/read/mad_discover.hpp"

#include <optional>
#include <sys/types.h>

namespace restart {

class LinkNotices {
public:
    LinkNotices() = default;
    LinkNotices(const LinkNotices&) = delete;
    LinkNotices& operator=(const LinkNotices&) = delete;
    ~LinkNotices() { stop(); }

    // Starts the child, and ends a running one. The caller must have no other threads. The child does its own
    // logging; it logs a problem with notices once, and keeps trying.
    void start(const topo::Fabric& file, const topo::MadPort& port, const Delivery::Target& target);

    // Call after each sweep. A child that has ended or no longer reads is replaced, at most once a minute.
    void tell(const LeafAddresses& addresses);

    // Ends the child: at once if it responds, within seconds if it hangs.
    void stop();

private:
    void begin();

    std::optional<topo::Fabric> file_;
    topo::MadPort port_;
    Delivery::Target target_;
    LeafAddresses told_;
    base::UniqueFd pipe_;
    pid_t child_ = -1;
    std::chrono::steady_clock::time_point began_;
};

} // namespace restart
