// Converts samples of InfiniBand ports to signals, which also depend on a port's history and on the fabric
// file. Pure; the rules decide what is a finding (rules/table_ib.cpp).
#pragma once

#include "restart/watch/rules/signal.hpp"
#include "restart/watch/sample.hpp"
#include "restart/wire/report.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace restart {

class PortSignals {
public:
    // Sets the counters that become signals for each port.
    explicit PortSignals(const std::vector<std::string>& counters) { set_counters(counters); }
    void set_counters(const std::vector<std::string>& counters);

    // Adds the signals of a sample. Names in them live as long as this object and its counters. A port's
    // counters count while it is ACTIVE: before, its driver loads or its link trains, which is not a failed
    // transfer, and an unused port is not evaluated at all. link_downed counts once each time the port is
    // down, however often training was retried or the cable replugged in that time.
    // A port that is not in the fabric file although this host's ports are, such as of an HCA for storage or
    // management, and an unlisted virtual function, only have the signal ib.unlisted: no job needs them. A
    // port that works in place of a listed one is evaluated like it.
    void read(const IbSample& ib, const Listing& listing, std::vector<Signal>& into);

    // The listed ports of the last sample that have another name in the file.
    const std::vector<PortName>& names() const { return names_; }

private:
    // A port over time: identified by its HCA's GUID, since devices are renamed; by the device if the GUID is
    // missing or not unique.
    struct Port {
        Guid node = 0;
        std::string device;
        std::uint32_t number = 1;
        auto operator<=>(const Port&) const = default;
    };
    // link_downed, counted once each time the port is down.
    struct Downed {
        std::uint64_t last = 0, hidden = 0; // lifetime value, and the part that does not count
        bool known = false, was_active = false, counted = false;
        std::uint64_t take(std::uint64_t value, bool active);
    };
    struct Seen {
        double rate = 0; // the highest
        Downed downed;
        PortSample last;
        bool active_since_there = false;
        bool there = false;
    };
    using Missing = std::vector<const ListedPort*>;
    void read_port(const PortSample& port, const Port& name, bool used, std::vector<Signal>& into);
    // The signals of an HCA, once for all of its ports.
    static void read_hca(const PortSample& port, std::vector<Signal>& into);
    void read_came_up(const IbSample& ib, const Listing& listing, std::vector<Signal>& into) const;
    // Listed ports that the host does not have and did not have; none if the two cannot be compared.
    Missing missing_in(const IbSample& ib, const Listing& listing) const;
    static void read_listed(const IbSample& ib, const Listing& listing, const Missing& missing,
                            std::vector<Signal>& into);

    std::map<std::string, std::string> counters_; // file names of the counters, and signal names
    std::map<Port, Seen> seen_;                   // ports that have been ACTIVE
    std::vector<PortName> names_;
};

} // namespace restart
