// Rules that look back for hours: flaps of a port, the mean of PCIe links; and lines of mlx5's driver.
#include "restart/watch/judge.hpp"

#include "sound_host.hpp"

#include "restart/watch/rules/rule_set.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <optional>

using namespace std::chrono_literals;
using namespace restart;

namespace {

// A host with one port and one busy GPU, and a clock that the test moves.
struct Host : test::Looks {
    Host() {
        PortSample port;
        port.device = "mlx5_0";
        port.pci = "0000:13:00.0";
        port.state = "ACTIVE";
        port.phys_state = "LinkUp";
        port.rate_gbps = 400;
        port.node = port.guid = 0x946dae0000010010;
        port.pcie_width = port.pcie_width_max = 16;
        port.pcie_speed = port.pcie_speed_max = 32;
        sample.ib.emplace().ports.push_back(port);
        GpuSample gpu;
        gpu.reasons = 0;
        gpu.pcie_generation = gpu.pcie_generation_max = 5;
        gpu.pcie_width = gpu.pcie_width_max = 16;
        sample.gpus.emplace().push_back(gpu);
        run(5s);
    }
    PortSample& port() { return sample.ib->ports.at(0); }
    GpuSample& gpu() { return sample.gpus->at(0); }

    std::optional<Finding> find(const std::vector<Finding>& findings, std::string_view rule) const {
        for (const auto& finding : findings)
            if (finding.rule == rule) return finding;
        return std::nullopt;
    }
    // The port goes down for so long, and comes up again; what is found of flaps once it is up.
    std::optional<Finding> flap(base::Duration down) {
        sample.ib->ports[0].state = "DOWN";
        run(down);
        sample.ib->ports[0].state = "ACTIVE";
        return find(run(5s), "ib.flaps");
    }
    std::vector<Finding> say(std::string text, std::string device = "0000:13:00.0",
                             probe::Driver driver = probe::Driver::mlx5) {
        sample.driver_lines = {{driver, std::move(device), std::move(text)}};
        return run(10s);
    }
};

} // namespace

TEST_CASE("a port that is down for 25 s or longer and comes back, three times in 12 hours, flaps") {
    Host host;
    CHECK_FALSE(host.flap(27s));
    host.run(1h, 2s);
    CHECK_FALSE(host.flap(27s));
    host.run(1h, 2s);
    const auto third = host.flap(27s);
    REQUIRE(third);
    CHECK(third->component == "mlx5_0:1");
    CHECK(third->severity == Severity::warn);
    CHECK(third->fault == "link");
    CHECK(third->evidence.find("3 times within 12") != std::string::npos);
    // It is told as long as three lie within 12 hours, also while the port is up.
    CHECK(host.find(host.run(9h, 2s), "ib.flaps"));
    CHECK_FALSE(host.find(host.run(2h, 2s), "ib.flaps"));
    // Of the three only the last lies within 12 hours now.
    CHECK_FALSE(host.flap(27s));
}

TEST_CASE("shorter downs, two long ones, and a port that stays down are no flaps") {
    SECTION("a retrain takes seconds") {
        Host host;
        for (int i = 0; i < 20; ++i) {
            CHECK_FALSE(host.flap(24s));
            host.run(1min);
        }
    }
    SECTION("two") {
        Host host;
        host.flap(1min);
        CHECK_FALSE(host.flap(10min));
    }
    SECTION("one that lasts is a link that is down, which is another rule's") {
        Host host;
        host.sample.ib->ports[0].state = "DOWN";
        const auto findings = host.run(13h, 2s);
        CHECK_FALSE(host.find(findings, "ib.flaps"));
        CHECK(host.find(findings, "ib.link_down"));
    }
    SECTION("three, of which the first is too old") {
        Host host;
        host.flap(27s);
        host.run(11h, 2s);
        host.flap(27s);
        host.run(58min, 2s);
        host.run(3min, 2s);
        CHECK_FALSE(host.flap(27s));
    }
}

