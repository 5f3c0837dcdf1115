// railcheck nvlink: the rate at which each GPU of this host writes to each other one, one way and both ways.
#pragma once

#include "check/check.hpp"

namespace check {

class Nvlink : public Check {
public:
    std::vector<Result> run(const Request& request) override;
};

} // namespace check
