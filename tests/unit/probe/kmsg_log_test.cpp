#include "probe/kmsg_log.hpp"
#include "probe/process_user.hpp"

#include "hardware.hpp"

#include "unit/folder.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <unistd.h>

using probe::Kmsg;

namespace {

void append(const std::filesystem::path& path, std::string_view text) {
    std::ofstream(path, std::ios::app) << text;
}

} // namespace

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
    CHECK(lines.drivers.size() == 256);
    CHECK(lines.xids.size() == 1);
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
        for (const auto& line : kmsg->drain().drivers)
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

TEST_CASE("a GPU that is lost is told in three lines of a saved log, or in one record") {
    const test::Hardware host(1);
    auto kmsg = probe::Kmsg::open(host.kmsg());
    REQUIRE(kmsg);
    const auto said = [&](const std::string& lines) {
        host.log(lines);
        std::vector<std::string> devices;
        for (const auto& line : kmsg->drain().drivers)
            devices.push_back(line.device + ": " + line.text);
        return devices;
    };
    using Devices = std::vector<std::string>;
    const Devices lost{"0000:30:00.0: GPU has fallen off the bus and is not responding to commands"};
    const std::string begin = "NVRM: The NVIDIA GPU 0000:30:00.0\n",
                      middle = "NVRM: (PCI ID: 10de:2330) installed in this system has\n",
                      end = "NVRM: fallen off the bus and is not responding to commands.\n";
    CHECK(said(begin + middle + end) == lost);
    CHECK(said(end).empty()); // of nobody
    CHECK(said("[ 12.5] " + begin + "[ 12.5] " + middle).empty());
    CHECK(said("[ 12.5] " + end) == lost); // read in two looks
    CHECK(said("3,9,9,-;NVRM: The NVIDIA GPU 0000:30:00.0\\x0aNVRM: (PCI ID: 10de:2330) installed in this "
               "system has\\x0aNVRM: fallen off the bus and is not responding to commands.\n") == lost);
    SECTION("near misses") {
        CHECK(said(begin + "NVRM: installed in this system requires use of the open kernel modules.\n")
                  .empty());
        CHECK(said(begin + "a\nb\nc\n" + end).empty());
        CHECK(said(begin + "tmpfs: Unknown parameter 'fallen off the bus'\n").empty());
    }
}

TEST_CASE("an XID has the user whose process it was while that is there") {
    const test::Folder folder;
    const auto path = folder.path / "kmsg";
    append(path, "");
    auto kmsg = Kmsg::open(path);
    REQUIRE(kmsg);
    append(path, "NVRM: Xid (PCI:0000:14:00): 43, pid=" + std::to_string(::getpid()) +
                     ", name=x, channel 0x11\n"
                     "NVRM: Xid (PCI:0000:14:00): 43, pid=4194999, name=x, channel 0x11\n");
    const auto xids = kmsg->drain().xids;
    REQUIRE(xids.size() == 2);
    CHECK(xids[0].user == ::getuid());
    CHECK_FALSE(xids[1].user); // above the most that the kernel numbers
}

TEST_CASE("a process is of the Slurm job whose control group it is in") {
    CHECK(probe::job_in_cgroups("0::/system.slice/slurmstepd.scope/job_12/step_0/user/task_0\n") == 12U);
    CHECK(probe::job_in_cgroups("12:pids:/slurm/uid_1000\n5:memory:/slurm/uid_1000/job_4711/step_batch\n") ==
          4711U);
    CHECK(probe::job_in_cgroups("0::/slurm_n001/job_7") == 7U);
    for (const auto* none : {"", "0::/user.slice/user-1000.slice\n", "0::/job_x/job_/job_0/job_12x\n",
                             "0::/job_99999999999999\n", "0::/my_job_12\n"})
        CHECK_FALSE(probe::job_in_cgroups(none));
    CHECK_FALSE(probe::job_of_process(0));
    CHECK_FALSE(probe::job_of_process(4194999));
}
