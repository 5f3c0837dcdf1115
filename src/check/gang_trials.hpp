// The self-test of checks between hosts (net, mpi, nccl), and of their HCAs: threads and processes of this
// host replace the gang, with simulated network, sums and failures; what only hardware can show is named.
#pragma once

#include "check/check_trials.hpp"

namespace check {

// Like try_checks(); `libraries` are doubles of libcuda, libnccl and libibverbs.
std::vector<TrialOutcome> try_gangs(std::string_view only, const std::filesystem::path& folder,
                                    const std::vector<std::string>& libraries,
                                    const std::function<bool(const TrialOutcome&)>& told);

} // namespace check