TEST_CASE("a PCIe link below its floor on average of twelve hours is a finding, shorter or less is none") {
    const auto mean = [](Host& host, int hours_low, const auto& low, const auto& sound) {
        low(host);
        host.run(hours_low * 1h, 5s);
        sound(host);
        return host.run((13 - hours_low) * 1h, 5s);
    };
    const auto slow = [](Host& host) { host.gpu().pcie_generation = 1; };
    const auto fast = [](Host& host) { host.gpu().pcie_generation = 5; };
    SECTION("generation 1 in three of 12 samples: 4 of 5") {
        Host host;
        const auto findings = mean(host, 3, slow, fast);
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].rule == "gpu.pcie_speed");
        CHECK(findings[0].severity == Severity::warn);
        CHECK(findings[0].fault == "pcie");
        CHECK(findings[0].evidence.find("on average of 12 samples, one each 1") != std::string::npos);
    }
    SECTION("in one of 12: 4.7 of 5") {
        Host host;
        CHECK(mean(host, 1, slow, fast).empty());
    }
    SECTION("an idle GPU lowers it by itself") {
        Host host;
        host.gpu().reasons = 1;
        slow(host);
        CHECK(host.run(26h, 5s).empty());
    }
    SECTION("before there are twelve samples nothing is known") {
        Host host;
        slow(host);
        CHECK(host.run(10h, 5s).empty());
        CHECK(host.run(2h, 5s).size() == 1);
        // It ends when the mean is back.
        fast(host);
        CHECK(host.run(13h, 5s).empty());
    }
    SECTION("lanes that come and go, never for a minute") {
        Host host;
        // They are there when the sample is taken, an hour after the last.
        host.run(1h - 10s, 5s);
        for (int hour = 0; hour < 13; ++hour) {
            host.gpu().pcie_width = 8;
            host.run(40s, 5s);
            host.gpu().pcie_width = 16;
            host.run(1h - 40s, 5s);
        }
        const auto findings = host.run(5s);
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].rule == "gpu.pcie_width");
        CHECK(findings[0].evidence.starts_with("PCIe x8"));
    }
}

TEST_CASE("a module is too hot above its own bound until it is a twentieth below it") {
    Host host;
    const auto at = [&](double celsius) {
        host.port().module_celsius = celsius;
        return !host.run(100s).empty();
    };
    host.port().module_celsius = 90; // whose bound is not known
    CHECK(host.run(100s).empty());
    host.port().module_critical = 70;
    CHECK_FALSE(at(70));
    host.port().module_celsius = 71;
    CHECK(host.run(60s).empty());
    const auto findings = host.run(2s);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].rule == "ib.module_temperature");
    CHECK(findings[0].severity == Severity::warn);
    CHECK(
        findings[0].evidence.starts_with("the module (transceiver) of its port has 71 C, critical are 70 C"));
    CHECK(at(67));
    CHECK_FALSE(at(66));
    CHECK_FALSE(at(69));
}

TEST_CASE("the PCIe link of an HCA: too few lanes for a minute, a mean below a floor of 12 hourly samples") {
    Host host;
    // Two ports of one HCA have one link, and what it could be is known.
    host.sample.ib->ports.push_back(host.port());
    host.sample.ib->ports[1].port = 2;
    host.run(5s);
    SECTION("fewer lanes for a minute, and not for less") {
        host.port().pcie_width = 8;
        CHECK(host.run(60s).empty());
        const auto findings = host.run(1s);
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].rule == "ib.pcie_width");
        CHECK(findings[0].component == "mlx5_0");
        CHECK(findings[0].fault == "pcie");
        CHECK(findings[0].evidence.starts_with("PCIe x8 of x16"));
        host.port().pcie_width = 16;
        CHECK(host.run(31s).empty());
    }
    SECTION("one lane of sixteen less, in two of 12 samples") {
        host.run(1h - 10s, 5s);
        for (int hour = 0; hour < 13; ++hour) {
            host.port().pcie_width = hour < 2 ? 15 : 16;
            host.run(40s, 5s);
            host.port().pcie_width = 16;
            host.run(1h - 40s, 5s);
        }
        CHECK(host.run(5s).empty());
    }
    SECTION("lanes that come and go, never for a minute") {
        host.run(1h - 20s, 5s);
        for (int hour = 0; hour < 13; ++hour) {
            host.port().pcie_width = 8;
            host.run(40s, 5s);
            host.port().pcie_width = 16;
            host.run(1h - 40s, 5s);
        }
        const auto findings = host.run(5s);
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].rule == "ib.pcie_width");
        CHECK(findings[0].evidence.find("on average of 12 samples") != std::string::npos);
    }
    const auto slow_for = [&](int hours) {
        host.port().pcie_speed = 2.5;
        host.run(hours * 1h, 5s);
        host.port().pcie_speed = 32;
        return host.run((13 - hours) * 1h, 5s);
    };
    SECTION("2.5 GT/s in three of 12 samples") {
        const auto findings = slow_for(3);
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].rule == "ib.pcie_speed");
        CHECK(findings[0].component == "mlx5_0");
        CHECK(findings[0].severity == Severity::warn);
    }
    SECTION("2.5 GT/s in one of 12 samples") {
        CHECK(slow_for(1).empty());
    }
    SECTION("an HCA whose most is not known is not judged") {
        host.port().pcie_width_max.reset();
        host.port().pcie_width = 1;
        CHECK(host.run(26h, 5s).empty());
    }
    SECTION("an HCA that has gone is missed, and its link no more") {
        host.port().pcie_width = 8;
        host.run(70s);
        host.sample.ib->ports.clear();
        const auto findings = host.run(40s);
        CHECK_FALSE(host.find(findings, "ib.pcie_width"));
        CHECK(host.find(findings, "ib.vanished"));
    }
}

