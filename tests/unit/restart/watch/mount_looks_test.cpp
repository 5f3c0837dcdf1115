#include "restart/watch/mount_looks.hpp"

#include "unit/folder.hpp"
#include "unit/patience.hpp"

#include "probe/proc_host.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <thread>

using namespace std::chrono_literals;
using restart::MountLooks;
using restart::TaskLoop;

TEST_CASE("a file system that hangs holds up neither the others nor who asks, and comes back") {
    auto hang = std::make_shared<std::atomic<bool>>(true);
    const auto look = [hang](const std::string& path) {
        while (path == "/hung" && *hang)
            std::this_thread::sleep_for(1ms);
        probe::MountSample sample;
        sample.path = path;
        sample.answered = true;
        return sample;
    };
    TaskLoop loop(10ms);
    const MountLooks looks(loop, {"/hung", "/sound"}, 1ms, look);
    CHECK(test::eventually([&] {
        loop.relieve();
        return looks.samples()[1].answered;
    }));
    CHECK(test::eventually([&] { return looks.samples()[0].silent_s > 0.05; }));
    const auto samples = looks.samples();
    CHECK(samples[0].path == "/hung");
    CHECK_FALSE(samples[0].answered);
    *hang = false;
    CHECK(test::eventually([&] { return looks.samples()[0].answered; }));
}

TEST_CASE("several that hang end together, and are left behind") {
    auto hang = std::make_shared<std::atomic<bool>>(true);
    auto left = std::make_shared<std::atomic<int>>(0), looked = std::make_shared<std::atomic<int>>(0);
    const auto look = [hang, left, looked](const std::string& path) {
        if (path == "/sound") {
            ++*looked;
        } else {
            while (*hang)
                std::this_thread::sleep_for(1ms);
            ++*left;
        }
        probe::MountSample sample;
        sample.path = path;
        return sample;
    };
    int before = 0;
    {
        TaskLoop loop(1ms);
        const MountLooks looks(
            loop, {"/1", "/2", "/3", "/4", "/5", "/6", "/sound", "/7", "/8", "/9", "/10", "/11", "/12"},
            100ms, look);
        CHECK(looks.samples().size() == 13);
        CHECK(test::eventually([&] {
            loop.relieve();
            return loop.threads() == 13 && *looked > 0;
        }));
        before = *looked;
    }
    // If they were waited for one after the other, a second each, the sound one would be looked at some
    // sixty times more.
    CHECK(*looked - before < 20);
    *hang = false;
    CHECK(test::eventually([&] { return *left == 12; })); // what they use is theirs
}

TEST_CASE("a look that fails keeps what was known before") {
    auto fails = std::make_shared<std::atomic<bool>>(false);
    TaskLoop loop(24h);
    const MountLooks looks(loop, {"/scratch"}, 1ms, [fails](const std::string& path) {
        probe::MountSample sample;
        sample.path = path;
        if (*fails) {
            sample.failed = EIO;
            return sample;
        }
        sample.answered = true;
        sample.read_only = true;
        return sample;
    });
    CHECK(test::eventually([&] { return looks.samples()[0].read_only == true; }));
    *fails = true;
    CHECK(test::eventually([&] { return looks.samples()[0].failed == EIO; }));
    CHECK(looks.samples()[0].read_only == true);
    *fails = false;
    CHECK(test::eventually([&] { return looks.samples()[0].failed == 0; }));
}

TEST_CASE("the file system is read-only, not our view of it; what systemd hides is no empty file system") {
    const test::Folder folder;
    const auto path = std::filesystem::canonical(folder.path).string();
    const auto with = [&](std::string_view view, std::string_view options, std::string_view root = "/") {
        const auto mountinfo = folder.path / "mountinfo";
        std::ofstream(mountinfo, std::ios::trunc)
            << "21 1 8:1 / / ro,relatime shared:1 - ext4 /dev/sda1 ro,errors=remount-ro\n"
            << "nonsense\n22 21 0:5 / " << path << "x rw - tmpfs tmpfs ro\n"
            << "30 21 0:40 " << root << " " << path << " " << view << ",nosuid master:7 - nfs4 s:/x "
            << options << "\n";
        return probe::look_at_mount(path, mountinfo);
    };
    CHECK(with("rw", "rw,vers=4.2").read_only == false);
    CHECK(with("ro", "rw,vers=4.2").read_only == false); // ProtectSystem=strict
    CHECK(with("ro", "ro,vers=4.2").read_only == true);
    CHECK(with("rw", "vers=4.2,ro").read_only == true);
    const auto hidden = with("ro", "rw,mode=755", "/systemd/inaccessible/dir"); // ProtectHome=yes
    CHECK(hidden.failed == EACCES);
    CHECK_FALSE(hidden.answered);
    CHECK_FALSE(probe::look_at_mount(path, "/nonexistent").read_only); // nobody knows
}

TEST_CASE("the real statvfs: a folder, /proc without blocks, a path that is not there") {
    const test::Folder folder;
    const auto sample = probe::look_at_mount(folder.path.string());
    CHECK(sample.answered);
    CHECK(sample.failed == 0);
    CHECK(sample.read_only == false);
    REQUIRE(sample.free_percent);
    CHECK(*sample.free_percent <= 100);
    CHECK_FALSE(probe::look_at_mount("/proc").free_percent);
    const auto missing = probe::look_at_mount("/nonexistent/scratch");
    CHECK_FALSE(missing.answered);
    CHECK(missing.failed == ENOENT);
}
