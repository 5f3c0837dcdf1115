// The kernels of railcheck: compiled to PTX when Railyard is built, embedded, and compiled for the installed GPU by
// its driver. In each the threads share the elements, so that any number of threads is correct.
#include "check/cuda_kernel_abi.h"
#include "check/cuda_kernel_words.h"

// A thread moves 16 bytes a step, as fast as any copy.
struct alignas(16) RailyardPair {
    railyard_u64 x, y;
};

// splitmix64: a word that encodes its position.
RAILYARD_DEVICE railyard_u64 railyard_word(railyard_u64 at, railyard_u64 seed) {
    railyard_u64 z = at + seed * 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

// --- memory ---

RAILYARD_KERNEL railyard_write(RailyardPair* to, railyard_u64 pairs, railyard_u64 value) {
    const railyard_u64 step = railyard_threads();
    const RailyardPair pair = {value, ~value};
    for (railyard_u64 i = railyard_thread(); i < pairs; i += step)
        to[i] = pair;
}

RAILYARD_KERNEL railyard_read(const RailyardPair* from, railyard_u64 pairs, railyard_u64* never) {
    const railyard_u64 step = railyard_threads();
    railyard_u64 sum = 0;
    for (railyard_u64 i = railyard_thread(); i < pairs; i += step) {
        const RailyardPair pair = from[i];
        sum += pair.x ^ pair.y;
    }
    if (sum == 0x5261696c79617264ULL) *never = sum; // keeps the reads from being optimized away
}

RAILYARD_KERNEL railyard_copy(RailyardPair* to, const RailyardPair* from, railyard_u64 pairs) {
    const railyard_u64 step = railyard_threads();
    for (railyard_u64 i = railyard_thread(); i < pairs; i += step) {
        // Not to[i] = from[i], which clang turns into two moves of 8 bytes: a third slower.
        const RailyardPair pair = {from[i].x, from[i].y};
        to[i] = pair;
    }
}

// A pattern that encodes its position; `flip` is XORed with it: all ones for the inverse pattern.
RAILYARD_KERNEL railyard_fill(RailyardPair* to, railyard_u64 pairs, railyard_u64 seed, railyard_u64 flip) {
    const railyard_u64 step = railyard_threads();
    for (railyard_u64 i = railyard_thread(); i < pairs; i += step) {
        const RailyardPair pair = {railyard_word(2 * i, seed) ^ flip, railyard_word(2 * i + 1, seed) ^ flip};
        to[i] = pair;
    }
}

// Adds the number of wrong words to found[0], stores the index of the first of them in found[1], and adds the number
// of bits that differ to found[2].
RAILYARD_KERNEL railyard_check(const RailyardPair* from, railyard_u64 pairs, railyard_u64 seed, railyard_u64 flip,
                               railyard_u64* found) {
    const railyard_u64 step = railyard_threads();
    for (railyard_u64 i = railyard_thread(); i < pairs; i += step) {
        const RailyardPair pair = from[i];
        for (int half = 0; half < 2; ++half) {
            const railyard_u64 at = 2 * i + static_cast<railyard_u64>(half);
            railyard_u64 differs = (half == 0 ? pair.x : pair.y) ^ railyard_word(at, seed) ^ flip;
            if (differs == 0) continue;
            railyard_add(found, 1);
            railyard_min(found + 1, at);
            railyard_u64 bits = 0;
            for (; differs != 0; differs &= differs - 1)
                ++bits;
            railyard_add(found + 2, bits);
        }
    }
}

// --- products of matrices ---
// A[i][k] = a(i) s(k) and B[k][j] = t(k) b(j), with small whole numbers, so that each element of the product, a(i)
// b(j) S where S is the sum of s(k) t(k), is exact in FP32 in any order of summation: a product is right or wrong, to
// the bit, whichever code computed it.

RAILYARD_DEVICE int railyard_sign(railyard_u64 word) {
    return (word & 1) != 0 ? -1 : 1;
}
RAILYARD_DEVICE int railyard_a_of(railyard_u64 i, railyard_u64 seed) {
    return 1 + static_cast<int>(railyard_word(i, seed + 1) % 3);
}
RAILYARD_DEVICE int railyard_b_of(railyard_u64 j, railyard_u64 seed) {
    return railyard_sign(railyard_word(j, seed + 2)) * (1 + static_cast<int>(railyard_word(j, seed + 2) >> 63));
}
RAILYARD_DEVICE int railyard_s_of(railyard_u64 k, railyard_u64 seed) {
    return railyard_sign(railyard_word(k, seed + 3));
}
// Has the sign of s(k) three times in four, so that S is about k/2, whatever the seed. Tensor cores add FP8 products
// in fewer bits than FP32 has: there sums stay small, as all but the first 64 cancel in pairs, and S is 64.
RAILYARD_DEVICE int railyard_t_of(railyard_u64 k, railyard_u32 number, railyard_u64 seed) {
    const bool other = number == railyard_e4m3 ? k >= 64 && (k & 1) != 0 : (railyard_word(k, seed + 4) & 3) == 0;
    return other ? -railyard_s_of(k, seed) : railyard_s_of(k, seed);
}

RAILYARD_DEVICE railyard_u32 railyard_bits_of(float value) {
    union {
        float number;
        railyard_u32 bits;
    } both;
    both.number = value;
    return both.bits;
}

// 1, 2 and 3 in E4M3, which has four bits of exponent (bias 7) and three of fraction.
RAILYARD_DEVICE railyard_u8 railyard_e4m3_of(int value) {
    const int size = value < 0 ? -value : value;
    const int bits = size == 1 ? 0x38 : size == 2 ? 0x40 : 0x44;
    return static_cast<railyard_u8>(value < 0 ? bits | 0x80 : bits);
}

RAILYARD_KERNEL railyard_matrix(void* to, railyard_u64 rows, railyard_u64 columns, railyard_u32 number,
                                railyard_u32 matrix, railyard_u64 seed) {
    const railyard_u64 step = railyard_threads();
    for (railyard_u64 e = railyard_thread(); e < rows * columns; e += step) {
        const railyard_u64 row = e % rows, column = e / rows;
        const int value = matrix == railyard_a ? railyard_a_of(row, seed) * railyard_s_of(column, seed)
                          : matrix == railyard_a_transposed
                              ? railyard_a_of(column, seed) * railyard_s_of(row, seed)
                              : railyard_t_of(row, number, seed) * railyard_b_of(column, seed);
        if (number == railyard_f64)
            static_cast<double*>(to)[e] = value;
        else if (number == railyard_f32)
            static_cast<float*>(to)[e] = static_cast<float>(value);
        else if (number == railyard_bf16)
            static_cast<railyard_u16*>(to)[e] =
                static_cast<railyard_u16>(railyard_bits_of(static_cast<float>(value)) >> 16);
        else
            static_cast<railyard_u8*>(to)[e] = railyard_e4m3_of(value);
    }
}

// Computes S, summed into *sum in two's complement.
RAILYARD_KERNEL railyard_depth(railyard_u64 k, railyard_u32 number, railyard_u64 seed, railyard_u64* sum) {
    const railyard_u64 step = railyard_threads();
    long long mine = 0;
    for (railyard_u64 i = railyard_thread(); i < k; i += step)
        mine += railyard_s_of(i, seed) * railyard_t_of(i, number, seed);
    if (mine != 0) railyard_add(sum, static_cast<railyard_u64>(mine));
}

// Compares a product of FP64 or FP32 (`number`) with the exact result: found[0] counts wrong elements, found[1] is the
// first, found[2] a checksum of all bits that does not depend on the order.
RAILYARD_KERNEL railyard_product(const void* from, railyard_u64 rows, railyard_u64 columns, railyard_u32 number,
                                 railyard_u64 seed, long long depth, railyard_u64* found) {
    const railyard_u64 step = railyard_threads();
    railyard_u64 sum = 0;
    for (railyard_u64 e = railyard_thread(); e < rows * columns; e += step) {
        const long long right = depth * railyard_a_of(e % rows, seed) * railyard_b_of(e / rows, seed);
        const double value = number == railyard_f64 ? static_cast<const double*>(from)[e]
                                                    : static_cast<double>(static_cast<const float*>(from)[e]);
        const bool wrong = !(value == static_cast<double>(right));
        if (wrong) {
            railyard_add(found, 1);
            railyard_min(found + 1, e);
        }
        union {
            double number;
            railyard_u64 bits;
        } both;
        both.number = value;
        sum += railyard_word(e, both.bits);
    }
    railyard_add(found + 2, sum);
}

// Numbers from 1 to 2, and from -1 to -2, whose fractions use all of their bits. Nothing is known about their products
// except that each has the same bits wherever the same instructions compute it.
RAILYARD_KERNEL railyard_random(void* to, railyard_u64 elements, railyard_u32 number, railyard_u64 seed) {
    const railyard_u64 step = railyard_threads();
    for (railyard_u64 e = railyard_thread(); e < elements; e += step) {
        const railyard_u64 word = railyard_word(e, seed);
        if (number == railyard_f64)
            static_cast<railyard_u64*>(to)[e] = (word & 0x800fffffffffffffULL) | 0x3ff0000000000000ULL;
        else if (number == railyard_f32)
            static_cast<railyard_u32*>(to)[e] = static_cast<railyard_u32>((word >> 32 & 0x807fffff) | 0x3f800000);
        else if (number == railyard_bf16)
            static_cast<railyard_u16*>(to)[e] = static_cast<railyard_u16>((word >> 48 & 0x807f) | 0x3f80);
        else
            static_cast<railyard_u8*>(to)[e] = static_cast<railyard_u8>((word >> 56 & 0x87) | 0x38);
    }
}

// Adds a checksum of words and their positions to *sum, which does not depend on the order.
RAILYARD_KERNEL railyard_sum(const railyard_u32* from, railyard_u64 words, railyard_u64* sum) {
    const railyard_u64 step = railyard_threads();
    railyard_u64 mine = 0;
    for (railyard_u64 i = railyard_thread(); i < words; i += step)
        mine += railyard_word(i, from[i]);
    railyard_add(sum, mine);
}

// C = A B where cuBLAS is missing: a thread computes four rows by four columns. m and n are multiples of 4.
template <class T>
RAILYARD_DEVICE void railyard_multiply(T* c, const T* a, const T* b, railyard_u64 m, railyard_u64 n,
                                       railyard_u64 k) {
    const railyard_u64 step = railyard_threads(), tall = m / 4;
    for (railyard_u64 tile = railyard_thread(); tile < tall * (n / 4); tile += step) {
        const railyard_u64 row = tile % tall * 4, column = tile / tall * 4;
        T sum[4][4] = {};
        for (railyard_u64 d = 0; d < k; ++d)
            for (int j = 0; j < 4; ++j) {
                const T right = b[(column + static_cast<railyard_u64>(j)) * k + d];
                for (int i = 0; i < 4; ++i)
                    sum[j][i] += a[d * m + row + static_cast<railyard_u64>(i)] * right;
            }
        for (int j = 0; j < 4; ++j)
            for (int i = 0; i < 4; ++i)
                c[(column + static_cast<railyard_u64>(j)) * m + row + static_cast<railyard_u64>(i)] = sum[j][i];
    }
}

RAILYARD_KERNEL railyard_gemm_f32(float* c, const float* a, const float* b, railyard_u64 m, railyard_u64 n,
                                  railyard_u64 k) {
    railyard_multiply(c, a, b, m, n, k);
}

RAILYARD_KERNEL railyard_gemm_f64(double* c, const double* a, const double* b, railyard_u64 m, railyard_u64 n,
                                  railyard_u64 k) {
    railyard_multiply(c, a, b, m, n, k);
}
