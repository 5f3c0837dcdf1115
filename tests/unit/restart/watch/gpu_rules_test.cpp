// The rules of NVLink, the NVSwitch fabric, the recovery action, violation times and what NVML refuses: each
// fires on its fault, and stays silent just below it.
#include "restart/watch/judge.hpp"

#include "sound_host.hpp"

#include "restart/watch/rules/table.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <optional>

using namespace std::chrono_literals;
using namespace restart;

namespace {

// Four sound GPUs behind NVSwitches, and a clock that the test moves.
struct Host : test::Looks {
    explicit Host(const RuleSet& rules = {}) : Looks(rules) {
        sample.gpus.emplace();
        for (std::uint32_t i = 0; i < 4; ++i) {
            GpuSample gpu;
            gpu.index = i;
            gpu.reasons = 0;
            gpu.nvlinks_active = 18;
            gpu.nvlink_crc = gpu.nvlink_replays = gpu.nvlink_recoveries = gpu.nvlink_rcv_errors = 1000;
            gpu.power_violation_ms = gpu.thermal_violation_ms = 1000;
            gpu.power_brake_ms = gpu.hw_thermal_ms = gpu.sw_thermal_ms = 1000;
            gpu.recovery_action = 0;
            gpu.fabric_state = 3;
            gpu.fabric_status = 0;
            sample.gpus->push_back(gpu);
        }
    }
    GpuSample& gpu(std::size_t i = 1) { return sample.gpus->at(i); }
};

// Of the rule with this severity: a milder row of the same name may hold as well.
std::optional<Finding> find(const std::vector<Finding>& findings, const Rule& rule) {
    for (const auto& finding : findings)
        if (finding.rule == rule.finding() && finding.component == "gpu1" &&
            finding.severity == rule.severity)
            return finding;
    return std::nullopt;
}

struct Fault {
    std::string_view rule;
    void (*near)(Host&); // just not a fault
    void (*inject)(Host&);
    std::string_view says;
};

void none(Host&) {}

const Fault faults[] = {
    {"gpu.nvlink_down", none, [](Host& h) { h.gpu().nvlinks_active = 17; }, "17 of 18 NVLinks are up"},
    {"gpu.nvlink_crc", [](Host& h) { h.gpu().nvlink_crc = 7000; }, [](Host& h) { h.gpu().nvlink_crc = 7001; },
     "nvlink_crc grew by 6001"},
    {"gpu.nvlink_crc#few", none, [](Host& h) { h.gpu().nvlink_crc = 1001; }, "nvlink_crc grew by 1 "},
    {"gpu.nvlink_replays", none, [](Host& h) { h.gpu().nvlink_replays = 1001; }, "nvlink_replays grew by 1 "},
    {"gpu.nvlink_recoveries", none, [](Host& h) { h.gpu().nvlink_recoveries = 1001; },
     "nvlink_recoveries grew by 1 "},
    {"gpu.nvlink_rcv_errors", none, [](Host& h) { h.gpu().nvlink_rcv_errors = 1001; },
     "nvlink_rcv_errors grew by 1 "},
    {"gpu.thermal_violation", [](Host& h) { h.gpu().thermal_violation_ms = 4000; },
     [](Host& h) { h.gpu().thermal_violation_ms = 4001; }, "thermal_violation grew by 3001"},
    {"gpu.power_brake", [](Host& h) { h.gpu().power_brake_ms = 4000; },
     [](Host& h) { h.gpu().power_brake_ms = 4001; }, "power_brake_time grew by 3001"},
    {"gpu.recovery#reset", none, [](Host& h) { h.gpu().recovery_action = 1; }, "asks for a reset"},
    {"gpu.recovery#reboot", none, [](Host& h) { h.gpu().recovery_action = 2; }, "asks for a reboot"},
    {"gpu.recovery#drain", none, [](Host& h) { h.gpu().recovery_action = 4; }, "asks for a drain"},
    {"gpu.recovery#imex", [](Host& h) { h.gpu().recovery_action = 6; },
     [](Host& h) { h.gpu().recovery_action = 5; }, "asks for the recovery of the IMEX domain"},
    {"gpu.fabric#state", [](Host& h) { h.gpu().fabric_state = 0; }, // a GPU without NVSwitches
     [](Host& h) { h.gpu().fabric_state = 2; }, "has not registered with the NVSwitches (state 2)"},
    {"gpu.fabric#status", none, [](Host& h) { h.gpu().fabric_status = 999; }, "NVML's error 999"},
    {"gpu.unseen", [](Host& h) { h.gpu().ecc_corrected.reset(); }, // it has none
     [](Host& h) { h.gpu().unseen = {"ECC errors: NVML: Unknown Error (999)"}; },
     "cannot see ECC errors: NVML: Unknown Error (999)"},
};

bool is_here(const Rule& rule) {
    const auto of = {"gpu.nvlink", "gpu.recovery", "gpu.fabric", "gpu.unseen"};
    return rule.on &&
           (rule.signal.ends_with("_violation") || rule.name == "gpu.power_brake" ||
            std::any_of(of.begin(), of.end(), [&](auto name) { return rule.signal.starts_with(name); }));
}

} // namespace

