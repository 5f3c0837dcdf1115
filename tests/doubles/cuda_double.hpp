// What the doubles of libcuda and libcublas share (cuda_double.cpp).
#pragma once

#include "check/cuda_abi.h"

#include <cstddef>

extern "C" {
// Passes the time that so many floating-point operations take on the current GPU, in this stream, at its
// modelled rate of this kind ("tflops_bf16"); then does to the product what is planted. The CUresult.
int railyard_double_product(double operations, const char* rate, void* product, std::size_t bytes,
                            CUstream stream);
// A GPU's planted value as it is now: that of the current one.
unsigned long long railyard_double_planted(const char* key, unsigned long long otherwise);
}
