// Where one signal can be set to any value: through the double of its source and its probe, or directly in
// the judge.
#pragma once

#include "check/bed.hpp"
#include "check/fabric_bed.hpp"
#include "restart/watch/rules/rule.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace check {

class Stage {
public:
    virtual ~Stage() = default;

    // What is between the value and the judge: "sysfs", "proc", "NVML", "kernel log", "job socket" (lines of
    // a job's process), "UCX datagrams", "sample" (a probe's answer), "ibsim", "port readings" (a sweep's
    // answer), or "judge alone".
    virtual std::string_view through() const = 0;
    // Resets to a sound host, judged by these rules, sampled at this interval.
    virtual base::Expected<void> begin(const restart::RuleSet& rules, base::Duration interval) = 0;
    // Sets the signal's value on the component under test from the next look on; an event is raised.
    virtual base::Expected<void> set(double value, std::string_view text) = 0;
    base::Expected<void> restore() { return set(sound(), {}); }
    virtual base::Expected<std::vector<restart::Finding>> look() = 0;

    virtual std::string component() const = 0;
    virtual double sound() const = 0; // the value on a sound host
    virtual double of() const = 0;    // its reference value there
    // The value must be present from the first look on: later it would be a different signal.
    virtual bool from_the_start() const { return false; }
    // Looks until the probe has seen a change: some values are polled rarely.
    virtual int delay(base::Duration /*interval*/) const { return 0; }
};

// The simulations for the signals of a host, and for those of links.
struct Beds {
    Bed& host;
    FabricBed& fabric; // simulated here, or by ibsim
    FabricBed& made;   // simulated here: for counters that ibsim has with 32 bits only
};

// The stage of a signal. The beds outlive it. Signals without an injector, and those of GPUs when there is no
// double of NVML, are fed directly to the judge.
std::unique_ptr<Stage> stage_of(const restart::Rule& rule, const Beds& beds);

} // namespace check
