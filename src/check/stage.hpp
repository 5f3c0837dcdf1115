// Where one signal can be given any value: through the double of its source and its probe, or to the judge
// alone.
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
    // A sound host, judged by these rules, looked at so often.
    virtual base::Expected<void> begin(const restart::RuleSet& rules, base::Duration interval) = 0;
    // The signal's value on the component under test from the next look on; of an event: it comes.
    virtual base::Expected<void> set(double value, std::string_view text) = 0;
    base::Expected<void> restore() { return set(sound(), {}); }
    virtual base::Expected<std::vector<restart::Finding>> look() = 0;

    virtual std::string component() const = 0;
    virtual double sound() const = 0; // the value on a sound host
    virtual double of() const = 0;    // what the signal is measured against there
    // The value must be there from the first look on: later it would be another signal's matter.
    virtual bool from_the_start() const { return false; }
    // Looks after which the probe has seen a change: some of what it asks it asks seldom.
    virtual int delay(base::Duration /*interval*/) const { return 0; }
};

// What is made up for the signals of a host, and for those of links.
struct Beds {
    Bed& host;
    FabricBed& fabric; // made up, or a simulator's
    FabricBed& made;   // made up: for counters that a simulator has with 32 bits only
};

// The stage of a signal. The beds outlive it. Signals without an injector of their own, and those of GPUs
// where there is no double of NVML, are given to the judge alone.
std::unique_ptr<Stage> stage_of(const restart::Rule& rule, const Beds& beds);

} // namespace check
