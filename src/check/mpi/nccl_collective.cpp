#include "check/mpi/nccl_collective.hpp"

#include "check/cuda_gpu.hpp"
#include "check/mpi/mpi_collective.hpp"
#include "check/mpi/nccl_abi.h"

#include <algorithm>
#include <array>
#include <dlfcn.h>
#include <fmt/format.h>
#include <numeric>
#include <string_view>

namespace check::mpi {

struct NcclHost {
#define RAILYARD_NCCL_MEMBER(name, result, parameters) name##_fn* name = nullptr;
    RAILYARD_NCCL_FUNCTIONS(RAILYARD_NCCL_MEMBER)
#undef RAILYARD_NCCL_MEMBER
    std::unique_ptr<CudaGpu> gpu;
    int version = 0;
};

namespace {

base::Error nccl_error(const NcclHost& host, ncclResult_t result, const char* name) {
    return {base::Code::unavailable, fmt::format("{}: {} ({}); NCCL_DEBUG=WARN makes it say more", name,
                                                 host.ncclGetErrorString(result), result)};
}

base::Expected<void> gpu_done(const CudaGpu& gpu) {
    if (!gpu.failed()) return {};
    return base::Error{base::Code::unavailable, gpu.failure().text};
}

class NcclCollective : public Collective {
public:
    NcclCollective(std::shared_ptr<NcclHost> host, const Work& work, Circle circle)
        : host_(std::move(host)), circle_(std::move(circle)),
          gathers_(work.operation == Operation::nccl_all_gather) {
        const auto n = circle_.shares.size();
        const auto all = std::max<std::size_t>(work.bytes / sizeof(float), n);
        each_ = gathers_ ? all / n : all;
        count_ = gathers_ ? each_ * n : all;
    }
    ~NcclCollective() override {
        if (comm_ != nullptr) host_->ncclCommDestroy(comm_);
    }
    NcclCollective(const NcclCollective&) = delete;
    NcclCollective& operator=(const NcclCollective&) = delete;

    base::Expected<void> begin(const Calls& calls) {
        ncclUniqueId id{};
        if (circle_.own == 0)
            if (const auto result = host_->ncclGetUniqueId(&id); result != ncclSuccess)
                return nccl_error(*host_, result, "ncclGetUniqueId");
        if (auto told = done(calls, calls.MPI_Bcast(&id, sizeof id, calls.ompi_mpi_byte, 0, circle_.with),
                             "MPI_Bcast");
            !told)
            return told;
        if (const auto result =
                host_->ncclCommInitRank(&comm_, static_cast<int>(circle_.shares.size()), id, circle_.own);
            result != ncclSuccess)
            return nccl_error(*host_, result, "ncclCommInitRank");
        from_ = host_->gpu->allocate(each_ * sizeof(float));
        to_ = host_->gpu->allocate(count_ * sizeof(float));
        if (!host_->gpu->failed() && (!from_ || !to_))
            return base::Error{base::Code::unavailable, fmt::format("the GPU has no {} MiB left",
                                                                    (each_ + count_) * sizeof(float) >> 20)};
        const std::vector<float> own(each_, circle_.shares[static_cast<std::size_t>(circle_.own)]);
        host_->gpu->to_device(from_.at(), own.data(), each_ * sizeof(float));
        host_->gpu->wait();
        return gpu_done(*host_->gpu);
    }

    base::Expected<void> once() override {
        const auto* from = reinterpret_cast<const void*>(from_.at());
        auto* to = reinterpret_cast<void*>(to_.at());
        const auto result =
            gathers_
                ? host_->ncclAllGather(from, to, each_, ncclFloat32, comm_, host_->gpu->stream())
                : host_->ncclAllReduce(from, to, count_, ncclFloat32, ncclSum, comm_, host_->gpu->stream());
        if (result != ncclSuccess)
            return nccl_error(*host_, result, gathers_ ? "ncclAllGather" : "ncclAllReduce");
        host_->gpu->wait();
        return gpu_done(*host_->gpu);
    }

    base::Expected<bool> right() override {
        std::vector<float> out(count_);
        host_->gpu->to_host(out.data(), to_.at(), count_ * sizeof(float));
        host_->gpu->wait();
        if (auto sound = gpu_done(*host_->gpu); !sound) return sound.error();
        const double sum = std::accumulate(circle_.shares.begin(), circle_.shares.end(), 0.0);
        for (std::size_t i = 0; i < count_; ++i)
            if (double{out[i]} != (gathers_ ? double{circle_.shares[i / each_]} : sum)) return false;
        return true;
    }

private:
    std::shared_ptr<NcclHost> host_;
    Circle circle_;
    bool gathers_;
    std::size_t each_ = 0, count_ = 0; // floats of this process, of all
    ncclComm_t comm_ = nullptr;
    CudaGpu::Memory from_, to_;
};

} // namespace

base::Expected<std::shared_ptr<NcclHost>> open_nccl(std::span<const std::string> libraries, int local_rank) {
    static constexpr std::array<std::string_view, 2> names{"libnccl.so.2", "libnccl.so"};
    auto cuda = open_cuda(libraries);
    if (!cuda) return std::move(cuda).error();
    const auto library = load_library(libraries, "libnccl.", names);
    if (!library)
        return base::Error{base::Code::not_found,
                           fmt::format("NCCL: {}: --library names its libnccl.so.2", library.error().text)};
    auto host = std::make_shared<NcclHost>();
    std::string missing;
#define RAILYARD_NCCL_LOAD(name, result, parameters)                                                         \
    host->name = reinterpret_cast<name##_fn*>(::dlsym(*library, #name));                                     \
    if (host->name == nullptr && missing.empty()) missing = #name;
    RAILYARD_NCCL_FUNCTIONS(RAILYARD_NCCL_LOAD)
#undef RAILYARD_NCCL_LOAD
    if (!missing.empty())
        return base::Error{base::Code::unavailable,
                           fmt::format("libnccl has no {}: it is older than 2.4", missing)};
    static_cast<void>(host->ncclGetVersion(&host->version));
    int gpus = 0;
    if (const auto result = (*cuda)->cuDeviceGetCount(&gpus); result != CUDA_SUCCESS || gpus == 0)
        return base::Error{base::Code::unavailable, gpus == 0 && result == CUDA_SUCCESS
                                                        ? "CUDA shows no GPU"
                                                        : cuda_words(**cuda, result)};
    host->gpu = std::make_unique<CudaGpu>(*cuda, local_rank % gpus, false);
    if (auto sound = gpu_done(*host->gpu); !sound) return sound.error();
    return host;
}

std::string version_of(const NcclHost& host) {
    // 2.8.4 was 2804, 2.9.6 is 20906.
    const int base = host.version < 10'000 ? 1'000 : 10'000, v = host.version;
    return fmt::format("NCCL {}.{}.{}", v / base, v % base / 100, v % 100);
}

MakeCollective nccl_collectives(const Calls& calls, std::shared_ptr<NcclHost> host) {
    return [&calls, host = std::move(host)](
               const Work& work, const Circle& circle) -> base::Expected<std::unique_ptr<Collective>> {
        auto made = std::make_unique<NcclCollective>(host, work, circle);
        if (auto begun = made->begin(calls); !begun) return begun.error();
        return std::unique_ptr<Collective>(std::move(made));
    };
}

} // namespace check::mpi
