#include "probe/kernel_lines.hpp"

#include "probe/pci_tree.hpp"
#include "unit/folder.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <vector>

using probe::Driver;

namespace {

auto xid_in(std::string_view line) {
    return probe::parse_xid(probe::message_of(line));
}

auto said_in(std::string_view line) {
    return probe::parse_driver_line(probe::message_of(line));
}

} // namespace

TEST_CASE("XID lines of every driver generation, as recorded") {
    struct Line {
        std::string_view text, pci;
        std::uint32_t code;
    };
    const Line lines[] = {
        // /dev/kmsg's record, dmesg's and syslog's form
        {"4,1530,76421863,-;NVRM: Xid (PCI:0000:14:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen "
         "off the bus.",
         "0000:14:00", 79},
        {"[  764.218630] NVRM: Xid (PCI:0000:CA:00): 31, pid=8571, name=python, Ch 00000008, intr 00000000. "
         "MMU Fault",
         "0000:ca:00", 31},
        {"Jan  5 11:02:33 n001 kernel: NVRM: Xid (PCI:0000:01:00): 94, pid='<unknown>', Contained: HBM "
         "(0x3,0x0).",
         "0000:01:00", 94},
        // before 375: no "PCI:"
        {"NVRM: Xid (0000:03:00): 48, DBE (double bit error) detected at location 0x1", "0000:03:00", 48},
        // an instance of a GPU under MIG
        {"NVRM: Xid (PCI:0000:4c:00 GPU-I:03): 95, pid=7196, name=python3, Uncontained ECC error",
         "0000:4c:00", 95},
        {"NVRM: Xid (PCI:0000:30:00 GPU-I:01 GPU-CI:02): 43, pid=7195, name=python3, Ch 00000008",
         "0000:30:00", 43},
        // with a function, a wide domain, and nothing after the code
        {"NVRM: Xid (PCI:0000:14:00.0): 63, Row Remapper: New row", "0000:14:00.0", 63},
        {"NVRM: Xid (PCI:00010000:14:00): 45", "00010000:14:00", 45},
    };
    for (const auto& line : lines) {
        INFO(line.text);
        const auto event = xid_in(line.text);
        REQUIRE(event);
        CHECK(event->pci == line.pci);
        CHECK(event->code == line.code);
    }
    // A process is its user's: where it is named stays in the kernel log.
    CHECK(xid_in(lines[0].text)->text == "GPU has fallen off the bus.");
    CHECK(xid_in(lines[1].text)->text == "Ch 00000008, intr 00000000. MMU Fault");
    CHECK(xid_in(lines[4].text)->text == "GPU-I:03, Uncontained ECC error");
    CHECK(xid_in(lines[3].text)->text == "DBE (double bit error) detected at location 0x1");
    CHECK(xid_in("NVRM: Xid (PCI:0000:14:00): 13, pid=1, name=a.out")->text.empty());
}

TEST_CASE("lines that are no XID") {
    for (const auto* line :
         {"", "NVRM: loading NVIDIA UNIX x86_64 Kernel Module", "NVRM: Xid (", "NVRM: Xid (PCI:0000:14:00)",
          "NVRM: Xid (PCI:0000:14:00): ", "NVRM: Xid (PCI:0000:14:00): abc",
          "NVRM: Xid (PCI:0000:14:00): -79, x", "NVRM: Xid (PCI:0000:14:00): 99999999999, x",
          "NVRM: Xid (PCI:0000:14:00): 0, x", "NVRM: Xid (PCI:$(reboot)): 79, x", "NVRM: Xid (PCI:): 79, x",
          "NVRM: Xid (PCI: GPU-I:01): 79, x", "NVRM: Xid (PCI:0000:14:00 x): 79, x"}) {
        INFO(line);
        CHECK_FALSE(xid_in(line));
    }
}

TEST_CASE("lines of mlx5's driver, and those that only look like them") {
    struct Line {
        std::string_view text, pci, said;
    };
    const Line lines[] = {
        {"3,812,9913,-;mlx5_core 0000:d2:00.0: poll_health:825:(pid 0): device's health compromised - "
         "reached miss "
         "count\n SUBSYSTEM=pci\n",
         "0000:d2:00.0", "poll_health:825:(pid 0): device's health compromised - reached miss count"},
        {"[  12.5] mlx5_core 0000:14:00.0 ens1f0np0: TX timeout detected", "0000:14:00.0",
         "ens1f0np0: TX timeout detected"},
        {"mlx5_core: INFO: synd 0x8: unrecoverable hardware error.", "",
         "INFO: synd 0x8: unrecoverable hardware error."},
    };
    for (const auto& line : lines) {
        INFO(line.text);
        const auto said = said_in(line.text);
        REQUIRE(said);
        CHECK(said->device == line.pci);
        CHECK(said->text == line.said);
    }
    for (const auto* line : {"", "mlx5_core", "mlx5_core ", "mlx5_core_health", "mlx5_core $(reboot): x",
                             "modprobe: mlx5_core not found", "mlx4_core 0000:14:00.0: x"}) {
        INFO(line);
        CHECK_FALSE(said_in(line));
    }
    const auto said = said_in("mlx5_core 0000:14:00.0: \x1b[2J" + std::string(5000, 'x'));
    REQUIRE(said);
    CHECK(said->text.size() == 200);
    CHECK(said->text.find('\x1b') == std::string::npos);
}

