// railcheck gpu: what NVML says of each GPU, judged by the rules that nodewatchd judges with, as if it stayed
// so.
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

// Which reasons to lower the clocks were there most of the time: what flickers is no finding. Pure.
class ReasonShares {
public:
    void add(std::uint64_t reasons);
    std::uint64_t most() const; // bits that more than half of what was added had

private:
    std::array<std::uint32_t, 64> had_{};
    std::uint32_t added_ = 0;
};

// Samples in their order, each with the seconds since the first. A rule that has a window fires when the last
// sample, with the reasons of most, would stay for it; growth is what the samples show. Pure; `request.sysfs`
// is not looked at.
std::vector<Result>
judge_samples(const std::vector<std::pair<base::Duration, std::vector<probe::GpuSample>>>& samples,
              const Request& request);

// GPUs that the fabric file lists for this host and the PCI bus does not have (bad), or NVML does not show
// (a warning: a job's control group may hide them).
std::vector<Result> missing_gpus(const std::vector<probe::GpuSample>& seen, const Request& request);

} // namespace check
