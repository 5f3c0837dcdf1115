#include "probe/sysfs_ib.hpp"

#include "hardware.hpp"

#include "probe/kernel_file.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>

using probe::SysfsIb;
using Depth = probe::SysfsIb::Depth;

namespace {

// Of both folders.
const std::vector<std::string> counters{"link_downed", "symbol_error", "port_rcv_errors",
                                        "rnr_nak_retry_err"};

} // namespace

TEST_CASE("a generated host: eight ports, their state, rate and counters") {
    const test::Hardware host(8);
    SysfsIb sysfs(host.sysfs(), counters);
    const auto judged = sysfs.sample(Depth::judged);
    REQUIRE(judged.ports.size() == 8);
    const auto& port = judged.ports[3];
    CHECK(port.device == "mlx5_3");
    CHECK(port.pci == "0000:67:00.0");
    CHECK(port.port == 1);
    CHECK(port.state == "ACTIVE");
    CHECK(port.phys_state == "LinkUp");
    CHECK(port.rate_gbps == 400);
    CHECK(port.node == 0x946dae0000010040);
    CHECK(port.guid == 0x946dae0000010040);
    for (const auto& name : counters) {
        INFO(name);
        CHECK(port.counters.contains(name));
    }
    CHECK_FALSE(port.counters.contains("port_xmit_data"));
    const auto all = sysfs.sample(Depth::all);
    CHECK(all.ports[3].counters.size() == 46);
    CHECK(all.ports[3].counters.at("lifespan") == 12);
}

TEST_CASE("changes are seen through the files kept open, in values of any length") {
    const test::Hardware host(2);
    SysfsIb sysfs(host.sysfs(), counters);
    sysfs.sample(Depth::judged);
    host.set({"mlx5_1.link_downed=123456789", "mlx5_1.rnr_nak_retry_err=5", "mlx5_1.link=down"});
    auto port = sysfs.sample(Depth::judged).ports[1];
    CHECK(port.counters.at("link_downed") == 123456789);
    CHECK(port.counters.at("rnr_nak_retry_err") == 5);
    CHECK(port.state == "DOWN");
    CHECK(port.phys_state == "Polling");
    CHECK(port.rate_gbps == 40);
    host.set({"mlx5_1.link_downed=7", "mlx5_1.link=up"});
    port = sysfs.sample(Depth::judged).ports[1];
    CHECK(port.counters.at("link_downed") == 7);
    CHECK(port.state == "ACTIVE");
}

TEST_CASE("what a link has trained to is read again within five samples, and at once where it trains") {
    const test::Hardware host(1);
    SysfsIb sysfs(host.sysfs(), counters);
    sysfs.sample(Depth::judged);
    const auto rate = [&] { return sysfs.sample(Depth::judged).ports.at(0).rate_gbps; };
    const auto write = [&](const std::string& file, const std::string& text) {
        host.write("class/infiniband/mlx5_0/ports/1/" + file, text);
    };
    write("rate", "100 Gb/sec (1X NDR)\n");
    double seen = 400;
    for (int i = 0; i < 5; ++i)
        seen = rate();
    CHECK(seen == 100);
    write("state", "2: INIT\n");
    write("rate", "200 Gb/sec (2X NDR)\n");
    CHECK(rate() == 200);
    write("state", "4: ACTIVE\n");
    write("rate", "400 Gb/sec (4X NDR)\n");
    CHECK(rate() == 400);
}

