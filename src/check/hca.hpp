// railcheck hca: each active port of each HCA of this host against itself, by libibverbs: RDMA writes and
// reads, and their latency.
#pragma once

#include "check/check.hpp"

namespace check {

class Hca : public Check {
public:
    std::vector<Result> run(const Request& request) override;
};

} // namespace check