TEST_CASE("lines of mlx5's driver: each rule fires on the kernel's words, on the HCA that they name") {
    struct Line {
        std::string_view rule, text;
        bool at_once;
    };
    const Line lines[] = {
        {"hca.command_timeout",
         "wait_func:1195:(pid 1967079): ENABLE_HCA(0x104) timeout. Will cause a leak of a command resource",
         true},
        {"hca.health", "poll_health:825:(pid 0): device's health compromised - reached miss count", true},
        {"hca.unrecoverable", "print_health_info:431:(pid 0): synd 0x8: unrecoverable hardware error", true},
        {"hca.lockup", "soft lockup - CPU#12 stuck for 23s in mlx5e_napi_poll", true},
        {"hca.tx_timeout", "ens1f0np0: TX timeout detected", false},
        {"hca.tx_timeout", "eth0: NETDEV WATCHDOG: CPU: 3: transmit queue 0 timed out 5010 ms", false},
        {"hca.rx_timeout", "ens1f0np0: RX timeout on channel: 3, ICOSQ: 0x1f RQ: 0x2a, CQ: 0x1d", false},
        {"hca.slot_power",
         "mlx5_pcie_event:301:(pid 12): Detected insufficient power on the PCIe slot (25W).", false},
        {"hca.overheat", "temp_warn:180:(pid 0): High temperature on sensors with bit set 0 1", false},
        {"hca.overheat", "Port module event[error]: module 0, Cable error, High Temperature", false},
        {"hca.unplugged", "port_module:252:(pid 0): Port module event: module 0, Cable unplugged", false},
    };
    for (const auto& line : lines) {
        INFO(line.text);
        Host host;
        auto findings = host.say(std::string(line.text));
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].rule == line.rule);
        CHECK(findings[0].component == "mlx5_0");
        CHECK(findings[0].severity == (line.at_once ? Severity::warn : Severity::info));
        CHECK(findings[0].evidence.find(line.text) != std::string::npos);
        host.say(std::string(line.text));
        findings = host.say(std::string(line.text));
        CHECK(findings.at(0).severity == Severity::warn);
        CHECK(host.run(25h, 1min).empty());
        // Three that are further apart.
        for (int i = 0; i < 4 && !line.at_once; ++i) {
            CHECK(host.say(std::string(line.text)).at(0).severity == Severity::info);
            host.run(31min, 1min);
        }
    }
}

