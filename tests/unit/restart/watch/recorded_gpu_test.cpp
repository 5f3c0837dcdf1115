// What NVML said of a sound H100 without work, under full load and while a job hangs: no rule finds anything.
// Readings of our own making have the same shape; the recordings are read where they are.
#include "restart/watch/pace_meter.hpp"
#include "unit/restart/watch/recorded.hpp"
#include "unit/restart/watch/sound_host.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <map>
#include <optional>
#include <sstream>

using namespace std::chrono_literals;
using namespace restart;

namespace {

// A GPU whose link and memory are sound, on a host with nothing else.
struct Host : test::Looks {
    Host() {
        GpuSample gpu;
        gpu.pci = "0000:00:06.0";
        gpu.ecc_corrected = gpu.ecc_uncorrected = 0;
        gpu.remap_failed = gpu.remap_pending = false;
        gpu.pcie_generation = gpu.pcie_generation_max = 5;
        gpu.pcie_width = gpu.pcie_width_max = 16;
        gpu.pcie_replays = 2;
        gpu.recovery_action = 0;
        gpu.fabric_state = 0;
        sample.gpus.emplace().push_back(std::move(gpu));
    }
    GpuSample& gpu() { return sample.gpus->front(); }
};

using Row = std::map<std::string, std::string>; // by the head's names

std::vector<Row> rows_of(const std::string& text) {
    std::vector<Row> rows;
    std::vector<std::string> names;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::vector<std::string> cells;
        for (std::string word; words >> word;)
            cells.push_back(word);
        if (line.starts_with("t_s ")) names = cells;
        // The summary at the end has other words.
        if (line.starts_with("t_s ") || line.starts_with("#") || cells.size() + 1 < names.size()) continue;
        Row row;
        for (std::size_t i = 0; i < names.size() && i < cells.size(); ++i)
            row[names[i]] = cells[i];
        if (row["pcie"] == "5x16") rows.push_back(std::move(row));
    }
    return rows;
}

std::optional<std::uint64_t> milliseconds(const Row& row, const char* newer, const char* older = "") {
    auto cell = row.find(newer);
    if (cell == row.end()) cell = row.find(older);
    if (cell == row.end()) return std::nullopt;
    return static_cast<std::uint64_t>(std::strtod(cell->second.c_str(), nullptr));
}

} // namespace

TEST_CASE("what a real H100 says idle, under load and while a job hangs is no finding") {
    for (const auto* name : {"watch-idle", "watch-load", "watch-load-fp8-fp64", "watch-spin", "watch-hang"}) {
        INFO(name);
        const auto text = test::recorded(std::string("h100/") + name + ".txt");
        if (text.empty()) return;
        const auto rows = rows_of(text);
        CHECK(rows.size() >= 4);
        Host host;
        double last = -0.1;
        for (const auto& row : rows) {
            auto& gpu = host.gpu();
            const auto whole = [&](const char* column) {
                return static_cast<std::uint32_t>(std::strtoul(row.at(column).c_str(), nullptr, 0));
            };
            gpu.reasons = whole("reasons");
            gpu.sm_mhz = whole("sm_mhz");
            gpu.mem_mhz = whole("mem_mhz");
            gpu.power_mw = 1000 * whole("power_w");
            gpu.busy_percent = whole("gpu%");
            gpu.power_violation_ms = milliseconds(row, "sw_power_ms", "violation_power_ms");
            gpu.thermal_violation_ms = milliseconds(row, "thermal_ms", "violation_thermal_ms");
            gpu.sw_thermal_ms = milliseconds(row, "sw_thermal_ms");
            gpu.hw_thermal_ms = milliseconds(row, "hw_thermal_ms");
            gpu.power_brake_ms = milliseconds(row, "brake_ms");
            const auto at = std::strtod(row.at("t_s").c_str(), nullptr);
            const base::Duration step(static_cast<base::Duration::rep>(1000 * (at - last)));
            last = at;
            CHECK(host.run(step, step).empty());
        }
        CHECK(host.run(5min).empty()); // it stays so
    }
}

TEST_CASE("a real H100 works or waits by its power, whatever its clock and utilization") {
    struct Of {
        const char* name;
        std::map<GpuWork, std::size_t> least; // readings; of no other state there are more than a few
    };
    const auto reading = [](std::uint32_t mhz, double watts, std::uint64_t reasons, std::uint32_t busy) {
        GpuSample gpu;
        gpu.sm_mhz = mhz;
        gpu.power_mw = static_cast<std::uint32_t>(1000 * watts);
        gpu.power_limit_mw = 700'000;
        gpu.reasons = reasons;
        gpu.busy_percent = busy;
        return gpu;
    };
    // Likewise, of our own making.
    CHECK(work_of(pace_of(reading(345, 71, 0x1, 0))) == GpuWork::idle);
    CHECK(work_of(pace_of(reading(1980, 127, 0, 0))) == GpuWork::idle);       // a context
    CHECK(work_of(pace_of(reading(1980, 121, 0, 100))) == GpuWork::waiting);  // in NCCL
    CHECK(work_of(pace_of(reading(1980, 366, 0, 100))) == GpuWork::working);  // copies
    CHECK(work_of(pace_of(reading(1170, 699, 0x4, 99))) == GpuWork::working); // FP8 at the limit
    CHECK(work_of(pace_of(reading(900, 300, 0x88, 100))) == GpuWork::throttled);
    for (const auto& of :
         {Of{"watch-idle", {{GpuWork::idle, 4}}},
          {"watch-load", {{GpuWork::working, 75}}},
          {"watch-load-fp8-fp64", {{GpuWork::working, 85}, {GpuWork::idle, 20}, {GpuWork::waiting, 5}}},
          {"watch-hang", {{GpuWork::waiting, 12}}}}) {
        INFO(of.name);
        const auto text = test::recorded(std::string("h100/") + of.name + ".txt");
        if (text.empty()) return;
        std::map<GpuWork, std::size_t> seen;
        for (const auto& row : rows_of(text)) {
            const auto number = [&](const char* column) {
                return std::strtod(row.at(column).c_str(), nullptr);
            };
            const auto work =
                work_of(pace_of(reading(static_cast<std::uint32_t>(number("sm_mhz")), number("power_w"),
                                        std::strtoull(row.at("reasons").c_str(), nullptr, 0),
                                        static_cast<std::uint32_t>(number("gpu%")))));
            REQUIRE(work);
            ++seen[*work];
        }
        for (const auto& [work, least] : of.least)
            CHECK(seen[work] >= least);
        CHECK(seen[GpuWork::throttled] == 0);
        if (!of.least.contains(GpuWork::waiting)) CHECK(seen[GpuWork::waiting] == 0);
    }
}

TEST_CASE("a GPU at its power limit, hours long, is no finding, whatever its clock") {
    Host host;
    auto& gpu = host.gpu();
    gpu.reasons = 0x4;
    gpu.busy_percent = 100;
    gpu.thermal_violation_ms = gpu.sw_thermal_ms = gpu.hw_thermal_ms = gpu.power_brake_ms = 0;
    std::uint64_t capped = 0;
    for (int second = 0; second < 4 * 3600; ++second) {
        gpu.sm_mhz = 1125 + second * 105 % 360;
        gpu.power_mw = 690'000 + second * 1'370 % 11'000;
        gpu.power_violation_ms = capped += 1000;
        const auto findings = host.run(1s);
        if (!findings.empty()) FAIL(findings.front().rule);
    }
}
