// Every rule is shown to fire by injecting its fault, and to be silent just below its threshold.
#include "base/keys.hpp"
#include "base/units.hpp"
#include "restart/watch/rules/table.hpp"
#include "unit/restart/watch/sound_host.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <optional>
#include <set>

using namespace std::chrono_literals;
using namespace restart;
using test::find;
using test::guid;
using test::Host;
using test::listed;

namespace {

bool is_counter(const Rule& rule) {
    return rule.signal.starts_with(counter_prefix);
}

// host_rules_test.cpp, gpu_rules_test.cpp, gpu_presence_test.cpp, slow_rules_test.cpp, ucx_test.cpp,
// unlisted_ports_test.cpp
bool is_elsewhere(const Rule& rule) {
    const auto of = {"host.",      "mount.",      "ucx.",       "hca.",         "gpu.log",
                     "nvswitch.",  "pci.",        "gpu.nvlink", "gpu.recovery", "gpu.fabric",
                     "gpu.unseen", "ib.unlisted", "gpu.missing"};
    return rule.signal.ends_with("_violation") || rule.signal.ends_with("_time") || rule.samples > 0 ||
           rule.only_repeated ||
           std::any_of(of.begin(), of.end(), [&](auto name) { return rule.signal.starts_with(name); });
}

// How to break a host so that a condition rule fires.
struct Fault {
    std::string_view rule, component;
    void (*inject)(Host&);
    void (*repair)(Host&);
};

const Fault faults[] = {
    {"gpu.lost", "gpu0", [](Host& h) { h.gpu().lost = true; }, [](Host& h) { h.gpu().lost = false; }},
    {"gpu.remap_failed", "gpu1", [](Host& h) { h.gpu(1).remap_failed = true; },
     [](Host& h) { h.gpu(1).remap_failed = false; }},
    {"gpu.remap_pending", "gpu0", [](Host& h) { h.gpu().remap_pending = true; },
     [](Host& h) { h.gpu().remap_pending = false; }},
    {"gpu.ecc", "gpu0", [](Host& h) { h.gpu().ecc_uncorrected = 1; },
     [](Host& h) { h.gpu().ecc_uncorrected = 0; }},
    {"gpu.pcie_width", "gpu0", [](Host& h) { h.gpu().pcie_width = 8; },
     [](Host& h) { h.gpu().pcie_width = 16; }},
    {"ib.pcie_width", "mlx5_1", [](Host& h) { h.port(1).pcie_width = 8; },
     [](Host& h) { h.port(1).pcie_width = 16; }},
    {"gpu.pcie_replay", "gpu0", [](Host& h) { h.gpu().pcie_replays = 32; }, [](Host&) {}},
    {"ib.asic_temperature", "mlx5_0",
     [](Host& h) {
         h.port().asic_critical = 105;
         h.port().asic_celsius = 106;
     },
     [](Host& h) { h.port().asic_celsius = 60; }},
    {"ib.module_temperature", "mlx5_1",
     [](Host& h) {
         h.port(1).module_critical = 70;
         h.port(1).module_celsius = 71;
     },
     [](Host& h) { h.port(1).module_celsius = 60; }},
    {"ib.link_down", "mlx5_0:1", [](Host& h) { h.port().state = "DOWN"; },
     [](Host& h) { h.port().state = "ACTIVE"; }},
    {"ib.vanished", "mlx5_1:1", [](Host& h) { h.sample.ib->ports.pop_back(); },
     [](Host& h) {
         auto port = h.port();
         port.device = "mlx5_1";
         port.node = port.guid = guid(1);
         h.sample.ib->ports.push_back(port);
     }},
    {"ib.rate", "mlx5_0:1", [](Host& h) { h.port().rate_gbps = 100; },
     [](Host& h) { h.port().rate_gbps = 400; }},
};

} // namespace

TEST_CASE("a sound host has no findings") {
    Host host;
    CHECK(host.run(300s).empty());
}

