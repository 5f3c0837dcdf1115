// GPUs whose products of the same matrices have other bits than those of others like them: silent corruption
// that repeats, which a GPU alone cannot know of (railcheck(8), gemm.bits). Pure.
//
// Only what idle checks found within a week is compared, as any job could say anything. Of GPUs of one model,
// with one release of cuBLAS and one size, those bits are right that the GPUs of more than half of the hosts
// have, and of three hosts at least.
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
