// The ports of a small fabric, whose state, cables and counters can be set: simulated here, or by ibsim
// (mad_ibsim.hpp).
#pragma once

#include "base/expected.hpp"
#include "restart/watch/fabric/port_counters.hpp"
#include "restart/watch/fabric/seen_ends.hpp"
#include "topo/fabric.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace check {

struct FabricPort {
    topo::Guid node = 0;
    std::uint8_t number = 0;
    auto operator<=>(const FabricPort&) const = default;
};

class FabricPorts {
public:
    virtual ~FabricPorts() = default;

    virtual std::string_view through() const = 0; // what is between a port and its reader
    virtual const topo::Fabric& fabric() const = 0;

    // Sets the counter. transmit_words and receive_words have 64 bits.
    virtual base::Expected<void> set(FabricPort port, restart::PortCounter counter, std::uint64_t value) = 0;
    // Whether the port answers queries for its counters.
    virtual base::Expected<void> answer(FabricPort port, bool answers) = 0;
    // The rate of its link, at both ends; where only some are possible, a value below the fabric's sets a
    // lower one.
    virtual base::Expected<void> set_rate(FabricPort port, std::uint32_t mbps) = 0;
    // Swaps the cables of two HCA ports, or puts them back.
    virtual base::Expected<void> swap(FabricPort one, FabricPort other, bool swapped) = 0;

    // Unplugs the cable of this port at both of its ends, or plugs it in again.
    virtual base::Expected<void> cut(FabricPort port, bool out) = 0;

    struct Look {
        std::vector<restart::SeenEnd> seen;
        std::vector<restart::PortReading> readings;
    };
    virtual base::Expected<Look> look() = 0;
};

class MadePorts : public FabricPorts {
public:
    explicit MadePorts(topo::Fabric fabric); // a derived fabric

    std::string_view through() const override { return "port readings"; }
    const topo::Fabric& fabric() const override { return fabric_; }
    base::Expected<void> set(FabricPort port, restart::PortCounter counter, std::uint64_t value) override;
    base::Expected<void> answer(FabricPort port, bool answers) override;
    base::Expected<void> set_rate(FabricPort port, std::uint32_t mbps) override;
    base::Expected<void> swap(FabricPort one, FabricPort other, bool swapped) override;
    base::Expected<void> cut(FabricPort port, bool out) override;
    base::Expected<Look> look() override;

private:
    struct Port {
        restart::SeenEnd seen;
        restart::PortReading reading;
    };
    static void connect(Port& a, Port& b);

    topo::Fabric fabric_;
    std::map<FabricPort, Port> ports_;
};

// The port of a link's end; an HCA's node by its number.
FabricPort port_at(const topo::Fabric& fabric, const topo::End& end);

// The link at a port that has one, and the port at its other end.
struct FabricLink {
    const topo::Link& link;
    FabricPort far;
};
FabricLink link_at(const topo::Fabric& fabric, FabricPort port);

} // namespace check
