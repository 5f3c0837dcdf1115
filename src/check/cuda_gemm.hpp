// railcheck gemm: products of matrices on each GPU, each held to what it must be, to the bit; and how fast.
#pragma once

#include "check/check.hpp"

namespace check {

class Gemm : public Check {
public:
    std::vector<Result> run(const Request& request) override;
};

} // namespace check
