// How often a random test tries.
#pragma once

#include <algorithm>

namespace test {

// All of them; under the sanitizers, where each takes ten times as long, a sixteenth. The plain build tries
// the same ones first.
constexpr int trials(int all) {
#ifdef __SANITIZE_ADDRESS__
    return (all + 15) / 16;
#else
    return all;
#endif
}

// The same where a share of them must succeed: never so few that one of them decides.
constexpr int cases_of_a_share(int all) {
    return trials(all) < 10 ? std::min(all, 10) : trials(all);
}

} // namespace test
