// The half of fabricwatchd that reads the counters of all ports after each sweep of the fabric and evaluates
// links. It reads them in a separate process (run_apart.hpp): datagrams can hang with their device.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "restart/watch/fabric/counter_sweep.hpp"
#include "restart/watch/fabric/link_judge.hpp"
#include "restart/wire/report.hpp"
#include "topo/read/mad_discover.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace restart {

class LinkWatch {
public:
    struct Settings {
        topo::MadPort port;
        CounterSweepLimits limits;
        RuleSet rules;
        Limits judging;
    };

    LinkWatch(const topo::Fabric& file, Settings settings);

    // Changes the settings; what has been seen of links is kept while the file's links stay the same.
    void set(const topo::Fabric& file, Settings settings);

    // Reads the ports that were seen and evaluates them. Errors as for run_apart(); findings are then
    // unchanged, and all ports count as unanswered. The caller must have no other threads.
    base::Expected<void> step(std::span<const SeenEnd> seen, int interrupt = -1);

    // Current findings, and how complete the last reading was; both empty before the first.
    const std::optional<std::vector<LinkFinding>>& findings() const { return findings_; }
    const std::optional<CounterCoverage>& coverage() const { return coverage_; }

private:
    base::Time now() const;

    Settings settings_;
    std::optional<LinkJudge> judge_;                         // always set
    std::unordered_map<topo::Guid, std::uint8_t> abilities_; // of devices that answered
    std::optional<std::vector<LinkFinding>> findings_;
    std::optional<CounterCoverage> coverage_;
    // One clock for rules, which must not step, and one for output.
    base::Time wall_ = base::now();
    std::chrono::steady_clock::time_point steady_ = std::chrono::steady_clock::now();
};

} // namespace restart
