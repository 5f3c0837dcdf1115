#include "src/check/cuda_ptx.h" // made when Railyard is built, in its build directory
#include "check/cuda_gpu.hpp"

namespace check {

std::string_view cuda_ptx() {
    return railyard_cuda_ptx;
}

} // namespace check
