// railcheck pcie: what each GPU exchanges with the memory of its NUMA node: one at a time and both ways, then
// all GPUs of the host at once.
#pragma once

#include "check/check.hpp"

namespace check {

class Pcie : public Check {
public:
    std::vector<Result> run(const Request& request) override;
};

} // namespace check
