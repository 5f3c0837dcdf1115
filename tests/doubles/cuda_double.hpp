// Shared by the doubles of libcuda and libcublas (cuda_double.cpp).
#pragma once

#include "check/cuda_abi.h"

#include <cstddef>

extern "C" {
// Advances this stream by the time that this many floating-point operations take on the current GPU at its
// modelled rate of this kind ("tflops_bf16"); then applies configured faults to the product. Returns the
// CUresult.
int railyard_double_product(double operations, const char* rate, void* product, std::size_t bytes,
                            CUstream stream);
// A configured value of the current GPU.
unsigned long long railyard_double_planted(const char* key, unsigned long long otherwise);
}