TEST_CASE("a driver's words are kept printable and short") {
    const auto event = xid_in("NVRM: Xid (PCI:0000:14:00): 79, \x1b[2J" + std::string(5000, 'x'));
    REQUIRE(event);
    CHECK(event->text.size() == 200);
    CHECK(event->text.find('\x1b') == std::string::npos);
}

TEST_CASE("what drivers say of GPUs, NVSwitches and PCIe links, in each form that they print") {
    struct Line {
        std::string_view text;
        Driver driver;
        std::string_view device, said;
    };
    const Line lines[] = {
        {"NVRM: GPU 0000:4c:00.0: GPU has fallen off the bus.", Driver::nvidia, "0000:4c:00.0",
         "GPU has fallen off the bus."},
        {"3,9,9,-;NVRM: GPU 0000:4C:00.0: RmInitAdapter failed! (0x62:0x40:2477)", Driver::nvidia,
         "0000:4c:00.0", "RmInitAdapter failed! (0x62:0x40:2477)"},
        {"nvidia 0000:68:00.0: GPU has fallen off the bus and is not responding to commands.", Driver::nvidia,
         "0000:68:00.0", "GPU has fallen off the bus and is not responding to commands."},
        {"nvidia-nvswitch2: SXid (PCI:0000:c0:00.0): 20034, Fatal, Link 30 LTSSM Fault Up", Driver::nvswitch,
         "nvswitch2", "SXid 20034, Fatal, Link 30 LTSSM Fault Up"},
        {"nvidia-nvswitch0: SXid (PCI:0000:c3:00.0): 20009, Non-fatal, Link 28 RX Short Error Rate",
         Driver::nvswitch, "nvswitch0", "SXid 20009, Non-fatal, Link 28 RX Short Error Rate"},
        {"pcieport 0000:17:01.0: AER: Uncorrected (Fatal) error received: 0000:19:00.0", Driver::pcie,
         "0000:19:00.0", "AER: Uncorrected (Fatal) error received: 0000:19:00.0"},
        {"pcieport 0000:12:00.0: AER: Multiple Uncorrectable (Fatal) error message received from "
         "0000:14:00.0",
         Driver::pcie, "0000:14:00.0",
         "AER: Multiple Uncorrectable (Fatal) error message received from 0000:14:00.0"},
        // Before Linux 4.20 by a number of bus and function.
        {"pcieport 0000:17:01.0: AER: Uncorrected (Fatal) error received: id=00e0", Driver::pcie,
         "0000:17:01.0", "AER: Uncorrected (Fatal) error received: id=00e0"},
        {"mlx5_core 0000:19:00.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer, "
         "(Receiver ID)",
         Driver::pcie, "0000:19:00.0",
         "PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer, (Receiver ID)"},
        {"nvidia 0000:14:00.0: AER: can't recover (no error_detected callback)", Driver::pcie, "0000:14:00.0",
         "AER: can't recover (no error_detected callback)"},
        {"pcieport 0000:17:01.0: DPC: containment event, status:0x1f01 source:0x0000", Driver::pcie,
         "0000:17:01.0", "DPC: containment event, status:0x1f01 source:0x0000"},
        {"pcieport 0000:12:00.0: pciehp: Slot(1): Card not present", Driver::pcie, "0000:12:00.0",
         "pciehp: Slot(1): Card not present"},
    };
    for (const auto& line : lines) {
        INFO(line.text);
        const auto said = said_in(line.text);
        REQUIRE(said);
        CHECK(said->driver == line.driver);
        CHECK(said->device == line.device);
        CHECK(said->text == line.said);
    }
    for (const auto* line :
         {"NVRM: loading NVIDIA UNIX x86_64 Kernel Module", "NVRM: GPU at PCI:0000:14:00: GPU-1111",
          "NVRM: GPU", "nvidia",
          "nvidia-nvswitch0: SXid (PCI:0000:c0:00.0): 20034, Data {0x00000000, 0x00000000}",
          "nvidia-nvswitch0: SXid (PCI:0000:c0:00.0): 20034, Severity 1 Engine instance 30",
          "nvidia-nvswitch0: SXid (PCI:0000:c0:00.0): x, Fatal", "pcieport 0000:17:01.0: bandwidth is 1 GB/s",
          "pcieport $(reboot): AER: Uncorrected (Fatal) error received: 0000:19:00.0", "pcieport"}) {
        INFO(line);
        CHECK_FALSE(said_in(line));
    }
}

