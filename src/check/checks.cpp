#include "check/check.hpp"
#include "check/cuda_gemm.hpp"
#include "check/cuda_hbm.hpp"
#include "check/cuda_nvlink.hpp"
#include "check/cuda_pcie.hpp"
#include "check/disk.hpp"
#include "check/gpu.hpp"
#include "check/hca.hpp"

#include <array>
#include <fmt/format.h>

namespace check {
namespace {

template <class C> std::unique_ptr<Check> make() {
    return std::make_unique<C>();
}

} // namespace

std::span<const CheckRow> checks() {
    static constexpr auto rows = std::to_array<CheckRow>({
        {"gpu", "Ask NVML for the state of each GPU, and judge it by the rules of health.conf(5)", make<Gpu>},
        {"hbm", "Read, write and copy the memory of each GPU, and fill what is free with patterns",
         make<Hbm>},
        {"gemm", "Multiply matrices on each GPU, and hold each product to what it must be", make<Gemm>},
        {"pcie", "Move data between each GPU and the memory of its NUMA node", make<Pcie>},
        {"nvlink", "Move data between all pairs of GPUs of this host", make<Nvlink>},
        {"hca", "Write to and read from each active port of this host's HCAs through itself, by libibverbs",
         make<Hca>, false},
        {"disk", "Write and read file systems, and compare what comes back", make<Disk>},
    });
    return rows;
}

void judge(Result& result, const restart::Expectations& expected, std::span<const std::string> kinds) {
    const auto* row = expected.find(result.test, kinds);
    if (row == nullptr || !result.value) return;
    result.expected = row->value;
    result.source = row->source;
    const auto share = *result.value / row->value;
    const bool bad = row->most ? share > *row->most : share < row->least;
    result.verdict = bad ? Verdict::bad : Verdict::sound;
    if (!bad) return;
    const auto limit = row->most.value_or(row->least);
    result.says =
        fmt::format("{:.0f} % of what is expected of {}, where {:.0f} % is the {}{}{}", 100 * share, row->of,
                    100 * limit, row->most ? "most" : "least", result.says.empty() ? "" : "; ", result.says);
}

} // namespace check
