// railcheck pcie: transfers between each GPU and the memory of its NUMA node: one GPU at a time, each way and
// both, then all GPUs of the host at once.
#pragma once

#include "check/check.hpp"

namespace check {

class Pcie : public Check {
public:
    std::vector<Result> run(const Request& request) override;
};

} // namespace check
