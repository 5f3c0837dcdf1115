// One collective operation among some processes of the gang, timed by gang.cpp: MPI's own, or NCCL's on one
// GPU of each process.
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
    std::uint64_t bytes = 1 << 20; // of floats: reduced, or gathered from all
    double seconds = 0.2;          // about how long to repeat it
};

// The processes that take part.
struct Circle {
    Handle with = nullptr;     // their communicator
    int own = 0;               // index of this process
    std::vector<float> shares; // the contribution of each: whole numbers, whose sums are exact
};

class Collective {
public:
    virtual ~Collective() = default;
    virtual base::Expected<void> once() = 0;  // returns when it is done in this process
    virtual base::Expected<bool> right() = 0; // whether the last result was correct
};

// All processes of a circle call it together. Errors are those of its library.
using MakeCollective =
    std::function<base::Expected<std::unique_ptr<Collective>>(const Work& work, const Circle& circle)>;

// Gb/s of bus bandwidth (NCCL's performance tests, doc/PERFORMANCE.md): of an all-reduce 2 (n - 1) / n of its
// bytes, of an all-gather half of that; or steps per second of a barrier, which has ceil(log2 n). None
// depends on n.
double rate_of(const Work& work, std::size_t hosts, double seconds);

} // namespace check::mpi
