#include "check/mpi/mpi_collective.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <fmt/format.h>
#include <numeric>

namespace check::mpi {
namespace {

class Barrier : public Collective {
public:
    Barrier(const Calls& calls, Handle with) : calls_(calls), with_(with) {}
    base::Expected<void> once() override { return done(calls_, calls_.MPI_Barrier(with_), "MPI_Barrier"); }
    base::Expected<bool> right() override { return true; }

private:
    const Calls& calls_;
    Handle with_;
};

class AllReduce : public Collective {
public:
    AllReduce(const Calls& calls, const Work& work, const Circle& circle)
        : calls_(calls), with_(circle.with), in_(std::max<std::uint64_t>(work.bytes / sizeof(float), 1),
                                                 circle.shares[static_cast<std::size_t>(circle.own)]),
          out_(in_.size()), sum_(std::accumulate(circle.shares.begin(), circle.shares.end(), 0.0)) {}
    base::Expected<void> once() override {
        return done(calls_,
                    calls_.MPI_Allreduce(in_.data(), out_.data(), static_cast<int>(in_.size()),
                                         calls_.ompi_mpi_float, calls_.ompi_mpi_op_sum, with_),
                    "MPI_Allreduce");
    }
    base::Expected<bool> right() override {
        return std::all_of(out_.begin(), out_.end(), [&](float value) { return double{value} == sum_; });
    }

private:
    const Calls& calls_;
    Handle with_;
    std::vector<float> in_, out_;
    double sum_;
};

} // namespace

double rate_of(const Work& work, std::size_t hosts, double seconds) {
    const auto n = static_cast<double>(hosts);
    if (work.operation == Operation::barrier) return static_cast<double>(std::bit_width(hosts - 1)) / seconds;
    const double passes = work.operation == Operation::nccl_all_gather ? 1 : 2;
    return passes * (n - 1) / n * static_cast<double>(work.bytes) * 8 / seconds / 1e9;
}

base::Expected<void> done(const Calls& calls, int result, const char* name) {
    if (result == success) return {};
    std::array<char, longest_error> words{};
    int length = 0;
    static_cast<void>(calls.MPI_Error_string(result, words.data(), &length));
    return base::Error{base::Code::unavailable, fmt::format("{}: {}", name, words.data())};
}

MakeCollective mpi_collectives(const Calls& calls) {
    return [&calls](const Work& work, const Circle& circle) -> base::Expected<std::unique_ptr<Collective>> {
        if (work.operation == Operation::barrier)
            return std::unique_ptr<Collective>(std::make_unique<Barrier>(calls, circle.with));
        return std::unique_ptr<Collective>(std::make_unique<AllReduce>(calls, work, circle));
    };
}

} // namespace check::mpi