TEST_CASE("each condition fires after its window, not before, with its severity, and ends") {
    for (const auto& rule : shipped_rules()) {
        if (rule.signal == "gpu.xid" || rule.test == Test::bit || is_counter(rule)) continue; // below
        if (is_elsewhere(rule)) continue;
        if (is_of_fabric(rule.signal)) continue; // fabric/link_judge_test.cpp
        if (rule.name == "ib.missing" || rule.name == "ib.never_up" || rule.name == "ib.changed")
            continue; // below: they need a fabric file
        INFO(rule.name);
        const auto fault = std::find_if(std::begin(faults), std::end(faults),
                                        [&](const auto& f) { return f.rule == rule.name; });
        REQUIRE(fault != std::end(faults));
        const auto window = rule.counts_growth() ? base::Duration{0} : *rule.window;
        Host host;
        host.run(5s);
        fault->inject(host);
        if (window > 0s) CHECK_FALSE(find(host.run(window), rule.name, fault->component));
        const auto finding = find(host.run(1s), rule.name, fault->component);
        REQUIRE(finding);
        CHECK(finding->severity == rule.severity);
        CHECK(finding->fault == to_string(rule.fault));
        CHECK_FALSE(finding->evidence.empty());
        CHECK(finding->since == base::Time(std::chrono::seconds(1'700'000'006)));
        fault->repair(host);
        CHECK(find(host.run(29s), rule.name, fault->component)); // still within [throttle] clear
        CHECK(host.run(70s).empty());
    }
}

TEST_CASE("each counter rule fires above its threshold, not at it, and ends after its period") {
    for (const auto& rule : shipped_rules()) {
        if (!is_counter(rule)) continue;
        INFO(rule.name);
        const std::string counter(rule.signal.substr(counter_prefix.size()));
        const auto name = rule.finding();
        Host host;
        host.run(5s);
        host.port().counters[counter] += static_cast<std::uint64_t>(rule.value);
        const auto at = find(host.run(2s), name, "mlx5_0:1");
        CHECK((!at || at->severity < rule.severity)); // a milder row of the same counter may fire
        host.port().counters[counter] += 1;
        const auto finding = find(host.run(1s), name, "mlx5_0:1");
        REQUIRE(finding);
        CHECK(finding->severity == rule.severity);
        CHECK(finding->evidence == fmt::format("{} grew by {} within {} (allowed: {})", counter,
                                               rule.value + 1, base::human_duration(*rule.window),
                                               rule.value));
        CHECK_FALSE(find(host.run(1s), name, "mlx5_1:1"));
        const auto later = find(host.run(*rule.window + 35s), name, "mlx5_0:1");
        CHECK((!later || later->severity != rule.severity));
    }
}

TEST_CASE("what a counter shows after a reset, a driver's reload or a boot is no fault") {
    Host host;
    const auto all = [&](auto change) {
        for (auto& [name, value] : host.port().counters)
            value = static_cast<std::uint64_t>(change(value));
    };
    SECTION("reset, and what came with it") {
        host.run(5s);
        all([](auto) { return 300; });
        CHECK(host.run(10s).empty());
    }
    SECTION("the device leaves with its driver, comes back and trains its link") {
        host.run(5s);
        const auto port = host.port();
        host.sample.ib->ports.erase(host.sample.ib->ports.begin());
        host.run(2s);
        host.sample.ib->ports.insert(host.sample.ib->ports.begin(), port);
        host.port().state = "INIT";
        for (int i = 0; i < 5; ++i) {
            all([](auto value) { return value + 1000; });
            host.run(1s);
        }
        host.port().state = "ACTIVE";
        all([](auto value) { return value + 1000; });
        CHECK(host.run(40s).empty());
        all([](auto value) { return value + 1000; });
        CHECK_FALSE(host.run(1s).empty()); // from here on it counts again
    }
    SECTION("a port that comes up after the agent, and one that nobody uses") {
        host.port().state = "DOWN";
        for (int i = 0; i < 5; ++i) {
            all([](auto value) { return value + 1000; });
            CHECK(host.run(1s).empty());
        }
        host.port().state = "ACTIVE";
        all([](auto value) { return value + 1000; });
        CHECK(host.run(10s).empty());
    }
    SECTION("a device that answers with ones, or with zeros for a moment") {
        const auto before = host.port().counters;
        host.run(5s);
        for (const auto garbage : {std::uint64_t{0xffff'ffff}, ~std::uint64_t{0}, std::uint64_t{0}}) {
            all([&](auto) { return garbage; });
            CHECK(host.run(1s).empty());
            host.port().counters = before;
            CHECK(host.run(1s).empty());
        }
    }
}

TEST_CASE("what is counted while a link is down and trains is no fault but that it was down, once") {
    Host host;
    host.run(5s);
    SECTION("a cable is put in anew") {
        host.port().state = "DOWN";
        for (int i = 0; i < 5; ++i) {
            for (auto& [name, value] : host.port().counters)
                value += 1000;
            host.run(1s);
        }
        host.port().state = "INIT";
        host.port().counters["link_downed"] += 2;
        host.run(1s);
        host.port().state = "ACTIVE";
        host.port().counters["link_downed"] += 1;
        host.port().counters["symbol_error"] += 1000;
        const auto findings = host.run(10s);
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].rule == "ib.counter.link_downed");
        CHECK(findings[0].severity == Severity::warn);
        CHECK(findings[0].evidence.starts_with("link_downed grew by 1 "));
        // From here on it counts again.
        host.port().counters["symbol_error"] += 1000;
        CHECK(find(host.run(1s), "ib.counter.symbol_error", "mlx5_0:1"));
    }
    SECTION("three times down are three") {
        for (int flap = 1; flap <= 3; ++flap) {
            host.port().state = "DOWN";
            host.port().counters["link_downed"] += 2;
            host.run(2s);
            host.port().state = "ACTIVE";
            const auto findings = host.run(60s);
            REQUIRE(findings.size() == 1);
            CHECK(findings[0].severity == (flap < 3 ? Severity::warn : Severity::evict));
        }
    }
    SECTION("flaps too short to be seen count each, also after one that was seen and a misread") {
        host.port().state = "DOWN";
        host.port().counters["link_downed"] += 5;
        host.run(2s);
        host.port().state = "ACTIVE";
        host.run(2s);
        for (const auto garbage : {std::uint64_t{0}, std::uint64_t{0xffff'ffff}}) {
            const auto before = std::exchange(host.port().counters["link_downed"], garbage);
            host.run(1s);
            host.port().counters["link_downed"] = before;
            CHECK(host.run(2s).front().severity == Severity::warn);
        }
        host.port().counters["link_downed"] += 2;
        CHECK(host.run(1s).front().severity == Severity::evict);
    }
}

TEST_CASE("counter rules of one counter give one finding, the worse one") {
    Host host;
    host.run(2s);
    for (int flap = 1; flap <= 3; ++flap) {
        ++host.port().counters["link_downed"];
        const auto findings = host.run(60s);
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].rule == "ib.counter.link_downed");
        CHECK(findings[0].severity == (flap < 3 ? Severity::warn : Severity::evict));
    }
}

TEST_CASE("each throttle reason whose time is not counted fires after the window; configured ones evict") {
    for (const auto& reason : shipped_rules()) {
        if (reason.test != Test::bit) continue;
        INFO(reason.name);
        const auto bit = static_cast<std::uint64_t>(reason.value);
        Host host;
        host.gpu(1).reasons = bit;
        const auto rule = reason.finding();
        CHECK(host.run(5s).empty());
        const auto finding = find(host.run(1s), rule, "gpu1");
        REQUIRE(finding);
        const bool evicts =
            rule == "gpu.throttle.hw_power_brake" || rule == "gpu.throttle.hw_thermal_slowdown";
        CHECK(finding->severity == (evicts ? Severity::evict : Severity::warn));
        CHECK(finding->evidence == fmt::format("clock event reasons 0x{:x} for 5.0 s (window 5.0 s)", bit));
        host.gpu(1).reasons = 0;
        CHECK(host.run(29s).size() == 1);
        CHECK(host.run(2s).empty());
    }
}

TEST_CASE("reasons that slow no sound GPU are no findings") {
    Host host;
    host.gpu().reasons =
        0x1 | 0x2 | 0x4 | 0x10 | 0x100; // idle, application clocks, SW power cap, sync boost, display
    CHECK(host.run(120s).empty());
}

TEST_CASE("HW slowdown beside its cause is said once, alone by itself, configured always") {
    Host host;
    host.gpu().reasons = 0x88;
    CHECK(host.run(10s).size() == 1);
    Limits limits;
    limits.throttle_evicts = {"hw_slowdown"};
    limits.throttle_window = 2s;
    host.judge.set_rules(limits, {});
    const auto findings = host.run(10s);
    CHECK(find(findings, "gpu.throttle.hw_slowdown", "gpu0")->severity == Severity::evict);
    CHECK(find(findings, "gpu.throttle.hw_power_brake", "gpu0")->severity == Severity::warn);
}

TEST_CASE("a port that nobody has seen up and nobody expects is a free port; one in the fabric file is not") {
    Host host;
    host.port().state = "DOWN";
    CHECK(host.run(300s).empty());
    host.sample.listed = Listing{"d", {listed(0, "mlx5_0"), listed(1, "mlx5_1"), listed(7, "mlx5_7")}, {}};
    host.sample.listed->ports[1].linked = false;
    CHECK(host.run(119s).empty()); // its driver may still come
    CHECK(host.judge.fabric().empty());
    auto findings = host.run(2s);
    CHECK(find(findings, "ib.never_up", "mlx5_0:1")->severity == Severity::evict);
    CHECK(find(findings, "ib.missing", "mlx5_7:1")->severity == Severity::evict);
    CHECK(find(findings, "ib.missing", "mlx5_7:1")->evidence.find("0x946dae0000010080") != std::string::npos);
    CHECK(findings.size() == 2);
    CHECK(host.judge.fabric() == "d");
    auto port = host.port(1);
    port.device = "mlx5_7";
    port.node = guid(7);
    port.guid = 0;
    host.sample.ib->ports.push_back(port);
    host.port().state = "ACTIVE";
    CHECK(host.run(31s).empty());
    host.port().state = "DOWN";
    CHECK(find(host.run(11s), "ib.link_down", "mlx5_0:1"));
}

TEST_CASE("the fabric file's names of devices say nothing: GUIDs do") {
    Host host;
    SECTION("a text that calls them HCA-1, HCA-2") {
        host.sample.listed = Listing{"d", {listed(0, "HCA-1"), listed(1, "HCA-2")}, {}};
        CHECK(host.run(300s).empty());
    }
    SECTION("names the other way round") {
        host.sample.listed = Listing{"d", {listed(0, "mlx5_1"), listed(1, "mlx5_0")}, {}};
        CHECK(host.run(300s).empty());
    }
    SECTION("a source that tells ports' GUIDs only") {
        for (auto& port : host.sample.ib->ports)
            port.guid = port.node + 1;
        host.sample.listed = Listing{"d", {{guid(0) + 1, guid(0) + 1, 1, true, "mlx5_0:1"}}, {}};
        CHECK(host.run(300s).empty());
    }
    SECTION("a host whose HCAs tell none") {
        host.port().node = host.port().guid = 0;
        host.sample.listed =
            Listing{"d", {listed(0, "mlx5_0"), listed(1, "mlx5_1"), listed(5, "mlx5_5")}, {}};
        CHECK(host.run(300s).empty());
    }
    SECTION("a device that the configuration leaves out") {
        host.sample.ib->ports.pop_back();
        host.sample.ib->ignored = {guid(1)};
        host.sample.listed = Listing{"d", {listed(0, "mlx5_0"), listed(1, "mlx5_1")}, {}};
        CHECK(host.run(300s).empty());
    }
    CHECK(host.judge.fabric() == (host.sample.listed ? "d" : ""));
}

TEST_CASE("a working HCA in the place of the listed one is a matter of the file, and evicts nobody") {
    Host host;
    SECTION("exchanged") {
        host.port().node = host.port().guid = guid(20);
        host.sample.listed = Listing{"d", {listed(0, "mlx5_0"), listed(1, "mlx5_1")}, {}};
        const auto findings = host.run(121s);
        REQUIRE(findings.size() == 1);
        CHECK(find(findings, "ib.changed", "mlx5_0:1")->severity == Severity::warn);
    }
    SECTION("all, by whatever names: the file has another host's") {
        host.sample.listed = Listing{"d", {listed(20, "HCA-1"), listed(21, "HCA-2")}, {}};
        const auto findings = host.run(121s);
        REQUIRE(findings.size() == 2);
        for (const auto& finding : findings)
            CHECK(finding.rule == "ib.changed");
    }
    SECTION("but a dead one whose neighbours have moved up is missing") {
        host.port().device = "mlx5_0";
        host.sample.ib->ports.pop_back();
        host.port().node = host.port().guid = guid(1); // the second HCA, now the first device
        host.sample.listed = Listing{"d", {listed(0, "mlx5_0"), listed(1, "mlx5_1")}, {}};
        const auto findings = host.run(121s);
        REQUIRE(findings.size() == 1);
        CHECK(find(findings, "ib.missing", "mlx5_0:1")->severity == Severity::evict);
    }
    // A file that is right again ends it.
    host.sample.listed = Listing{"e", {}, {}};
    for (const auto& port : host.sample.ib->ports)
        host.sample.listed->ports.push_back({port.node, 0, 1, true, "x:1"});
    CHECK(host.run(31s).empty());
    CHECK(host.judge.fabric() == "e");
}

TEST_CASE("a device that is renamed has not vanished") {
    Host host;
    host.run(5s);
    host.port(1).device = "ibp24s0";
    CHECK(host.run(120s).empty());
    host.port(1).state = "DOWN";
    CHECK(find(host.run(11s), "ib.link_down", "ibp24s0:1"));
    host.port(1).device = "mlx5_1";
    host.port(1).state = "ACTIVE";
    CHECK(host.run(60s).empty()); // what it was called by is over too
}

TEST_CASE("a source that does not answer neither raises nor clears") {
    Host host;
    host.gpu().reasons = 0x80;
    CHECK(host.run(10s).size() == 1);
    const auto gpus = host.sample.gpus;
    host.sample.gpus.reset();
    host.sample.ib.reset();
    CHECK(host.run(120s).size() == 1); // the ports are not "vanished" either
    host.sample.gpus = gpus;
    host.gpu().reasons = 0;
    CHECK(host.run(31s).empty());
}

TEST_CASE("each row says where its numbers come from; throttle names are the configuration's") {
    std::string names;
    for (const auto& rule : shipped_rules()) {
        CHECK_FALSE(rule.source.empty());
        if (rule.test == Test::bit)
            names += (names.empty() ? "" : ", ") +
                     std::string(rule.finding().substr(rule.finding().rfind('.') + 1));
    }
    const auto words = base::find_key("throttle", "reasons")->bounds.words;
    CHECK(names == words);
    for (const auto& name : Limits{}.throttle_evicts)
        CHECK(words.find(name) != std::string_view::npos);
}
