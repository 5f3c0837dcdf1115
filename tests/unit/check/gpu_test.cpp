#include "check/gpu.hpp"

#include "check/cuda_check.hpp"

#include "unit/folder.hpp"

#include <catch2/catch.hpp>

#include <filesystem>

using namespace check;
using namespace std::chrono_literals;

namespace {

probe::GpuSample sample(std::uint64_t reasons) {
    probe::GpuSample gpu;
    gpu.pci = "0000:14:00.0";
    gpu.reasons = reasons;
    return gpu;
}

std::vector<Result> judged(std::initializer_list<std::uint64_t> reasons) {
    std::vector<std::pair<base::Duration, std::vector<probe::GpuSample>>> samples;
    for (const auto one : reasons)
        samples.emplace_back(base::Duration{300} * static_cast<int>(samples.size()),
                             std::vector<probe::GpuSample>{sample(one)});
    return judge_samples(samples, {});
}

Result measured(std::string_view pci, double value) {
    return {.check = "t",
            .test = "t.x",
            .part = {.name = "g", .pci = std::string(pci)},
            .value = value,
            .unit = "GB/s"};
}

} // namespace

TEST_CASE("a reason to throttle counts when it is there most of the time") {
    CHECK(judged({0x80, 0x80, 0}).at(0).test == "gpu.throttle.hw_power_brake");
    CHECK(judged({0x80, 0x80, 0}).at(0).verdict == Verdict::bad);
    CHECK(judged({0x80, 0, 0}).at(0).test == "gpu.state");
    CHECK(judged({0, 0, 0x80}).at(0).verdict == Verdict::sound);
}

TEST_CASE("what samples count up is a finding") {
    auto before = sample(0), after = sample(0);
    before.nvlink_recoveries = 3;
    after.nvlink_recoveries = 4;
    const auto results = judge_samples({{0s, {before}}, {1s, {after}}}, {});
    REQUIRE(results.size() == 1);
    CHECK(results[0].test == "gpu.nvlink_recoveries");
    CHECK(judge_samples({{0s, {before}}, {1s, {before}}}, {}).at(0).verdict == Verdict::sound);
}

TEST_CASE("a GPU that the fabric lists and the bus has not is bad; one that only NVML hides is a warning") {
    const test::Folder folder;
    Request request;
    request.sysfs = folder.path;
    std::filesystem::create_directories(folder.path / "bus/pci/devices/0000:30:00.0");
    topo::Host host;
    host.name = "n1";
    for (const char* pci : {"0000:14:00.0", "0000:30:00.0", "0000:4c:00.0"})
        host.gpus.emplace_back().pci = pci;
    request.fabric.hosts = {host};
    const auto results = missing_gpus({sample(0)}, request);
    REQUIRE(results.size() == 2);
    CHECK(results[0].part.name == "gpu1");
    CHECK(results[0].verdict == Verdict::warning);
    CHECK(results[1].part.name == "gpu2");
    CHECK(results[1].verdict == Verdict::bad);
}

TEST_CASE("what nobody expects anything of is compared with the GPUs beside it") {
    std::vector<CudaDevice> devices(4);
    const char* addresses[] = {"a", "b", "c", "d"};
    for (std::size_t i = 0; i < 4; ++i)
        devices[i].part.pci = addresses[i];
    std::vector<Result> results{measured("a", 100), measured("b", 101), measured("c", 89), measured("d", 99)};
    judge_all(results, devices, {});
    CHECK(results[0].verdict == Verdict::measured);
    CHECK(results[2].verdict == Verdict::warning);
    CHECK(results[2].says == "89 % of the median of this host's 4 GPUs");
    results = {measured("a", 100), measured("b", 10)};
    judge_all(results, devices, {}); // of two nobody knows which is sound
    CHECK(results[1].verdict == Verdict::measured);
}

TEST_CASE("what a GPU did under load is told, not what it does once that is over") {
    std::vector<std::pair<base::Duration, std::vector<probe::GpuSample>>> samples;
    const std::vector<std::uint32_t> clocks{345, 1980, 1410, 1425, 345};
    for (const auto mhz : clocks) {
        auto gpu = sample(0);
        gpu.sm_mhz = mhz;
        gpu.power_mw = mhz * 500;
        samples.emplace_back(base::Duration{300} * samples.size(), std::vector{gpu});
    }
    const auto results = judge_samples(samples, {});
    REQUIRE(results.size() == 1);
    CHECK(results.front().says.starts_with("1410 MHz, 705 W"));
}