TEST_CASE(
    "what mlx5's driver says every day is no finding; an HCA that nobody knows is called by its address") {
    Host host;
    for (const auto* text :
         {"firmware version: 28.39.1002", "Port: 1 Link DOWN", "ens1f0np0: Link up",
          "Port module event: module 0, Cable plugged", "Rate limit: 127 rates are supported",
          "mlx5_pcie_event:306:(pid 12): PCIe slot advertised sufficient power (75W).", ""})
        CHECK(host.say(text).empty());
    CHECK(host.say("TX timeout detected", "0000:ff:00.0").at(0).component == "hca/0000:ff:00.0");
    CHECK(host.say("TX timeout detected", "").size() == 2);
    // A site's own row for a line that it knows.
    const auto rules = RuleSet::from_text("[[rule]]\nname = \"site.link\"\nsignal = \"hca.log\"\n"
                                          "text = \"*Link DOWN*\"\nwindow = \"1h\"\n",
                                          "site");
    REQUIRE(rules);
    host.judge.set_rules(Limits{}, *rules);
    CHECK(host.find(host.say("Port: 1 Link DOWN"), "site.link"));
}

TEST_CASE("what the kernel log says of GPUs, NVSwitches and PCIe links is found as grave as it says") {
    using enum probe::Driver;
    struct Line {
        probe::Driver driver;
        std::string device, text;
        std::string_view rule, component;
        Severity severity;
    };
    const std::string gpu = "0000:14:00.0", hca = "0000:13:00.0";
    const Line lines[] = {
        {nvidia, gpu, "GPU has fallen off the bus.", "gpu.log.lost", "gpu0", Severity::fatal},
        {nvidia, gpu, "RmInitAdapter failed! (0x62:0x40:2477)", "gpu.log.start", "gpu0", Severity::evict},
        {nvidia, "0000:99:00.0", "rm_init_adapter failed, device minor number 3", "gpu.log.start",
         "gpu/0000:99:00", Severity::evict},
        {nvswitch, "nvswitch2", "SXid 20034, Fatal, Link 30 LTSSM Fault Up", "nvswitch.log.fatal",
         "nvswitch2", Severity::evict},
        {nvswitch, "nvswitch2", "SXid 20009, Non-fatal, Link 28 RX Short Error Rate", "nvswitch.log.nonfatal",
         "nvswitch2", Severity::info},
        {pcie, hca, "PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer, (Receiver ID)",
         "pci.log.fatal", "mlx5_0", Severity::evict},
        {pcie, gpu, "AER: Multiple Uncorrectable (Fatal) error message received from 0000:14:00.0",
         "pci.log.fatal", "gpu0", Severity::evict},
        {pcie, gpu, "DPC: containment event, status:0x1f01 source:0x0000", "pci.log.fatal", "gpu0",
         Severity::evict},
        {pcie, gpu, "AER: can't recover (no error_detected callback)", "pci.log.unrecovered", "gpu0",
         Severity::evict},
        {pcie, hca, "pciehp: Slot(1): Card not present", "pci.log.gone", "mlx5_0", Severity::evict},
        {pcie, hca, "AER: PCIe Bus Error: severity=Uncorrectable (Non-Fatal), type=Transaction Layer",
         "pci.log.nonfatal", "mlx5_0", Severity::info},
    };
    for (const auto& line : lines) {
        INFO(line.text);
        Host host;
        host.gpu().pci = "0000:14:00.0";
        host.run(1s);
        const auto findings = host.say(line.text, line.device, line.driver);
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].rule == line.rule);
        CHECK(findings[0].component == line.component);
        CHECK(findings[0].severity == line.severity);
    }
    Host host;
    host.gpu().pci = "0000:14:00.0";
    host.run(1s);
    for (const auto& [driver, device, text] :
         {probe::DriverLine{pcie, gpu,
                            "PCIe Bus Error: severity=Corrected, type=Physical Layer, (Receiver ID)"},
          probe::DriverLine{pcie, gpu, "AER: Corrected error received: 0000:14:00.0"},
          probe::DriverLine{pcie, gpu, "pciehp: Slot(1): Link Up"},
          probe::DriverLine{pcie, "0000:55:00.0", "pciehp: Slot(2): Card not present"}, // a disk
          probe::DriverLine{nvidia, gpu, "enabling device (0140 -> 0142)"}})
        CHECK(host.say(text, device, driver).empty());
    // The driver's XID and the slot's word are the cause, beside which a lost GPU is told once.
    host.say("pciehp: Slot(1): Card not present", gpu, pcie);
    const auto findings = host.say("GPU has fallen off the bus.", gpu, nvidia);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].rule == "pci.log.gone");
}
