// railcheck gemm: matrix products on each GPU, each compared bit by bit with the exact result; and how fast
// they are.
#pragma once

#include "check/check.hpp"

namespace check {

class Gemm : public Check {
public:
    std::vector<Result> run(const Request& request) override;
};

} // namespace check