TEST_CASE("the PCIe link of an HCA: what it has, and could have") {
    const test::Hardware host(2);
    const std::string pci = "class/infiniband/mlx5_0/device/";
    host.write("class/infiniband/mlx5_1/device/max_link_width", "255\n");
    host.write("class/infiniband/mlx5_1/device/max_link_speed", "Unknown\n");
    host.write("class/infiniband/mlx5_1/device/current_link_width", "0\n");
    host.write("class/infiniband/mlx5_1/device/physfn", ""); // a link to its HCA's folder
    SysfsIb sysfs(host.sysfs(), {});
    auto ports = sysfs.sample(Depth::judged).ports;
    CHECK(ports.at(0).pcie_width == 16);
    CHECK(ports[0].pcie_width_max == 16);
    CHECK(ports[0].pcie_speed == 32);
    CHECK(ports[0].pcie_speed_max == 32);
    CHECK_FALSE(ports[0].virtual_function);
    CHECK(ports.at(1).virtual_function);
    CHECK_FALSE(ports[1].pcie_width); // a virtual function has no link of its own
    CHECK_FALSE(ports[1].pcie_width_max);
    CHECK_FALSE(ports[1].pcie_speed_max);
    host.write(pci + "current_link_width", "8\n");
    host.write(pci + "current_link_speed", "2.5 GT/s PCIe\n");
    for (int i = 0; i < 5; ++i)
        ports = sysfs.sample(Depth::judged).ports;
    CHECK(ports.at(0).pcie_width == 8);
    CHECK(ports[0].pcie_speed == 2.5);
    for (const auto* garbage : {"", "-3\n", "x16\n", "99999999999999999999\n"}) {
        host.write(pci + "current_link_width", garbage);
        host.write(pci + "current_link_speed", garbage);
        for (int i = 0; i < 5; ++i)
            ports = sysfs.sample(Depth::judged).ports;
        CHECK_FALSE(ports.at(0).pcie_width);
        CHECK_FALSE(ports[0].pcie_speed);
    }
}

