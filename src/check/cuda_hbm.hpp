// railcheck hbm: the memory of each GPU: how fast it is read, written and copied, and whether it returns what
// was written.
#pragma once

#include "check/check.hpp"

namespace check {

class Hbm : public Check {
public:
    std::vector<Result> run(const Request& request) override;
};

} // namespace check
