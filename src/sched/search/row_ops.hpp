// The two loops in which the dynamic program spends its time, for any vector unit: sums and minima of whole
// rows. Internal to src/sched.
#pragma once

#include <cstddef>

namespace sched {

namespace row_ops {

// 32 bytes of a row at a time, on every processor: one with narrower registers processes it in pieces.
template <class V> struct Block {
    using Vector [[gnu::vector_size(32), gnu::aligned(alignof(V)), gnu::may_alias]] = V;
    static constexpr std::size_t values = 32 / sizeof(V);

    [[gnu::always_inline]] static void add(V* __restrict to, const V* __restrict from, std::size_t count,
                                           V cost) {
        for (std::size_t i = 0; i < count; i += values)
            *reinterpret_cast<Vector*>(to + i) = *reinterpret_cast<const Vector*>(from + i) + cost;
    }
    [[gnu::always_inline]] static void lower(V* __restrict to, const V* __restrict from, std::size_t count,
                                             V cost) {
        for (std::size_t i = 0; i < count; i += values) {
            const Vector sum = *reinterpret_cast<const Vector*>(from + i) + cost;
            auto& old = *reinterpret_cast<Vector*>(to + i);
            old = sum < old ? sum : old;
        }
    }
};

// There are no vectors of such wide integers.
__extension__ template <> struct Block<__int128> {
    static constexpr std::size_t values = 1;
    static void add(__int128* __restrict to, const __int128* __restrict from, std::size_t count,
                    __int128 cost) {
        for (std::size_t i = 0; i < count; ++i)
            to[i] = from[i] + cost;
    }
    static void lower(__int128* __restrict to, const __int128* __restrict from, std::size_t count,
                      __int128 cost) {
        for (std::size_t i = 0; i < count; ++i)
            to[i] = from[i] + cost < to[i] ? from[i] + cost : to[i];
    }
};

template <class V> void add(V* to, const V* from, std::size_t count, V cost) {
    Block<V>::add(to, from, count, cost);
}
template <class V> void lower(V* to, const V* from, std::size_t count, V cost) {
    Block<V>::lower(to, from, count, cost);
}

#if defined(__x86_64__)
// The same, compiled for registers that nearly every server has.
template <class V> [[gnu::target("avx2")]] void add_avx2(V* to, const V* from, std::size_t count, V cost) {
    Block<V>::add(to, from, count, cost);
}
template <class V> [[gnu::target("avx2")]] void lower_avx2(V* to, const V* from, std::size_t count, V cost) {
    Block<V>::lower(to, from, count, cost);
}
#endif

} // namespace row_ops

// Rows of `count` values, rounded up to whole blocks of `block`: the padding is read and may be written. Rows
// do not overlap.
template <class V> struct RowOps {
    static constexpr std::size_t block = row_ops::Block<V>::values;
    using Function = void (*)(V* to, const V* from, std::size_t count, V cost);

    Function add = row_ops::add<V>;     // to[i] = from[i] + cost
    Function lower = row_ops::lower<V>; // to[i] = min(to[i], from[i] + cost)

    RowOps() {
#if defined(__x86_64__)
        if constexpr (sizeof(V) <= 8) {
            if (__builtin_cpu_supports("avx2")) {
                add = row_ops::add_avx2<V>;
                lower = row_ops::lower_avx2<V>;
            }
        }
#endif
    }
};

} // namespace sched
