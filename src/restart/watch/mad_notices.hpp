// Notices of the subnet administrator (SA), and queries to single ports: management datagrams through
// libibumad and libibmad. Each call blocks; not thread-safe.
//
// Format: InfiniBand Architecture 1.7, 13.4.8 (Notice), 15.2.5.12 (InformInfo), 14.2.5.6 (PortInfo). A notice
// is only a hint: any node on the fabric can send one, so that what it names is queried.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "topo/fabric.hpp"
#include "topo/read/mad_discover.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace restart {

class MadNotices {
public:
    struct Event {
        enum class Kind {
            quiet,      // nothing within the time
            link_state, // trap 128: links of the switch at `lid` changed
            subscribed, // the SA will send notices
            refused,    // the SA will not; `status` is from its answer
            no_manager  // no subnet manager answers
        };
        Kind kind = Kind::quiet;
        std::uint16_t lid = 0, status = 0;
    };

    // Opens the port; empty and 0 as in topo::MadPort. `as_manager`: answers queries for a subnet manager
    // with "none active here", which ibsim needs (fabricwatchd(8)). Error (Code::io): no such port, or it
    // cannot be opened.
    static base::Expected<MadNotices> open(const topo::MadPort& port, bool as_manager);
    MadNotices(MadNotices&&) noexcept;
    MadNotices& operator=(MadNotices&&) noexcept;
    ~MadNotices();

    // Subscribes to the SA's notices of link states; repeat it, as the SA forgets its subscribers when it is
    // restarted. The answer is an event. Error (Code::io): the port is gone.
    base::Expected<void> subscribe();

    // The first event within this time. A notice is acknowledged. Error (Code::io): the port is gone.
    base::Expected<Event> next(base::Duration longest);

    // The switch or HCA at this LID; nullopt: no answer.
    std::optional<topo::Guid> node_at(std::uint16_t lid);

    // Whether the switch at this LID reports its port as down; nullopt: no answer.
    std::optional<bool> is_down(std::uint16_t lid, std::uint8_t port);

private:
    struct Port;
    explicit MadNotices(std::unique_ptr<Port> port);
    std::unique_ptr<Port> port_;
};

} // namespace restart
