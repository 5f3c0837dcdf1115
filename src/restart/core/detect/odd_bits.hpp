// GPUs whose products of the same matrices differ in their bits from those of similar GPUs: repeatable silent
// corruption, which a GPU cannot detect on its own (railcheck(8), gemm.bits). Pure.
//
// Only what idle checks found within a week is compared, as a job could report anything. For GPUs of one
// model, with one release of cuBLAS and one size, the correct bits are those on the GPUs of more than half of
// the hosts, and of at least three hosts.
#pragma once

#include "base/clock.hpp"
#include "restart/core/facts/state.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

namespace restart {

struct OddBits {
    std::string_view host, component; // of the state
    std::size_t others = 0;           // hosts that agree
};

// By host, and each part of it in the order in which it became known. Linear in what is kept of all hosts.
std::vector<OddBits> odd_bits(const State& state, base::Time now);

} // namespace restart
