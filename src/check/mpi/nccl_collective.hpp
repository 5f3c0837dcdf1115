// NCCL's all-reduce and all-gather, on one GPU of each process. Processes meet by MPI; each circle has its
// own NCCL communicator, as a run of a part of the gang has no others.
#pragma once

#include "check/mpi/collective.hpp"
#include "check/mpi/mpi_library.hpp"

#include <memory>
#include <span>
#include <string>

namespace check::mpi {

struct NcclHost; // libnccl and this process's GPU

// Loads libcuda and libnccl.so.2 and takes GPU `local_rank`, modulo the number of GPUs that CUDA shows: with
// srun --gpus-per-task=1 each process sees one. Errors: Code::not_found without a library, Code::unavailable
// without a GPU.
base::Expected<std::shared_ptr<NcclHost>> open_nccl(std::span<const std::string> libraries, int local_rank);
std::string version_of(const NcclHost& host); // "NCCL 2.28.9"

// `calls` outlives the collectives.
MakeCollective nccl_collectives(const Calls& calls, std::shared_ptr<NcclHost> host);

} // namespace check::mpi
