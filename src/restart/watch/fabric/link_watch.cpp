#include "restart/watch/fabric/link_watch.hpp"

#include "restart/watch/fabric/mad_counters.hpp"
#include "restart/watch/run_apart.hpp"

#include <algorithm>
#include <utility>

namespace restart {
namespace {

using namespace std::chrono_literals;

// Added to the sweep's own limit, to open the port and pass on the results.
constexpr base::Duration margin = 5s;

base::Expected<std::string> read_all(const topo::MadPort& port, std::vector<CounterTarget> targets,
                                     const CounterSweepLimits& limits) {
    const auto line = MadCounters::open(port);
    if (!line) return line.error();
    const auto swept = sweep_counters(**line, std::move(targets), limits);
    if (!swept) return swept.error();
    return to_bytes(swept->readings);
}

} // namespace

LinkWatch::LinkWatch(const topo::Fabric& file, Settings settings) : settings_(std::move(settings)) {
    judge_.emplace(file, settings_.rules, settings_.judging);
}

void LinkWatch::set(const topo::Fabric& file, Settings settings) {
    settings_ = std::move(settings);
    if (judge_->judges(file)) return judge_->set_rules(settings_.rules, settings_.judging);
    judge_.emplace(file, settings_.rules, settings_.judging);
    findings_.reset();
}

base::Time LinkWatch::now() const {
    return wall_ + std::chrono::duration_cast<base::Duration>(std::chrono::steady_clock::now() - steady_);
}

base::Expected<void> LinkWatch::step(std::span<const SeenEnd> seen, int interrupt) {
    const auto targets = targets_of(seen, abilities_);
    const auto began = now();
    coverage_ = CounterCoverage{static_cast<std::uint32_t>(targets.size()), 0, 0};
    const auto bytes = run_apart([&] { return read_all(settings_.port, targets, settings_.limits); },
                                 settings_.limits.longest + margin, interrupt);
    if (!bytes) return bytes.error();
    auto readings = readings_from(*bytes);
    if (!readings) return std::move(readings).error();
    abilities_.clear(); // only present devices stay: a returning switch may have new firmware
    for (const auto& reading : *readings)
        if (reading.answered && (reading.abilities & pm::known) != 0)
            abilities_[reading.node] = reading.abilities;
    const auto ended = now();
    coverage_->answered = static_cast<std::uint32_t>(std::count_if(
        readings->begin(), readings->end(), [](const PortReading& reading) { return reading.answered; }));
    coverage_->took_s = base::to_seconds(ended - began);
    findings_ = judge_->judge(ended, seen, *readings);
    return {};
}

} // namespace restart
