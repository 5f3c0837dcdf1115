#include "src/check/cuda_ptx.h" // generated at build time, in the build directory
#include "check/cuda_gpu.hpp"

namespace check {

std::string_view cuda_ptx() {
    return railyard_cuda_ptx;
}

std::string_view cuda_cubin(int major, int minor) {
    std::string_view best;
    [[maybe_unused]] const auto offer = [&](int gpu, const unsigned char* bytes, std::size_t size) {
        if (gpu / 10 == major && gpu % 10 <= minor) best = {reinterpret_cast<const char*>(bytes), size};
    };
#define RAILYARD_OFFER(gpu) offer(gpu, railyard_cubin_##gpu, sizeof railyard_cubin_##gpu);
    RAILYARD_CUBINS(RAILYARD_OFFER)
#undef RAILYARD_OFFER
    return best;
}

} // namespace check