// A file system names mount options that it does not know, and a user may mount one in a namespace of his
// own.
TEST_CASE("what a user has the kernel quote is no driver's word") {
    for (const std::string quoted : {"NVRM: Xid (PCI:0000:14:00): 79, GPU has fallen off the bus",
                                     "NVRM: GPU 0000:14:00.0: RmInitAdapter failed!",
                                     "mlx5_core 0000:14:00.0: device's health compromised",
                                     "nvidia-nvswitch0: SXid (PCI:0000:c0:00.0): 1, Fatal",
                                     "pcieport 0000:14:00.0: pciehp: Slot(1): Card not present"}) {
        INFO(quoted);
        for (const std::string before :
             {"3,7,9,-;tmpfs: Unknown parameter '", "[  1.5] tmpfs: Unknown parameter '",
              "3,7,9,-;tmpfs: Unknown parameter ' kernel: "}) {
            CHECK_FALSE(xid_in(before + quoted));
            CHECK_FALSE(said_in(before + quoted));
        }
    }
}

TEST_CASE("what is below a port is known from before it left") {
    const test::Folder folder;
    const auto devices = folder.path / "bus/pci/devices";
    std::filesystem::create_directories(devices);
    const std::string port = "../../../devices/pci0000:10/0000:10:01.0";
    for (const auto& [name, where] : {std::pair<std::string, std::string>{"0000:10:01.0", port},
                                      {"0000:12:00.0", port + "/0000:12:00.0"},
                                      {"0000:14:00.0", port + "/0000:12:00.0/0000:14:00.0"},
                                      {"0000:14:00.1", port + "/0000:12:00.0/0000:14:00.1"},
                                      {"0000:20:00.0", "../../../devices/pci0000:20/0000:20:00.0"}})
        std::filesystem::create_symlink(where, devices / name);
    const probe::PciTree tree(folder.path);
    std::filesystem::remove(devices / "0000:14:00.0");
    using Devices = std::vector<std::string>;
    auto below = tree.with_below("0000:12:00.0");
    std::sort(below.begin(), below.end());
    CHECK(below == Devices{"0000:12:00.0", "0000:14:00.0", "0000:14:00.1"});
    CHECK(tree.with_below("0000:10:01.0").size() == 4);
    CHECK(tree.with_below("0000:20:00.0") == Devices{"0000:20:00.0"});
    CHECK(tree.with_below("0000:99:00.0") == Devices{"0000:99:00.0"});
    CHECK(tree.knows("0000:14:00.0"));
    CHECK_FALSE(tree.knows("0000:99:00.0"));
    CHECK_FALSE(probe::PciTree(folder.path / "none").knows("0000:14:00.0"));
}

TEST_CASE("only a line that names a channel names the process whose it was") {
    struct Line {
        std::string_view text;
        std::uint32_t pid;
    };
    const Line lines[] = {
        {"31, pid=1238, name=cuda_seam, channel 0x00000011, intr 00000000. MMU Fault: ENGINE GRAPHICS", 1238},
        {"31, pid=8571, name=python, Ch 00000008, intr 00000000. MMU Fault", 8571},
        {"43, pid=1263, name=a.out, channel 0x00000011", 1263},
        {"13, pid=77, name=a.out, Graphics Exception: channel 0x00000011, Class 0000cbc0, Offset 510", 77},
        // Whoever was in the driver then.
        {"13, pid=899, name=nodewatchd, Graphics SM Warp Exception on (GPC 0, TPC 0, SM 0): Misaligned", 0},
        {"13, pid=899, name=nodewatchd, Graphics Exception: ESR 0x505730=0x506000f 0x505734=0x24", 0},
        {"79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.", 0},
        {"43, pid='<unknown>', name=<unknown>, channel 0x00000011", 0},
        {"43, channel 0x00000011", 0},
    };
    for (const auto& line : lines) {
        INFO(line.text);
        const auto event = xid_in("NVRM: Xid (PCI:0000:14:00): " + std::string(line.text));
        REQUIRE(event);
        CHECK(event->pid == line.pid);
        CHECK(event->text.find("pid=") == std::string::npos);
    }
}
