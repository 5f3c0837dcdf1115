// From samples of InfiniBand ports to signals: what a port was before, and what the fabric file lists, are
// part of what is measured. Pure; what is a finding the rules say (rules/table_ib.cpp).
#pragma once

#include "restart/watch/rules/signal.hpp"
#include "restart/watch/sample.hpp"

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
    // count from when it was first ACTIVE since it appeared: before, its driver loads and its link trains,
    // and a port that nobody uses is not judged at all.
    void read(const IbSample& ib, const Listing& listing, std::vector<Signal>& into);

private:
    // A port over time: by its HCA's GUID, since devices are renamed; by the device where the GUID is missing
    // or not unique.
    struct Port {
        Guid node = 0;
        std::string device;
        std::uint32_t number = 1;
        auto operator<=>(const Port&) const = default;
    };
    struct Seen {
        double rate = 0; // the best
        PortSample last;
        bool active_since_there = false;
        bool there = false;
    };
    void read_port(const PortSample& port, const Port& name, std::vector<Signal>& into);
    void read_came_up(const IbSample& ib, const Listing& listing, std::vector<Signal>& into) const;
    void read_listed(const IbSample& ib, const Listing& listing, std::vector<Signal>& into) const;

    std::map<std::string, std::string> counters_; // their files' names, and the signals'
    std::map<Port, Seen> seen_;                   // ports that were ACTIVE once
};

} // namespace restart
