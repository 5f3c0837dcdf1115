#include "probe/proc_host.hpp"

#include "unit/folder.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <set>
#include <unistd.h>

using namespace std::chrono_literals;
using probe::ClockSource;
using probe::ProcHost;

namespace {

// A tree of /proc and one of /sys, and two clocks.
struct Host {
    test::Folder folder;
    probe::Clocks clocks{100s, 1.7e12, true};
    ProcHost probe{folder.path / "proc", folder.path / "sys", [this] { return clocks; }};

    void write(const std::string& path, std::string_view text) const {
        std::filesystem::create_directories((folder.path / path).parent_path());
        std::ofstream(folder.path / path, std::ios::trunc) << text;
    }
    void remove(const std::string& path) const { std::filesystem::remove_all(folder.path / path); }
    void process(int pid, std::string_view name, char state, int started = 500) const {
        const auto number = std::to_string(pid);
        write("proc/" + number + "/stat", number + " (" + std::string(name) + ") " + state +
                                              " 1 1 1 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 " +
                                              std::to_string(started) + " 1000 200 18446744073709551615\n");
    }
    probe::HostSample after(base::Duration time) {
        clocks.since_boot += time;
        clocks.wall_ms += static_cast<double>(time.count());
        return probe.sample();
    }
};

const std::string route_head =
    "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n";

} // namespace

TEST_CASE("a host of which nothing can be read says nothing, and that is no fault") {
    ProcHost probe("/nonexistent/proc", "/nonexistent/sys");
    for (int i = 0; i < 3; ++i) {
        const auto sample = probe.sample();
        CHECK(sample.memory.empty());
        CHECK_FALSE(sample.clock_source);
        CHECK_FALSE(sample.fabric_manager);
        CHECK_FALSE(sample.peer_memory);
        CHECK_FALSE(sample.carrier_changes);
        CHECK_FALSE(sample.blocked_s);
    }
}

TEST_CASE("a process runs or not, by the kernel's name for it") {
    Host host;
    CHECK_FALSE(probe::runs("slurmd", host.folder.path / "proc"));
    host.write("proc/4711/comm", "slurmdbd\n");
    host.write("proc/self/comm", "slurmd\n"); // no process of its own
    CHECK_FALSE(probe::runs("slurmd", host.folder.path / "proc"));
    host.write("proc/4712/comm", "slurmd\n");
    CHECK(probe::runs("slurmd", host.folder.path / "proc"));
}

TEST_CASE("memory errors are read through files kept open; nonsense is no number") {
    Host host;
    host.write("sys/devices/system/edac/mc/mc0/ce_count", "12\n");
    host.write("sys/devices/system/edac/mc/mc0/ue_count", "0\n");
    host.write("sys/devices/system/edac/mc/mc1/ce_count", "-1\n");
    host.write("sys/devices/system/edac/mc/power/control", "auto\n");
    auto sample = host.after(0s);
    REQUIRE(sample.memory.size() == 2);
    CHECK(sample.memory[0].name == "mc0");
    CHECK(sample.memory[0].corrected == 12U);
    CHECK(sample.memory[0].uncorrected == 0U);
    CHECK_FALSE(sample.memory[1].corrected);
    CHECK_FALSE(sample.memory[1].uncorrected);
    host.write("sys/devices/system/edac/mc/mc0/ue_count", "1\n");
    CHECK(host.after(10s).memory[0].uncorrected == 1U);
}

TEST_CASE("the clock source by its kind and name") {
    Host host;
    const auto path = "sys/devices/system/clocksource/clocksource0/current_clocksource";
    const std::pair<std::string, ClockSource> kinds[] = {
        {"tsc", ClockSource::tsc},         {"tsc-early", ClockSource::tsc},
        {"kvm-clock", ClockSource::other}, {"arch_sys_counter", ClockSource::other},
        {"hpet", ClockSource::hpet},       {"acpi_pm", ClockSource::acpi_pm},
        {"jiffies", ClockSource::jiffies},
    };
    for (const auto& [name, kind] : kinds) {
        host.write(path, name + "\n");
        const auto sample = host.after(10s);
        CHECK(sample.clock_source == kind);
        CHECK(sample.clock_source_name == name);
    }
}

TEST_CASE("a step of the time of day, either way, and what is none") {
    Host host;
    CHECK_FALSE(host.after(0s).clock_step_ms); // nothing to compare with
    CHECK(host.after(10s).clock_step_ms == 0);
    host.clocks.wall_ms += 1500;
    CHECK(host.after(10s).clock_step_ms == 1500);
    CHECK(host.after(10s).clock_step_ms == 0);
    host.clocks.wall_ms -= 700;
    CHECK(host.after(10s).clock_step_ms == 700);
    // Put aside between the two readings: nothing is known, and the next look compares with the last good
    // one.
    host.clocks.wall_ms += 300;
    host.clocks.close = false;
    CHECK_FALSE(host.after(10s).clock_step_ms);
    host.clocks.wall_ms -= 300;
    host.clocks.close = true;
    CHECK(host.after(10s).clock_step_ms == 0);
    CHECK(probe::read_clocks().since_boot > 0s);
}

