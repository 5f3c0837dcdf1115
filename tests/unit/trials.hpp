// How often a random test tries.
#pragma once

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

} // namespace test
