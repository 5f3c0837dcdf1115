// railcheck gpu: what NVML reports for each GPU, evaluated by the rules of nodewatchd as if it stayed that
// way.
#pragma once

#include "check/check.hpp"
#include "probe/sample.hpp"

#include <array>
#include <cstdint>
#include <utility>

namespace check {

class Gpu : public Check {
public:
    std::vector<Result> run(const Request& request) override;
};

// Which reasons for lower clocks were active most of the time: a brief one is not a finding. Pure.
class ReasonShares {
public:
    void add(std::uint64_t reasons);
    std::uint64_t most() const; // bits that were set in more than half of what was added

private:
    std::array<std::uint32_t, 64> had_{};
    std::uint32_t added_ = 0;
};

// Samples in order, each with the seconds since the first. A rule with a window fires if the last sample,
// with the reasons active most of the time, would persist for the window; growth is what the samples show.
// Pure; `request.sysfs` is not read.
std::vector<Result>
judge_samples(const std::vector<std::pair<base::Duration, std::vector<probe::GpuSample>>>& samples,
              const Request& request);

// GPUs that the fabric file lists for this host but that the PCI bus does not have (bad), or that NVML does
// not show (a warning: a job's control group may hide them).
std::vector<Result> missing_gpus(const std::vector<probe::GpuSample>& seen, const Request& request);

} // namespace check