TEST_CASE("processes in uninterruptible sleep in the NVIDIA driver, and others that sleep so") {
    Host host;
    host.write("proc/driver/nvidia/gpus/0000:14:00.0/information", "");
    host.process(10, "kworker/u8:3", 'D');
    host.process(11, "nvidia-smi", 'S');
    host.process(12, "cp (old) D 1", 'D'); // brackets in a name
    host.write("proc/12/stack", "[<0>] rpc_wait_bit_killable+0x1e/0xb0 [sunrpc]\n");
    auto sample = host.after(0s);
    CHECK(sample.blocked_s == 0);
    CHECK(sample.blocked_name.empty());

    host.process(11, "nvidia-smi", 'D');
    host.process(20, "python3", 'D');
    host.write("proc/20/stack", "[<0>] os_acquire_mutex+0x3b/0x50 [nvidia]\n");
    host.after(60s);
    CHECK(host.after(30s).blocked_s == 0); // nobody looks again before the minute is over
    sample = host.after(30s);
    CHECK(sample.blocked_s == 60);
    host.process(11, "nvidia-smi", 'S');
    sample = host.after(60s);
    CHECK(sample.blocked_s == 120);
    CHECK(sample.blocked_name == "python3");
    // The same number, another process.
    host.process(20, "python3", 'D', 900);
    CHECK(host.after(60s).blocked_s == 0);
    host.remove("proc/20");
    CHECK(host.after(60s).blocked_name.empty());
    // Files that end too early.
    host.write("proc/21/stat", "21 (nvidia-smi");
    host.write("proc/22/stat", "22 (nvidia-smi) D 1 1");
    host.write("proc/23/stat", "");
    CHECK(host.after(60s).blocked_name == "nvidia-smi");
}

TEST_CASE(
    "the fabric manager is missed where there are switches, peer memory where there are GPUs and HCAs") {
    Host host;
    host.process(30, "nv-fabricmanage", 'S');
    CHECK_FALSE(host.after(0s).fabric_manager);
    host.write("proc/driver/nvidia-nvswitch/devices/0000:05:00.0", "");
    CHECK(host.after(60s).fabric_manager == true);
    host.remove("proc/30");
    CHECK(host.after(60s).fabric_manager == false);

    host.write("proc/driver/nvidia/gpus/0000:14:00.0/information", "");
    CHECK_FALSE(host.after(60s).peer_memory);
    host.write("sys/class/infiniband/mlx5_0/node_guid", "");
    CHECK(host.after(60s).peer_memory == false);
    for (const auto* module : {"sys/module/nvidia_peermem/refcnt", "sys/module/nv_peer_mem/refcnt"}) {
        host.write(module, "0\n");
        CHECK(host.after(10s).peer_memory == true);
        host.remove(std::filesystem::path(module).parent_path().string());
        CHECK(host.after(10s).peer_memory == false);
    }
}

TEST_CASE("carrier changes are those of the default route of the least metric") {
    Host host;
    host.write("sys/class/net/eno1/carrier_changes", "2\n");
    host.write("sys/class/net/eno2/carrier_changes", "40\n");
    host.write("proc/net/route", route_head +
                                     "eno2\t00000000\t0101A8C0\t0003\t0\t0\t200\t00000000\t0\t0\t0\n"
                                     "ib0\t0000A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"
                                     "eno1\t00000000\t0101A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n");
    auto sample = host.after(0s);
    CHECK(sample.net_device == "eno1");
    CHECK(sample.carrier_changes == 2U);
    host.write("sys/class/net/eno1/carrier_changes", "4\n");
    CHECK(host.after(10s).carrier_changes == 4U);
    host.write("proc/net/route",
               route_head + "eno2\t00000000\t0101A8C0\t0003\t0\t0\t200\t00000000\t0\t0\t0\n");
    sample = host.after(60s);
    CHECK(sample.net_device == "eno2");
    CHECK(sample.carrier_changes == 40U);
    for (const auto* nonsense : {"", "../../x\t00000000\t0\t0\t0\t0\t0\t00000000\n", "eno1\t00000000\n"}) {
        host.write("proc/net/route", route_head + nonsense);
        CHECK_FALSE(host.after(60s).carrier_changes);
    }
}

TEST_CASE("the machine that runs the tests can be read, again and again, without files left open") {
    const auto open_files = [] {
        std::set<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
            names.insert(entry.path().filename().string());
        return names.size();
    };
    probe::Clocks clocks{100s, 1.7e12, true};
    ProcHost probe("/proc", "/sys", [&] { return clocks; });
    probe.sample();
    const auto before = open_files();
    for (int i = 0; i < 20; ++i) {
        clocks.since_boot += 60s;
        probe.sample();
    }
    CHECK(open_files() == before);
}
