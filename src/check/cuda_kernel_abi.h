// Shared by the kernels and the host, besides the parameters of each kernel (cuda_kernels.cu).
#pragma once

// How the numbers of a matrix are stored.
enum RailyardNumber {
    railyard_f64 = 0,
    railyard_f32 = 1, // and TF32, which is read from FP32
    railyard_bf16 = 2,
    railyard_e4m3 = 3 // FP8
};

// Which matrix: A (m rows, k columns), A transposed (k rows, m columns), B (k rows, n columns). All are
// stored column by column.
enum RailyardMatrix { railyard_a = 0, railyard_a_transposed = 1, railyard_b = 2 };
