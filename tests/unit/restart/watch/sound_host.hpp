// A sound host of samples for tests of rules, whose clock the test moves.
#pragma once

#include "restart/watch/judge.hpp"

#include <fmt/format.h>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace test {

inline restart::Guid guid(int hca) {
    return 0x946dae0000010010 + 0x10 * static_cast<restart::Guid>(hca);
}

inline restart::ListedPort listed(int hca, const std::string& device) {
    return {guid(hca), 0, 1, true, device + ":1"};
}

// A host of which nothing is read yet; a test adds what it looks at, and moves the clock.
struct Looks {
    restart::Sample sample;
    restart::Judge judge;

    explicit Looks(const restart::RuleSet& rules = {}) : judge(restart::Limits{}, rules) {
        sample.now = base::Time(std::chrono::seconds(1'700'000'000));
    }
    // Looks once a step for that long, at events once; the findings of the last look.
    std::vector<restart::Finding> run(base::Duration time, base::Duration step = std::chrono::seconds(1)) {
        std::vector<restart::Finding> findings;
        for (const auto end = sample.now + time; sample.now < end;) {
            sample.now += step;
            findings = judge.judge(sample);
            sample.xids.clear();
            sample.driver_lines.clear();
        }
        return findings;
    }
};

// A sound host of two HCAs and two GPUs.
struct Host : Looks {
    Host() {
        sample.ib.emplace();
        for (int i = 0; i < 2; ++i) {
            restart::PortSample port;
            port.device = fmt::format("mlx5_{}", i);
            port.state = "ACTIVE";
            port.phys_state = "LinkUp";
            port.rate_gbps = 400;
            port.node = port.guid = guid(i);
            port.pcie_width = port.pcie_width_max = 16;
            port.pcie_speed = port.pcie_speed_max = 32;
            for (const auto& name : restart::RuleBook::counters({}))
                port.counters[name] = 1000; // lifetime values judge nobody
            sample.ib->ports.push_back(std::move(port));
        }
        sample.gpus.emplace();
        for (std::uint32_t i = 0; i < 2; ++i) {
            restart::GpuSample gpu;
            gpu.index = i;
            gpu.pci = fmt::format("0000:{:02x}:00.0", 0x14 + i * 28);
            gpu.ecc_corrected = gpu.ecc_uncorrected = 0;
            gpu.remap_failed = gpu.remap_pending = false;
            gpu.pcie_generation = gpu.pcie_generation_max = 5;
            gpu.pcie_width = gpu.pcie_width_max = 16;
            gpu.pcie_replays = 0;
            sample.gpus->push_back(std::move(gpu));
        }
    }

    restart::PortSample& port(std::size_t i = 0) { return sample.ib->ports.at(i); }
    restart::GpuSample& gpu(std::size_t i = 0) { return sample.gpus->at(i); }

    std::vector<restart::Finding> xid(restart::XidEvent event) {
        sample.xids.push_back(std::move(event));
        return run(std::chrono::seconds(1));
    }
};

inline std::optional<restart::Finding> find(const std::vector<restart::Finding>& findings,
                                            std::string_view rule, std::string_view on) {
    for (const auto& f : findings)
        if (f.rule == rule && f.component == on) return f;
    return std::nullopt;
}

} // namespace test
