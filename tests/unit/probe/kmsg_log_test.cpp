#include "probe/kmsg_log.hpp"

#include "hardware.hpp"

#include "unit/folder.hpp"

#include <catch2/catch.hpp>
#include <fstream>

using probe::Kmsg;
using probe::parse_xid;

namespace {

void append(const std::filesystem::path& path, std::string_view text) {
    std::ofstream(path, std::ios::app) << text;
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
        // with a function, a wide domain, and nothing after the code
        {"NVRM: Xid (PCI:0000:14:00.0): 63, Row Remapper: New row", "0000:14:00.0", 63},
        {"NVRM: Xid (PCI:00010000:14:00): 45", "00010000:14:00", 45},
    };
    for (const auto& line : lines) {
        INFO(line.text);
        const auto event = parse_xid(line.text);
        REQUIRE(event);
        CHECK(event->pci == line.pci);
        CHECK(event->code == line.code);
    }
    // A process is its user's: where it is named stays in the kernel log.
    CHECK(parse_xid(lines[0].text)->text == "GPU has fallen off the bus.");
    CHECK(parse_xid(lines[1].text)->text == "Ch 00000008, intr 00000000. MMU Fault");
    CHECK(parse_xid(lines[3].text)->text == "DBE (double bit error) detected at location 0x1");
    CHECK(parse_xid("NVRM: Xid (PCI:0000:14:00): 13, pid=1, name=a.out")->text.empty());
}

TEST_CASE("lines that are no XID") {
    for (const auto* line : {"", "NVRM: loading NVIDIA UNIX x86_64 Kernel Module", "NVRM: Xid (",
                             "NVRM: Xid (PCI:0000:14:00)", "NVRM: Xid (PCI:0000:14:00): ",
                             "NVRM: Xid (PCI:0000:14:00): abc", "NVRM: Xid (PCI:0000:14:00): -79, x",
                             "NVRM: Xid (PCI:0000:14:00): 99999999999, x", "NVRM: Xid (PCI:0000:14:00): 0, x",
                             "NVRM: Xid (PCI:$(reboot)): 79, x", "NVRM: Xid (PCI:): 79, x"}) {
        INFO(line);
        CHECK_FALSE(parse_xid(line));
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
        const auto said = probe::parse_hca_line(line.text);
        REQUIRE(said);
        CHECK(said->pci == line.pci);
        CHECK(said->text == line.said);
    }
    for (const auto* line : {"", "mlx5_core", "mlx5_core ", "mlx5_core_health", "mlx5_core $(reboot): x",
                             "modprobe: mlx5_core not found", "mlx4_core 0000:14:00.0: x"}) {
        INFO(line);
        CHECK_FALSE(probe::parse_hca_line(line));
    }
    const auto said = probe::parse_hca_line("mlx5_core 0000:14:00.0: \x1b[2J" + std::string(5000, 'x'));
    REQUIRE(said);
    CHECK(said->text.size() == 200);
    CHECK(said->text.find('\x1b') == std::string::npos);
}

