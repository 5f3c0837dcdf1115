// How often a random test tries.
#pragma once

#include <algorithm>

namespace test {

// Under AddressSanitizer: GCC says so by a macro, clang by a feature.
#if defined __SANITIZE_ADDRESS__
inline constexpr bool sanitized = true;
#elif defined __has_feature
#if __has_feature(address_sanitizer)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif
#else
inline constexpr bool sanitized = false;
#endif

// All of them; under the sanitizers, where each takes ten times as long, a sixteenth. The plain build tries
// the same ones first.
constexpr int trials(int all) {
    return sanitized ? (all + 15) / 16 : all;
}

// The same where a share of them must succeed: never so few that one of them decides.
constexpr int cases_of_a_share(int all) {
    return trials(all) < 10 ? std::min(all, 10) : trials(all);
}

} // namespace test