TEST_CASE("what NVML tells seldom: each rule fires after its window, not before, nor just below its limit") {
    for (const auto& rule : shipped_rules()) {
        if (!is_here(rule) || rule.name == "gpu.nvlink_down#peers") continue;
        INFO(rule.name);
        const auto fault = std::find_if(std::begin(faults), std::end(faults),
                                        [&](const auto& f) { return f.rule == rule.name; });
        REQUIRE(fault != std::end(faults));
        Host sound;
        sound.run(5s);
        fault->near(sound);
        CHECK_FALSE(find(sound.run(1s), rule));
        CHECK_FALSE(find(sound.run(15min), rule));

        const auto window = rule.counts_growth() ? base::Duration{0} : *rule.window;
        Host host;
        host.run(5s);
        fault->inject(host);
        if (window > 0s) CHECK(host.run(window).empty());
        const auto finding = find(host.run(1s), rule);
        REQUIRE(finding);
        // XIDs say whether a job must move; these only whether to avoid the host.
        CHECK(finding->severity <= Severity::warn);
        CHECK(finding->evidence.find(fault->says) != std::string::npos);
    }
}

TEST_CASE("NVLinks that train after a boot are no fault; one that never comes up is, beside its peers") {
    Host host;
    for (auto& gpu : *host.sample.gpus)
        gpu.nvlinks_active = 0;
    CHECK(host.run(5min).empty());
    for (auto& gpu : *host.sample.gpus)
        gpu.nvlinks_active = 18;
    host.gpu().nvlinks_active = 17;
    CHECK(host.run(9min).empty());
    const auto findings = host.run(2min);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].rule == "gpu.nvlink_down");
    CHECK(findings[0].component == "gpu1");
    CHECK(findings[0].evidence.find("17 NVLinks are up, of most GPUs here 18") != std::string::npos);
}

TEST_CASE("GPUs without a bridge beside pairs that have one are no fault, but behind NVSwitches") {
    Host host;
    for (auto& gpu : *host.sample.gpus)
        gpu.fabric_state.reset(), gpu.fabric_status.reset(), gpu.nvlinks_active = 4;
    host.gpu().nvlinks_active = 0;
    CHECK(host.run(1h, 5s).empty());
    SECTION("one that had its bridge") {
        host.gpu().nvlinks_active = 4;
        CHECK(host.run(5min).empty());
        host.gpu().nvlinks_active = 0;
        CHECK(host.run(5min).size() == 1);
    }
    SECTION("a board of A100, whose GPUs do not register") {
        host.sample.host.emplace().fabric_manager = true;
        const auto findings = host.run(11min);
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].rule == "gpu.nvlink_down");
    }
}

TEST_CASE("a driver that is loaded again, and one that answers nothing of it, are no faults") {
    Host host;
    host.run(5s);
    for (auto& gpu : *host.sample.gpus) {
        GpuSample fresh;
        fresh.index = gpu.index;
        gpu = fresh;
    }
    CHECK(host.run(5min).empty());
    host.gpu().nvlink_crc = host.gpu().nvlink_replays = host.gpu().nvlink_recoveries = 3;
    host.gpu().thermal_violation_ms = 5;
    CHECK(host.run(5min).empty());
}

TEST_CASE("a reason to throttle is judged by its time where that is counted, whatever its bit says then") {
    struct Reason {
        std::string_view rule;
        std::optional<std::uint64_t> GpuSample::*time;
        std::uint64_t bits;
    };
    const Reason reasons[] = {{"gpu.throttle.hw_power_brake", &GpuSample::power_brake_ms, 0x88},
                              {"gpu.throttle.hw_thermal_slowdown", &GpuSample::hw_thermal_ms, 0x48},
                              {"gpu.throttle.sw_thermal_slowdown", &GpuSample::sw_thermal_ms, 0x20}};
    for (const auto& reason : reasons) {
        INFO(reason.rule);
        const auto rule = *RuleSet().find(reason.rule);
        const auto found = [&](const std::vector<Finding>& findings) {
            return std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
                return finding.rule == rule.finding() && finding.component == "gpu1";
            });
        };
        Host host;
        host.run(20s);
        // Only at each tenth look, as NVML is asked, and half of the time, at moments that no look meets.
        const auto slowed = [&](std::uint64_t ms) {
            *(host.gpu().*reason.time) += ms;
            return found(host.run(10s));
        };
        for (int i = 0; i < 30; ++i)
            CHECK_FALSE(slowed(5000));
        CHECK(slowed(5001));
        const auto findings =
            host.run(29s); // [throttle] clear begins when the growth is twice its window old
        REQUIRE(found(findings));
        for (const auto& finding : findings)
            if (finding.rule == rule.finding()) {
                const bool evicts = !rule.name.starts_with("gpu.throttle.sw");
                CHECK(finding.severity == (evicts ? Severity::evict : Severity::warn));
                CHECK(finding.evidence == "clock event reason for 5001 ms within 10.0 s");
            }
        CHECK_FALSE(found(host.run(20s)));
        host.gpu().reasons = reason.bits; // without a time that grows
        for (const auto& finding : host.run(60s))
            CHECK(finding.severity == Severity::info);
        host.gpu().*reason.time = std::nullopt; // a driver that does not count it
        CHECK(found(host.run(10s)));
    }
}

TEST_CASE("power violation time is off, and a site may switch it on") {
    const auto grow = [](Host& host) {
        host.run(5s);
        host.gpu().power_violation_ms = 1'000'000;
        return host.run(1s);
    };
    Host silent;
    CHECK(grow(silent).empty());
    const auto rules = RuleSet::from_text("[[rule]]\nname = \"gpu.power_violation\"\non = true\n", "site");
    REQUIRE(rules);
    Host host(*rules);
    const auto findings = grow(host);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].rule == "gpu.power_violation");
}
