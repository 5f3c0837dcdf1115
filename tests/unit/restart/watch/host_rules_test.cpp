// Every rule of the host itself: it fires on its fault, and stays silent just below it.
#include "restart/watch/judge.hpp"

#include "sound_host.hpp"

#include "restart/watch/rules/table.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cerrno>
#include <optional>

using namespace std::chrono_literals;
using namespace restart;

namespace {

// A sound host that has all there is to judge, and a clock that the test moves.
struct Host : test::Looks {
    Host() {
        sample.host.emplace();
        sample.host->memory = {{"mc0", 7, 0}, {"mc1", 0, 0}};
        sample.host->clock_source = probe::ClockSource::tsc;
        sample.host->clock_source_name = "tsc";
        sample.host->clock_step_ms = 0;
        sample.host->fabric_manager = sample.host->peer_memory = true;
        sample.host->net_device = "eno1";
        sample.host->carrier_changes = 2;
        sample.host->blocked_s = 0;
        sample.mounts = {{.path = "/", .answered = true, .free_percent = 60}};
    }
    HostSample& of() { return *sample.host; }
    MountSample& mount() { return sample.mounts.at(0); }
};

struct Fault {
    std::string_view rule, component;
    void (*near)(Host&); // just not a fault
    void (*inject)(Host&);
    std::string_view says;
};

const Fault faults[] = {
    {"host.driver_blocked", "host", [](Host& h) { h.of().blocked_s = 300; },
     [](Host& h) {
         h.of().blocked_s = 301;
         h.of().blocked_name = "nvidia-smi";
     },
     "nvidia-smi has been in uninterruptible sleep for 301 s"},
    {"host.memory_uncorrected", "mc1", [](Host&) {}, [](Host& h) { h.of().memory[1].uncorrected = 1; },
     "memory_uncorrected grew by 1 within"},
    {"host.memory_corrected", "mc0", [](Host& h) { h.of().memory[0].corrected = 17; },
     [](Host& h) { h.of().memory[0].corrected = 18; }, "memory_corrected grew by 11 within"},
    {"host.clock_source", "host",
     [](Host& h) {
         h.of().clock_source = probe::ClockSource::other;
         h.of().clock_source_name = "kvm-clock";
     },
     [](Host& h) {
         h.of().clock_source = probe::ClockSource::hpet;
         h.of().clock_source_name = "hpet";
     },
     "the kernel tells the time by hpet"},
    {"host.clock_step", "host", [](Host& h) { h.of().clock_step_ms = 128; },
     [](Host& h) { h.of().clock_step_ms = 129; }, "the time of day jumped by 129 ms"},
    {"host.fabric_manager", "host", [](Host& h) { h.of().fabric_manager.reset(); }, // no NVSwitch
     [](Host& h) { h.of().fabric_manager = false; }, "nv-fabricmanager does not run"},
    {"host.slurmd", "host", [](Host& h) { h.sample.slurmd.reset(); }, // of LSF
     [](Host& h) { h.sample.slurmd = false; }, "slurmd does not run any more"},
    {"host.peer_memory", "host", [](Host& h) { h.of().peer_memory.reset(); },
     [](Host& h) { h.of().peer_memory = false; }, "there is no GPUDirect RDMA"},
    {"host.carrier_changes", "eno1", [](Host& h) { h.of().carrier_changes = 4; },
     [](Host& h) { h.of().carrier_changes = 5; }, "carrier_changes grew by 3 within"},
    {"mount.silent", "/", [](Host& h) { h.mount().silent_s = 60; }, [](Host& h) { h.mount().silent_s = 61; },
     "it has not answered for 61 s"},
    {"mount.failed", "/", [](Host&) {}, [](Host& h) { h.mount().failed = ESTALE; },
     "it cannot be looked at: Stale file handle"},
    {"mount.read_only", "/", [](Host&) {}, [](Host& h) { h.mount().read_only = true; },
     "it is mounted read-only"},
    {"mount.full", "/", [](Host& h) { h.mount().free_percent = 10; },
     [](Host& h) { h.mount().free_percent = 9.5; }, "9.5 percent are free (allowed: 10)"},
};

bool is_of_host(const Rule& rule) {
    return rule.signal.starts_with("host.") || rule.signal.starts_with("mount.");
}

} // namespace

TEST_CASE("the host itself: each rule fires after its window, not before, and not just below its limit") {
    for (const auto& rule : shipped_rules()) {
        if (!is_of_host(rule) || rule.name == "host.carrier_changes#day") continue;
        INFO(rule.name);
        const auto fault = std::find_if(std::begin(faults), std::end(faults),
                                        [&](const auto& f) { return f.rule == rule.name; });
        REQUIRE(fault != std::end(faults));
        Host sound;
        sound.run(5s);
        fault->near(sound);
        CHECK(sound.run(15min).empty());

        const auto window = rule.counts_growth() ? base::Duration{0} : *rule.window;
        Host host;
        host.run(5s);
        fault->inject(host);
        if (window > 0s) CHECK(host.run(window).empty());
        const auto findings = host.run(1s);
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].rule == rule.name);
        CHECK(findings[0].component == fault->component);
        CHECK(findings[0].severity == rule.severity);
        // Nothing of these says for certain that a job must move.
        CHECK(findings[0].severity <= Severity::warn);
        CHECK(findings[0].evidence.find(fault->says) != std::string::npos);
    }
}

TEST_CASE("a carrier that comes and goes five times in a day is a finding, four times is none") {
    Host host;
    host.run(5s);
    for (int times = 1; times <= 5; ++times) {
        host.of().carrier_changes = *host.of().carrier_changes + 2;
        const auto findings = host.run(20min);
        CHECK(findings.size() == (times < 5 ? 0 : 1));
    }
    // Another default route counts for itself, and what was said of the old one is over.
    host.of().net_device = "eno2";
    host.of().carrier_changes = 90;
    CHECK(host.run(2min).empty());
}

TEST_CASE("a boot, a source that does not answer and a file system without a first answer are no faults") {
    Host host;
    host.run(5s);
    SECTION("counters that begin anew") {
        host.of().memory[0].corrected = 0;
        host.of().carrier_changes = 1;
    }
    SECTION("a service that starts minutes after the host") {
        host.of().fabric_manager = host.of().peer_memory = false;
        CHECK(host.run(4min).empty());
        host.of().fabric_manager = host.of().peer_memory = true;
    }
    SECTION("nothing is read") {
        host.sample.host.reset();
    }
    SECTION("a file system that is slow at first") {
        host.mount() = {.path = "/scratch", .silent_s = 30};
    }
    CHECK(host.run(10min).empty());
}

TEST_CASE("a file system that hangs neither clears what was known of it nor invents more") {
    Host host;
    host.mount().read_only = true;
    host.run(2min);
    host.mount().failed = EIO;
    const auto findings = host.run(2min);
    CHECK(findings.size() == 2); // read-only still, and failed
    host.mount().failed = 0;
    host.mount().read_only = false;
    CHECK(host.run(2min).empty());
}
