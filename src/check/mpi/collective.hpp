// One collective operation among some processes of the gang, of which gang.cpp takes the time: MPI's own, or
// NCCL's on a GPU of each.
#pragma once

#include "base/expected.hpp"
#include "check/mpi/mpi_abi.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace check::mpi {

enum class Operation : std::int32_t { all_reduce, barrier, nccl_all_reduce, nccl_all_gather };

struct Work {
    Operation operation = Operation::all_reduce;
    std::uint64_t bytes = 1 << 20; // of floats: what is reduced, or gathered from all
    double seconds = 0.2;          // to go on for
};

// Those that take part.
struct Circle {
    Handle with = nullptr;     // a communicator of theirs
    int own = 0;               // which of them this is
    std::vector<float> shares; // what each puts in: whole numbers, whose sums are exact
};

class Collective {
public:
    virtual ~Collective() = default;
    virtual base::Expected<void> once() = 0;  // returns when it is done, here
    virtual base::Expected<bool> right() = 0; // whether the last one gave what it must
};

// All of a circle make it at once. Errors as its library tells them.
using MakeCollective =
    std::function<base::Expected<std::unique_ptr<Collective>>(const Work& work, const Circle& circle)>;

// Gb/s of bus bandwidth (NCCL's performance tests, doc/PERFORMANCE.md) - of an all-reduce 2 (n - 1) / n of
// its bytes, of an all-gather half of that - or steps a second of a barrier, ceil(log2 n) of them: none
// depends on n.
double rate_of(const Work& work, std::size_t hosts, double seconds);

} // namespace check::mpi
