// A small fabric for the self-test of link rules, evaluated by fabricwatchd's judge on a clock that the test
// advances.
#pragma once

#include "base/clock.hpp"
#include "check/fabric_ports.hpp"
#include "restart/watch/fabric/link_judge.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace check {

class FabricBed {
public:
    // A simulated fabric; or that of ibsim: `console` is the named pipe for its commands, and this process
    // talks to it (LD_PRELOAD=libumad2sim.so) as a subnet manager does. Errors: Code::io when it does not
    // answer or when the console controls a different fabric; Code::unfit when the fabric is too small: a
    // unit of two hosts with three rails, and a spine are needed.
    static base::Expected<std::unique_ptr<FabricBed>> make(const std::string& console);

    ~FabricBed(); // restores the initial state
    FabricBed(const FabricBed&) = delete;
    FabricBed& operator=(const FabricBed&) = delete;

    std::string_view through() const { return ports_->through(); }

    // Resets to a sound fabric of which nothing has been seen yet, judged by these rules alone.
    base::Expected<void> begin(const restart::RuleSet& rules, base::Duration interval);

    // One sweep, `interval` after the last. A finding's component is the link's name, or the rail's.
    base::Expected<std::vector<restart::Finding>> look();

    // From the next sample on, the signal has this value on the component under test: a link of a host, or a
    // rail of its unit. Error (Code::internal): there is no known way to cause it.
    base::Expected<void> set(std::string_view signal, double value);
    std::string component(std::string_view signal) const;
    double gbps() const; // of the link under test

private:
    explicit FabricBed(std::unique_ptr<FabricPorts> ports) : ports_(std::move(ports)) {}
    base::Expected<void> choose();
    base::Expected<void> choose_uplinks(const restart::LinkMap& map);
    base::Expected<void> clear(); // counters left over from another trial
    base::Expected<void> restore();
    base::Expected<void> set_counter(FabricPort port, restart::PortCounter counter, std::uint64_t value);
    base::Expected<void> carry(); // traffic between two samples

    std::unique_ptr<FabricPorts> ports_;
    FabricPort port_, peer_, other_; // under test: port of a host, of its leaf; host port on another rail
    std::string link_, rail_;        // their names in findings
    std::vector<FabricPort> loop_; // each sends to the switch of the next, and the last to that of the first
    std::string loop_name_;        // its lowest link
    FabricPort uplink_;            // of a leaf, to a spine
    std::string uplink_name_;      // its link
    std::vector<std::pair<FabricPort, int>> unit_; // HCA ports of the unit, with their rails
    int rail_number_ = 0;
    std::uint32_t mbps_ = 0; // of its link

    std::map<std::pair<FabricPort, restart::PortCounter>, std::uint64_t> counted_; // those that are not 0
    bool silent_ = false, slow_ = false, swapped_ = false, cut_ = false;
    std::optional<double> waiting_, traffic_;
    std::optional<double> loop_moves_, takes_; // shares: of a loop's one link, of the host under test
    restart::RuleSet rules_;
    restart::Limits limits_;
    std::optional<restart::LinkJudge> judge_;
    base::Duration interval_{1'000};
    base::Time now_{};
};

} // namespace check
