#include "restart/watch/rules/table_expected.hpp"

#include <array>

namespace restart::table {
namespace {

// GPU names as reported by their drivers.
constexpr std::string_view h100 = "NVIDIA H100 80GB HBM3*", h100_pcie = "NVIDIA H100 PCIe*",
                           h200 = "NVIDIA H200*", b200 = "NVIDIA B200*", a100 = "NVIDIA A100-SXM4-80GB*",
                           a100_40 = "NVIDIA A100-SXM4-40GB*", a100_pcie = "NVIDIA A100 80GB PCIe*";

// Values are measured on a GPU (tests/unit/check/recorded_test.cpp) where one was available, otherwise the
// maximum in a data sheet, for dense matrices. The share that a sound GPU must reach is Railyard's choice
// unless another source is named: at least nine tenths of a measured value, an estimate for a data sheet.
// Matrix products get slower the longer they run: in the first 20 ms an H100 reaches 765 to 798 TFLOP/s of
// BF16, at its power limit from half a second on 680 to 692. The best value counts, so that this holds at
// each level.
constexpr std::string_view
    seen_h100 = "measured by railcheck --level 1 (0.05 s), the least of 8 runs on one H100 80GB "
                "HBM3, driver 580.159.04, cuBLAS 13.0; share: Railyard's",
    seen_h200 = "measured by railcheck --level 1 (0.05 s), the least of 8 runs on one H200, "
                "driver 580.159.04, cuBLAS 13.0; share: Railyard's",
    sheet_h100 = "NVIDIA H100 data sheet; share: Railyard's",
    sheet_b200 = "NVIDIA HGX B200 data sheet, of one GPU; share: Railyard's",
    sheet_a100 = "NVIDIA A100 data sheet; share: Railyard's";

constexpr double seen_memory = 0.85, seen_product = 0.75;
constexpr double memory = 0.8, copying = 0.75, tensor = 0.55, vector = 0.6; // a copy turns the bus round

constexpr auto expected_rows = std::to_array<ExpectedRow>({
    {"hbm.read", h100, 3058, seen_memory, seen_h100},
    {"hbm.write", h100, 3246, seen_memory, seen_h100},
    {"hbm.copy", h100, 3011, seen_memory, seen_h100},
    {"hbm.read", h100_pcie, 2000, memory, sheet_h100},
    {"hbm.write", h100_pcie, 2000, memory, sheet_h100},
    {"hbm.copy", h100_pcie, 2000, copying, sheet_h100},
    {"hbm.read", h200, 4323, seen_memory, seen_h200},
    {"hbm.write", h200, 4574, seen_memory, seen_h200},
    {"hbm.copy", h200, 4250, seen_memory, seen_h200},
    {"hbm.read", b200, 7700, memory, sheet_b200},
    {"hbm.write", b200, 7700, memory, sheet_b200},
    {"hbm.copy", b200, 7700, copying, sheet_b200},
    {"hbm.read", a100, 2039, memory, sheet_a100},
    {"hbm.write", a100, 2039, memory, sheet_a100},
    {"hbm.copy", a100, 2039, copying, sheet_a100},
    {"hbm.read", a100_40, 1555, memory, sheet_a100},
    {"hbm.write", a100_40, 1555, memory, sheet_a100},
    {"hbm.copy", a100_40, 1555, copying, sheet_a100},
    {"hbm.read", a100_pcie, 1935, memory, sheet_a100},
    {"hbm.write", a100_pcie, 1935, memory, sheet_a100},
    {"hbm.copy", a100_pcie, 1935, copying, sheet_a100},
    {"gemm.fp64", h100, 63.3, seen_product, seen_h100},
    {"gemm.fp32", h100, 51.9, seen_product, seen_h100},
    {"gemm.tf32", h100, 420, seen_product, seen_h100},
    {"gemm.bf16", h100, 781, seen_product, seen_h100},
    {"gemm.fp8", h100, 1234, seen_product, seen_h100},
    {"gemm.fp64", h100_pcie, 51, tensor, sheet_h100},
    {"gemm.fp32", h100_pcie, 51, vector, sheet_h100},
    {"gemm.tf32", h100_pcie, 378, 0.45, sheet_h100},
    {"gemm.bf16", h100_pcie, 756, 0.45, sheet_h100},
    {"gemm.fp8", h100_pcie, 1513, 0.45, sheet_h100},
    {"gemm.fp64", h200, 62.4, seen_product, seen_h200},
    {"gemm.fp32", h200, 50.9, seen_product, seen_h200},
    {"gemm.tf32", h200, 398, seen_product, seen_h200},
    {"gemm.bf16", h200, 740, seen_product, seen_h200},
    {"gemm.fp8", h200, 1224, seen_product, seen_h200},
    {"gemm.fp64", b200, 37, tensor, sheet_b200},
    {"gemm.fp32", b200, 75, vector, sheet_b200},
    {"gemm.tf32", b200, 1100, tensor, sheet_b200},
    {"gemm.bf16", b200, 2250, tensor, sheet_b200},
    {"gemm.fp8", b200, 4500, tensor, sheet_b200},
    {"gemm.fp64", "NVIDIA A100*", 19.5, tensor, sheet_a100},
    {"gemm.fp32", "NVIDIA A100*", 19.5, vector, sheet_a100},
    {"gemm.tf32", "NVIDIA A100*", 156, tensor, sheet_a100},
    {"gemm.bf16", "NVIDIA A100*", 312, tensor, sheet_a100},
    {"pcie.h2d", "PCIe 5 x16", 63, 0.76,
     "PCIe 5.0, 128b/130b; share: Azure health checks want 48 GB/s (ND H200 v5) and 52 (ND H100 v5)"},
    {"pcie.d2h", "PCIe 5 x16", 63, 0.76,
     "PCIe 5.0, 128b/130b; share: Azure health checks want 48 GB/s (ND H200 v5) and 52 (ND H100 v5)"},
    {"pcie.h2d", "PCIe 4 x16", 31.5, 0.76,
     "PCIe 4.0, 128b/130b; share: Azure health checks want 24 GB/s (ND A100 v4)"},
    {"pcie.d2h", "PCIe 4 x16", 31.5, 0.76,
     "PCIe 4.0, 128b/130b; share: Azure health checks want 24 GB/s (ND A100 v4)"},
    {"nvlink.pair", h100, 450, 0.74,
     "NVIDIA H100 data sheet, one direction; share: Azure health checks want 335 GB/s (ND H200 v5)"},
    {"nvlink.pair", h200, 450, 0.74,
     "NVIDIA H200 data sheet, one direction; share: Azure health checks want 335 GB/s (ND H200 v5)"},
    {"nvlink.pair", b200, 900, 0.74, "NVIDIA HGX B200 data sheet, one direction; share: that of H200"},
    {"nvlink.pair", "NVIDIA A100-SXM4*", 300, 0.74,
     "NVIDIA A100 data sheet, one direction; share: that of H200"},
});

} // namespace

std::span<const ExpectedRow> expected() {
    return expected_rows;
}

} // namespace restart::table
