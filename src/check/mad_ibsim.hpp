// The ports of a fabric simulated by ibsim: changed through its console, discovered and read as fabricwatchd
// does, by management datagrams. Each look runs in a separate process, as libumad2sim does not release all
// port resources when ports are closed.
//
// ibsim(1) reads one line of its console between two datagrams, and its replies to the console cannot be read
// here. So before each look, more queries are sent than commands were given.
#pragma once

#include "base/unique_fd.hpp"
#include "check/fabric_ports.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace check {

class IbsimPorts : public FabricPorts {
public:
    // `console`: the named pipe. Errors: Code::io: no such pipe, no reader, no fabric answers, or the fabric
    // that answers is not the one that the console controls; that fabric is left unchanged.
    static base::Expected<std::unique_ptr<IbsimPorts>> open(const std::string& console);

    std::string_view through() const override { return "ibsim"; }
    const topo::Fabric& fabric() const override { return fabric_; }
    base::Expected<void> set(FabricPort port, restart::PortCounter counter, std::uint64_t value) override;
    base::Expected<void> answer(FabricPort port, bool answers) override;
    base::Expected<void> set_rate(FabricPort port, std::uint32_t mbps) override;
    base::Expected<void> swap(FabricPort one, FabricPort other, bool swapped) override;
    base::Expected<void> cut(FabricPort port, bool out) override;
    base::Expected<Look> look() override;

private:
    IbsimPorts(std::string name, base::UniqueFd console)
        : name_(std::move(name)), console_(std::move(console)) {}
    base::Expected<void> read_fabric();
    base::Expected<void> is_what_the_console_changes();
    base::Expected<void> command(const std::string& line);
    base::Expected<void> settle() const; // in a separate process
    base::Expected<void> see();
    base::Expected<void> wait_until_active();
    base::Expected<void> set_width(const restart::SeenEnd& at, bool narrow) const;
    const restart::SeenEnd* find_seen(FabricPort port) const; // null: not found
    base::Expected<std::vector<restart::PortReading>> read();
    base::Error bad(std::string_view why) const;
    std::string id(FabricPort port) const; // "H-946dae0000010010"[1], with its quotes

    std::string name_; // of the console
    base::UniqueFd console_;
    topo::Fabric fabric_;
    std::optional<std::vector<restart::SeenEnd>> seen_; // until something is changed
    std::unordered_map<topo::Guid, std::uint8_t> abilities_;
    std::set<FabricPort> silent_;
    std::uint16_t some_lid_ = 0; // of a port that answers
    std::uint32_t commands_ = 0; // since the last look
};

} // namespace check
