// What railcheck measured on real GPUs, none of which had a fault: its expectations must call them sound,
// with room.
#include "check/check.hpp"

#include <catch2/catch.hpp>

using namespace check;

namespace {

// The least of eight runs at level 1, each on one GPU of a virtual machine; driver 580.159.04, cuBLAS 13.0,
// 2026-11.
struct Recorded {
    std::string kind, test;
    double value; // GB/s or TFLOP/s
};
const std::vector<Recorded>& recorded() {
    static const std::string h100 = "NVIDIA H100 80GB HBM3", h200 = "NVIDIA H200", pcie = "PCIe 5 x16";
    static const std::vector<Recorded> all{
        {h100, "hbm.write", 3246}, {h100, "hbm.read", 3058},  {h100, "hbm.copy", 3011},
        {h100, "gemm.fp64", 63.3}, {h100, "gemm.fp32", 51.9}, {h100, "gemm.tf32", 420},
        {h100, "gemm.bf16", 781},  {h100, "gemm.fp8", 1234},  {pcie, "pcie.h2d", 54.6},
        {pcie, "pcie.d2h", 55.0},  {h200, "hbm.write", 4574}, {h200, "hbm.read", 4323},
        {h200, "hbm.copy", 4250},  {h200, "gemm.fp64", 62.4}, {h200, "gemm.fp32", 50.9},
        {h200, "gemm.tf32", 398},  {h200, "gemm.bf16", 740},  {h200, "gemm.fp8", 1224},
    };
    return all;
}

Verdict verdict_of(const Recorded& one, double value) {
    Result result{.check = "c", .test = one.test, .part = {.name = "gpu0"}, .value = value, .unit = "u"};
    const std::vector<std::string> kinds{one.kind};
    judge(result, restart::Expectations(), kinds);
    return result.verdict;
}

} // namespace

TEST_CASE("what sound GPUs gave is sound with a tenth to spare, and half of it is bad") {
    for (const auto& one : recorded()) {
        INFO(one.kind << " " << one.test);
        CHECK(verdict_of(one, 0.9 * one.value) == Verdict::sound);
        CHECK(verdict_of(one, 0.5 * one.value) == Verdict::bad);
    }
}
