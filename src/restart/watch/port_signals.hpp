// From samples of InfiniBand ports to signals: what a port was before, and what the fabric file lists, are
// part of what is measured. Pure; what is a finding the rules say (rules/table_ib.cpp).
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
    // These counters of each port become signals.
    explicit PortSignals(const std::vector<std::string>& counters) { set_counters(counters); }
    void set_counters(const std::vector<std::string>& counters);

    // Adds the signals of a sample. Names in them live as long as this and its counters. A port's counters
    // count while it is ACTIVE: before, its driver loads or its link trains, which is no transfer that
    // failed, and a port that nobody uses is not judged at all. Of link_downed a time that the port is down
    // counts once, however often it was tried, or the cable put in anew, meanwhile.
    // A port that the fabric file does not list though it lists this host's, such as of an HCA for storage or
    // management, and one of a virtual function that it does not list, have the signal ib.unlisted and no
    // other: no job needs them. One that works in the place of a listed one is judged as that.
    void read(const IbSample& ib, const Listing& listing, std::vector<Signal>& into);

    // The listed ports of the last sample that the file calls otherwise.
    const std::vector<PortName>& names() const { return names_; }

private:
    // A port over time: by its HCA's GUID, since devices are renamed; by the device where the GUID is missing
    // or not unique.
    struct Port {
        Guid node = 0;
        std::string device;
        std::uint32_t number = 1;
        auto operator<=>(const Port&) const = default;
    };
    // link_downed with once for each time that the port is down.
    struct Downed {
        std::uint64_t last = 0, hidden = 0; // lifetime value, and what of it does not count
        bool known = false, was_active = false, counted = false;
        std::uint64_t take(std::uint64_t value, bool active);
    };
    struct Seen {
        double rate = 0; // the best
        Downed downed;
        PortSample last;
        bool active_since_there = false;
        bool there = false;
    };
    using Missing = std::vector<const ListedPort*>;
    void read_port(const PortSample& port, const Port& name, bool used, std::vector<Signal>& into);
    // Of an HCA, once whatever ports it has.
    static void read_hca(const PortSample& port, std::vector<Signal>& into);
    void read_came_up(const IbSample& ib, const Listing& listing, std::vector<Signal>& into) const;
    // Listed ports that the host has not, nor had; none where the two cannot be compared.
    Missing missing_in(const IbSample& ib, const Listing& listing) const;
    static void read_listed(const IbSample& ib, const Listing& listing, const Missing& missing,
                            std::vector<Signal>& into);

    std::map<std::string, std::string> counters_; // their files' names, and the signals'
    std::map<Port, Seen> seen_;                   // ports that were ACTIVE once
    std::vector<PortName> names_;
};

} // namespace restart