TEST_CASE("a flood of a driver's lines is cut, and hides no XID") {
    const test::Folder folder;
    const auto path = folder.path / "kmsg";
    append(path, "");
    auto kmsg = Kmsg::open(path);
    REQUIRE(kmsg);
    std::string flood;
    for (int i = 0; i < 20'000; ++i)
        flood += "mlx5_core 0000:14:00.0: flood\n";
    append(path, flood + "NVRM: Xid (PCI:0000:14:00): 79, gone\n");
    const auto lines = kmsg->drain();
    CHECK(lines.hcas.size() == 256);
    CHECK(lines.xids.size() == 1);
}

TEST_CASE("a driver's words are kept printable and short") {
    const auto event = parse_xid("NVRM: Xid (PCI:0000:14:00): 79, \x1b[2J" + std::string(5000, 'x'));
    REQUIRE(event);
    CHECK(event->text.size() == 200);
    CHECK(event->text.find('\x1b') == std::string::npos);
}

TEST_CASE("a log is read from now on, line by line, across partial writes and truncation") {
    const test::Folder folder;
    const auto path = folder.path / "kmsg";
    append(path, "NVRM: Xid (PCI:0000:14:00): 79, an old one\n");
    auto kmsg = Kmsg::open(path);
    REQUIRE(kmsg);
    CHECK(kmsg->drain().xids.empty());

    append(path, "something else\nNVRM: Xid (PCI:0000:14:00): 31, new");
    CHECK(kmsg->drain().xids.empty()); // its line has not ended
    append(path, " one\nNVRM: Xid (PCI:0000:30:00): 48, DBE\n");
    const auto events = kmsg->drain().xids;
    REQUIRE(events.size() == 2);
    CHECK(events[0].text == "new one");
    CHECK(events[1].code == 48);
    CHECK(kmsg->drain().xids.empty());

    std::filesystem::resize_file(path, 0);
    append(path, "NVRM: Xid (PCI:0000:14:00): 13, after\n");
    CHECK(kmsg->drain().xids.size() == 1);
    CHECK(kmsg->lost() == 1);

    append(path, std::string(100'000, 'x') + "\nNVRM: Xid (PCI:0000:14:00): 13, again\n");
    CHECK(kmsg->drain().xids.size() == 1);
}

TEST_CASE("a log that cannot be read is an error with its name") {
    const auto missing = Kmsg::open("/nonexistent/kmsg");
    REQUIRE_FALSE(missing);
    CHECK(missing.error().text.find("/nonexistent/kmsg") != std::string::npos);
    const auto folder = Kmsg::open("/tmp");
    REQUIRE_FALSE(folder);
    CHECK(folder.error().text.find("neither a kernel log device nor a file") != std::string::npos);
}

TEST_CASE("the real kernel log can be read, from its end") {
    auto kmsg = Kmsg::open("/dev/kmsg");
    if (!kmsg) {
        WARN("SKIP: " << kmsg.error().text);
        return;
    }
    CHECK(kmsg->drain().xids.empty()); // nothing old; nothing is written there, as other watchers may listen
}

TEST_CASE("a processor that does not leave mlx5's driver is told once, by its stack alone") {
    const test::Hardware host(1);
    auto kmsg = probe::Kmsg::open(host.kmsg());
    REQUIRE(kmsg);
    const auto said = [&](const std::string& lines) {
        host.log(lines);
        std::vector<std::string> texts;
        for (const auto& line : kmsg->drain().hcas)
            texts.push_back(line.text);
        return texts;
    };
    using Texts = std::vector<std::string>;
    const std::string begin =
        "4,2001,77,-;watchdog: BUG: soft lockup - CPU#12 stuck for 23s! [ksoftirqd/12:80]\n";
    const std::string modules = "4,2002,77,-;Modules linked in: mlx5_ib mlx5_core nvidia(OE)\n";
    const std::string frame = "4,2003,77,-; mlx5e_napi_poll+0x1a/0x6c0 [mlx5_core]\n";
    const Texts told{"soft lockup - CPU#12 stuck for 23s in mlx5e_napi_poll"};
    CHECK(said(begin + modules + "4,2,77,-;RIP: 0010:native_queued+0x1\n" + frame + frame) == told);
    CHECK(said(frame).empty()); // of whatever comes later
    // The instruction itself, and a dump that is read in two looks.
    CHECK(said(begin + "4,2,77,-;RIP: 0010:mlx5e_poll_ico_cq+0x5f/0x2c0 [mlx5_core]\n") ==
          Texts{"soft lockup - CPU#12 stuck for 23s in mlx5e_poll_ico_cq"});
    CHECK(said(begin + modules).empty());
    CHECK(said(frame) == told);
    SECTION("near misses") {
        CHECK(said(begin + modules + "4,2,77,-; nvme_poll+0x1a/0x6c0 [nvme]\n").empty());
        CHECK(
            said(begin + "4,2,77,-; ? mlx5e_napi_poll+0x1a/0x6c0 [mlx5_core]\n").empty()); // a doubted entry
        CHECK(said(begin + "4,2,77,-; xmlx5e_napi_poll+0x1a/0x6c0\n").empty());
        CHECK(said("4,2,77,-;Call Trace:\n").empty());
    }
    SECTION("too far behind") {
        std::string dump = begin;
        for (int i = 0; i < 150; ++i)
            dump += "4,2,77,-; do_softirq+0x1/0x2\n";
        CHECK(said(dump + frame).empty());
    }
    SECTION("what the driver says in between is still read") {
        CHECK(said(begin + "4,2,77,-;mlx5_core 0000:13:00.0: TX timeout detected\n" + frame) ==
              Texts{"TX timeout detected", told[0]});
    }
}