TEST_CASE("temperatures of an HCA and its module, each with its own bound, are read seldom") {
    const test::Hardware host(2);
    const auto sensor = [&](int number, const std::string& what, const std::string& text) {
        host.write("class/infiniband/mlx5_0/device/hwmon/hwmon7/temp" + std::to_string(number) + "_" + what,
                   text);
    };
    const auto chip = host.sysfs() / "class/infiniband/mlx5_0/device/hwmon/hwmon7";
    SysfsIb sysfs(host.sysfs(), {});
    const auto sample = [&](int times) {
        auto ports = sysfs.sample(Depth::judged).ports;
        for (int i = 1; i < times; ++i)
            ports = sysfs.sample(Depth::judged).ports;
        return ports.at(0);
    };
    CHECK_FALSE(sample(1).asic_celsius);
    // mlx5 adds them behind the device.
    std::filesystem::create_directories(chip);
    sensor(1, "label", "asic\n");
    sensor(1, "input", "54000\n");
    sensor(1, "crit", "105000\n");
    sensor(2, "label", "platform\n");
    sensor(2, "input", "99000\n");
    sensor(2, "crit", "98000\n");
    sensor(3, "label", "Module0\n");
    sensor(3, "input", "47125\n");
    sensor(3, "crit", "70000\n");
    CHECK_FALSE(sample(29).asic_celsius);
    auto port = sample(1);
    CHECK(port.asic_celsius == 54);
    CHECK(port.asic_critical == 105);
    CHECK(port.module_celsius == 47.125);
    CHECK(port.module_critical == 70);
    CHECK_FALSE(sysfs.sample(Depth::judged).ports.at(1).asic_celsius); // no such files

    sensor(3, "input", "71500\n");
    CHECK(sample(28).module_celsius == 47.125);
    CHECK(sample(1).module_celsius == 71.5);

    // What is refused, or nonsense, is not known, and not asked for again soon: the kernel logs each refusal.
    for (const auto* garbage : {"", "hot\n", "-4000\n", "255000\n", "99999999999999999999\n"}) {
        SysfsIb fresh(host.sysfs(), {});
        CHECK(fresh.sample(Depth::judged).ports.at(0).module_celsius == 71.5);
        sensor(3, "input", garbage);
        for (int i = 0; i < 30; ++i)
            port = fresh.sample(Depth::judged).ports.at(0);
        CHECK_FALSE(port.module_celsius);
        CHECK(port.asic_celsius == 54);
        sensor(3, "input", "71500\n");
        for (int i = 0; i < 60; ++i)
            port = fresh.sample(Depth::judged).ports.at(0);
        CHECK_FALSE(port.module_celsius);
    }

    // A module is put in, or another one, while we watch.
    sensor(3, "input", "");
    sysfs.sample(Depth::judged);
    for (int i = 0; i < 30; ++i)
        port = sysfs.sample(Depth::judged).ports.at(0);
    CHECK_FALSE(port.module_critical);
    sensor(3, "input", "48000\n");
    sensor(3, "crit", "75000\n");
    int seconds = 0;
    for (; seconds < 7'200 && !port.module_celsius; ++seconds)
        port = sysfs.sample(Depth::judged).ports.at(0);
    CHECK(seconds > 3'000);
    CHECK(port.module_celsius == 48);
    CHECK(port.module_critical == 75);
}

TEST_CASE("a directory that is kept open says what has changed in it") {
    const test::Hardware host(2);
    const auto path = host.sysfs() / "class/infiniband";
    probe::KeptFolder folder(path);
    CHECK(folder.names().empty());
    CHECK(folder.look());
    CHECK(folder.names() == std::vector<std::string>{"mlx5_0", "mlx5_1"});
    CHECK_FALSE(folder.look());
    std::filesystem::rename(path / "mlx5_1", path / "mlx5_10");
    host.make(3);
    CHECK(folder.look());
    CHECK(folder.names() == std::vector<std::string>{"mlx5_0", "mlx5_1", "mlx5_2", "mlx5_10"});
    host.remove("mlx5_2");
    CHECK(folder.look());
    CHECK(folder.names() == std::vector<std::string>{"mlx5_0", "mlx5_1", "mlx5_10"});
    std::filesystem::remove_all(host.sysfs());
    CHECK(folder.look());
    CHECK(folder.names().empty());
    CHECK_FALSE(folder.look());
    host.make(1);
    CHECK(folder.look());
    CHECK(folder.names() == std::vector<std::string>{"mlx5_0"});
}

TEST_CASE("a device that vanishes is left out, and comes back") {
    const test::Hardware host(3);
    SysfsIb sysfs(host.sysfs(), counters);
    REQUIRE(sysfs.sample(Depth::judged).ports.size() == 3);
    host.remove("mlx5_1");
    const auto without = sysfs.sample(Depth::judged);
    REQUIRE(without.ports.size() == 2);
    CHECK(without.ports[1].device == "mlx5_2");
    host.make(3);
    CHECK(sysfs.sample(Depth::judged).ports.size() == 3);
    std::filesystem::remove_all(host.sysfs());
    CHECK(sysfs.sample(Depth::all).ports.empty());
}

TEST_CASE("Ethernet and ignored devices are left out and said so") {
    const test::Hardware host(3);
    host.write("class/infiniband/mlx5_0/ports/1/link_layer", "Ethernet\n");
    SysfsIb sysfs(host.sysfs(), {}, {"mlx5_2"});
    const auto sample = sysfs.sample(Depth::all);
    REQUIRE(sample.ports.size() == 1);
    CHECK(sample.ports[0].device == "mlx5_1");
    CHECK(sample.left_out ==
          std::vector<std::string>{"mlx5_0: link layer Ethernet", "mlx5_2: ignored by the configuration"});
    CHECK(sample.ignored == std::vector<probe::Guid>{0x946dae0000010030, 0x946dae0000010030});
}

TEST_CASE("files that hold nonsense give no values, and no harm") {
    const test::Hardware host(1);
    host.write("class/infiniband/mlx5_0/ports/1/state", "\x1b[2J garbage\n");
    host.write("class/infiniband/mlx5_0/ports/1/rate", "fast\n");
    host.write("class/infiniband/mlx5_0/ports/1/counters/symbol_error", "-1\n");
    host.write("class/infiniband/mlx5_0/ports/1/counters/link_downed", "99999999999999999999999\n");
    host.write("class/infiniband/mlx5_0/ports/1/counters/port_rcv_errors", "");
    SysfsIb sysfs(host.sysfs(), counters);
    const auto port = sysfs.sample(Depth::all).ports.at(0);
    CHECK(port.state.find('\x1b') == std::string::npos);
    CHECK(port.rate_gbps == 0);
    for (const auto* name : {"symbol_error", "link_downed", "port_rcv_errors"})
        CHECK_FALSE(port.counters.contains(name));
}

TEST_CASE("a host without InfiniBand has no ports") {
    SysfsIb sysfs("/nonexistent", counters);
    CHECK(sysfs.sample(Depth::all).ports.empty());
}
