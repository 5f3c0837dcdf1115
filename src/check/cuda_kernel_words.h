// The vocabulary of the kernels, for three compilers: NVIDIA's nvcc, clang without a CUDA toolkit, and a C++
// compiler for the CPU, on which tests run the very same kernels (RAILYARD_KERNELS_ON_HOST: the file that
// includes cuda_kernels.cu then defines railyard_thread() and railyard_threads()).
//
// The kernels do not depend on the order of their threads: no shared memory, no barrier. So a CPU may run the
// threads one after the other.
#pragma once

typedef unsigned long long railyard_u64;
typedef unsigned char railyard_u8;
typedef unsigned short railyard_u16;
typedef unsigned int railyard_u32;

#if defined(RAILYARD_KERNELS_ON_HOST)

#define RAILYARD_KERNEL static void
#define RAILYARD_DEVICE static inline
RAILYARD_DEVICE void railyard_add(railyard_u64* to, railyard_u64 value) {
    *to += value;
}
RAILYARD_DEVICE void railyard_min(railyard_u64* to, railyard_u64 value) {
    if (value < *to) *to = value;
}

#elif defined(__NVCC__)

#define RAILYARD_KERNEL extern "C" __global__ void
#define RAILYARD_DEVICE static inline __device__
RAILYARD_DEVICE railyard_u64 railyard_thread() {
    return railyard_u64{blockIdx.x} * blockDim.x + threadIdx.x;
}
RAILYARD_DEVICE railyard_u64 railyard_threads() {
    return railyard_u64{gridDim.x} * blockDim.x;
}
RAILYARD_DEVICE void railyard_add(railyard_u64* to, railyard_u64 value) {
    atomicAdd(to, value);
}
RAILYARD_DEVICE void railyard_min(railyard_u64* to, railyard_u64 value) {
    atomicMin(to, value);
}

#else // clang -x cuda -nocudainc -nocudalib

#define RAILYARD_KERNEL extern "C" __attribute__((global)) void
#define RAILYARD_DEVICE static inline __attribute__((device))
RAILYARD_DEVICE railyard_u64 railyard_thread() {
    return static_cast<railyard_u64>(__nvvm_read_ptx_sreg_ctaid_x()) * __nvvm_read_ptx_sreg_ntid_x() +
           __nvvm_read_ptx_sreg_tid_x();
}
RAILYARD_DEVICE railyard_u64 railyard_threads() {
    return static_cast<railyard_u64>(__nvvm_read_ptx_sreg_nctaid_x()) * __nvvm_read_ptx_sreg_ntid_x();
}
RAILYARD_DEVICE void railyard_add(railyard_u64* to, railyard_u64 value) {
    __atomic_fetch_add(to, value, __ATOMIC_RELAXED);
}
RAILYARD_DEVICE void railyard_min(railyard_u64* to, railyard_u64 value) {
    __nvvm_atom_min_gen_ull(to, value);
}

#endif
