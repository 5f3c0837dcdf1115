// The quick half of fabricwatchd: a child process that is told by the subnet administrator (SA) when links of
// a leaf changed, asks that leaf's ports and the other leaves of the hosts behind them, and reports what
// changed to restartd within milliseconds. The sweep remains what is right about everything: the subnet
// manager passes over notices that come often, forgets its subscribers, or may refuse them.
//
// A process and not a thread: a device that hangs must not stop the sweeps, descriptors of umad cannot be
// waited for with others in the simulator, and the sweeps fork (run_apart.hpp). The parent writes the
// addresses of leaves that each sweep found to its pipe, and it ends when the pipe is closed.
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

    // Starts the child, ending one that runs. The caller must have no other threads. It logs by itself; what
    // keeps it from being told is logged once, and it tries on.
    void start(const topo::Fabric& file, const topo::MadPort& port, const Delivery::Target& target);

    // After a sweep. A child that has ended or does not read any more is replaced, at most once a minute.
    void tell(const LeafAddresses& addresses);

    // Ends the child: at once where it answers, within seconds where it hangs.
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
