// railcheck nvlink: what each GPU writes to each other one of this host, one way and both ways.
#pragma once

#include "check/check.hpp"

namespace check {

class Nvlink : public Check {
public:
    std::vector<Result> run(const Request& request) override;
};

} // namespace check
