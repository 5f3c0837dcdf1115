// From the hardware's doubles to reports: the whole of nodewatchd but its sockets.
#include "restart/watch/watcher.hpp"

#include "unit/patience.hpp"
#include "unit/probe/hardware.hpp"

#include "restart/watch/print.hpp"

#include "base/json.hpp"
#include "probe/sysfs_ib.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <thread>
#include <unistd.h>

using namespace std::chrono_literals;
using namespace restart;

namespace {

const std::string for_ever = "86400000"; // milliseconds; also ends when the double's file drops it

SourceSettings settings_for(const test::Hardware& host) {
    SourceSettings settings;
    settings.sysfs = host.sysfs();
    settings.nvml = host.nvml();
    settings.kmsg = host.kmsg();
    settings.interval = 20ms;
    settings.event_wait = 100ms;
    return settings;
}

Limits quick() {
    Limits limits;
    limits.throttle_window = 100ms;
    limits.clear = 100ms;
    limits.interval = 20ms;
    return limits;
}

struct Watching {
    explicit Watching(const test::Hardware& host)
        : sources(settings_for(host)), watcher("n001", "boot", quick(), sources, book) {
        sources.await_first(test::patience());
    }
    Report next() {
        const auto now = base::now();
        auto [report, changes] = watcher.next(now, now);
        last = std::move(changes);
        // What is made here is what restartd accepts.
        const auto read = Report::from_json(report.to_json());
        REQUIRE(read);
        return std::move(report);
    }
    // Reports until one has that finding.
    std::optional<Finding> until(std::string_view rule) {
        std::optional<Finding> found;
        test::eventually([&] {
            for (auto& finding : next().findings)
                if (!found && finding.rule == rule) found = std::move(finding);
            return found.has_value();
        });
        return found;
    }
    bool until_sound() {
        return test::eventually([&] { return next().findings.empty(); });
    }

    JobBook book;
    Sources sources;
    Watcher watcher;
    Transitions last;
};

} // namespace

TEST_CASE("a sound host is watched in full and reported without findings") {
    const test::Hardware host(8);
    Watching watching(host);
    const auto report = watching.next();
    CHECK(report.host == "n001");
    CHECK(watching.last.watching_again == std::vector<std::string>{"host", "infiniband", "kmsg", "nvml"});
    CHECK(report.not_watching.empty());
    CHECK(report.findings.empty());
}

TEST_CASE("the mlx5 driver has each counter that a rule reads") {
    const test::Hardware host(1);
    probe::SysfsIb sysfs(host.sysfs(), RuleBook::counters({}));
    const auto port = sysfs.sample(probe::SysfsIb::Depth::judged).ports.at(0);
    for (const auto& name : RuleBook::counters({})) {
        INFO(name);
        CHECK(port.counters.contains(name));
    }
}

TEST_CASE("faults of the doubles become findings, and end: throttle, lost GPU, XIDs, link, device") {
    const test::Hardware host(2);
    Watching watching(host);
    watching.next();

    const std::string sound = "count=8\n3.fail_times=3\n"; // by its time a brake would be there for minutes
    host.gpus(sound + "3.reasons=0x80\n");
    const auto brake = watching.until("gpu.throttle.hw_power_brake");
    REQUIRE(brake);
    CHECK(brake->component == "gpu3");
    CHECK(brake->severity == Severity::evict);
    CHECK(watching.last.began.size() == 1);
    host.gpus(sound);
    CHECK(watching.until_sound());
    CHECK(watching.last.ended.size() == 1);

    host.gpus(sound + "5.lost=1\n");
    CHECK(watching.until("gpu.lost")->severity == Severity::fatal);
    host.gpus(sound);
    CHECK(watching.until_sound());

    host.set({"mlx5_0.link_downed=1"});
    CHECK(watching.until("ib.counter.link_downed")->component == "mlx5_0:1");

    host.log("4,1,2,-;NVRM: Xid (PCI:0000:30:00): 48, DBE\n");
    CHECK(watching.until("gpu.xid.48")->component == "gpu1");
    host.gpus(sound + "2.xid=79\n2.xid_seq=1\n");
    CHECK(watching.until("gpu.xid.79")->component == "gpu2");
}

TEST_CASE("a gap in the kernel log is told once, and what comes after it is heard") {
    const test::Hardware host(1);
    host.log(std::string(200, '.') + "\n");
    Watching watching(host);
    watching.next();
    std::filesystem::resize_file(host.kmsg(), 0); // as a ring that went round
    host.log("4,1,2,-;NVRM: Xid (PCI:0000:30:00): 48, DBE\n");
    const auto report = watching.next();
    CHECK(report.not_watching == std::vector<std::string>{"kmsg: lines were overwritten before they were "
                                                          "read, XIDs perhaps among them"});
    CHECK(watching.last.not_watching == report.not_watching);
    CHECK(report.findings.size() == 1);
    CHECK(watching.next().not_watching.empty());
    CHECK(watching.last.watching_again == std::vector<std::string>{"kmsg"});
}

TEST_CASE("a host that has nothing is watched as far as possible and says what is missing") {
    SourceSettings settings;
    settings.sysfs = "/nonexistent";
    settings.nvml = "libnvidia-ml-of-nowhere.so.1";
    settings.kmsg = "/nonexistent/kmsg";
    Sources sources(settings);
    sources.await_first(test::patience());
    JobBook book;
    Watcher watcher("n001", "boot", Limits{}, sources, book);
    const auto [report, changes] = watcher.next(base::now(), base::now());
    CHECK(changes.watching_again == std::vector<std::string>{"host"}); // every Linux has some of it
    CHECK(report.not_watching.size() == 3);
    CHECK(changes.not_watching.size() == 3);
    CHECK(Report::from_json(report.to_json()));
    // Said once, not each second.
    CHECK(watcher.next(base::now(), base::now()).second.not_watching.empty());
}

TEST_CASE(
    "where NVML cannot start the GPUs of the bus are missing, but not those that a virtual machine has") {
    const test::Hardware host(1);
    const auto device = [&](const std::string& pci, std::string_view driver) {
        const auto folder = "bus/pci/devices/" + pci;
        std::filesystem::create_directories(host.sysfs() / folder);
        host.write(folder + "/vendor", "0x10de\n");
        host.write(folder + "/class", "0x030200\n");
        if (!driver.empty())
            std::filesystem::create_symlink(std::filesystem::path("../drivers") / driver,
                                            host.sysfs() / folder / "driver");
    };
    device("0000:14:00.0", "vfio-pci");
    host.gpus("init=18\n");
    {
        Watching watching(host);
        CHECK(watching.next().findings.empty());
    }
    device("0000:30:00.0", "nvidia");
    device("0000:4c:00.0", "");
    Watching watching(host);
    const auto missing = watching.until("gpu.missing");
    REQUIRE(missing);
    CHECK(missing->component == "gpu");
    CHECK(missing->severity == Severity::warn);
    CHECK(missing->evidence.find("(18); the host has 2 GPUs") != std::string::npos);
}

TEST_CASE("a driver that hangs holds up neither reports nor the end") {
    const test::Hardware host(2);
    host.gpus("count=1\n0.hang_ms=" + for_ever + "\n");
    Sources sources(settings_for(host));
    sources.await_first(50ms);
    REQUIRE(test::eventually([&] { return sources.read(base::now()).watching.at("infiniband"); }));
    CHECK_FALSE(sources.read(base::now()).watching.at("nvml"));
}

namespace {

// Whether that XID comes, and with which user.
bool hears(Sources& sources, std::uint32_t code, std::optional<std::uint32_t> user = {}) {
    return test::eventually([&] {
        const auto reading = sources.read(base::now());
        return std::any_of(reading.sample.xids.begin(), reading.sample.xids.end(),
                           [&](const auto& xid) { return xid.code == code && xid.user == user; });
    });
}

} // namespace

TEST_CASE("an XID of NVML comes at once, and with the user whose processes alone compute there") {
    const test::Hardware host(1);
    const auto computes = fmt::format("count=1\n0.pid={}\n", ::getpid());
    host.gpus(computes);
    auto settings = settings_for(host);
    settings.interval = 1s;
    Sources sources(settings);
    sources.await_first(test::patience());
    host.gpus(computes + "0.xid=31\n0.xid_seq=1\n");
    CHECK(hears(sources, 31, ::getuid()));
    // Whose it was NVML does not answer.
    const auto hangs = computes + "0.hang_ms=" + for_ever + "\n";
    host.gpus(hangs + "0.xid=13\n0.xid_seq=2\n");
    CHECK(hears(sources, 13));
    host.gpus(hangs + "0.xid=119\n0.xid_seq=3\n");
    CHECK(hears(sources, 119));
}

TEST_CASE("a job reads which of its processes had a fault on a GPU, where no other job of its user is here") {
    const test::Hardware host(1);
    const auto faults = [&](Watching& watching) {
        watching.next(); // from here on the log is read
        host.log(
            fmt::format("4,1,2,-;NVRM: Xid (PCI:0000:30:00): 31, pid={}, name=train, channel 0x00000008, "
                        "intr 00000000. MMU Fault: ENGINE GRAPHICS\n",
                        ::getpid()));
        std::vector<std::optional<ProgramFault>> found;
        for (const auto& job : watching.next().jobs)
            found.push_back(job.fault);
        return found;
    };
    Watching watching(host);
    REQUIRE(watching.book.join({12, 0, ::getuid()}));
    REQUIRE(watching.book.join({13, 0, ::getuid() + 1}));
    const auto said = faults(watching);
    REQUIRE(said.size() == 2);
    REQUIRE(said[0]);
    CHECK(said[0]->gpu == "gpu1");
    CHECK(said[0]->xid == 31);
    CHECK(said[0]->process == static_cast<std::uint32_t>(::getpid()));
    CHECK(said[0]->text.find("MMU Fault") != std::string::npos);
    CHECK_FALSE(said[1]);

    Watching both(host);
    REQUIRE(both.book.join({12, 0, ::getuid()}));
    REQUIRE(both.book.join({14, 0, ::getuid()}));
    for (const auto& fault : faults(both))
        CHECK_FALSE(fault);
}

TEST_CASE("NVML is opened again while its events are awaited, and they are heard of the new one") {
    const test::Hardware host(1);
    // A GPU that stops answering, and the only one, of which there was no handle: NVML has no events then.
    for (const std::string silent : {"1.fail=999\n", "0.fail_handle=999\n"}) {
        INFO(silent);
        const std::size_t before = silent[0] == '1' ? 2 : 1;
        host.gpus(fmt::format("count={}\n{}", before, silent));
        auto settings = settings_for(host);
        settings.nvml_again = 50ms;
        Sources sources(settings);
        sources.await_first(test::patience());
        const auto silent_of = [&](std::size_t count) {
            const auto gpus = sources.read(base::now()).sample.gpus;
            if (!gpus || gpus->size() != count) return -1;
            return static_cast<int>(std::count_if(gpus->begin(), gpus->end(),
                                                  [](const auto& gpu) { return !gpu.silent.empty(); }));
        };
        REQUIRE(test::eventually([&] { return silent_of(before) == 1; }));
        host.gpus("count=3\n" + silent); // as many as there are is asked when it is opened
        REQUIRE(test::eventually([&] { return silent_of(3) == 1; }));
        host.gpus("count=3\n");
        REQUIRE(test::eventually([&] { return silent_of(3) == 0; })); // and is left open
        host.gpus("count=3\n2.xid=79\n2.xid_seq=1\n");
        CHECK(hears(sources, 79));
    }
}

TEST_CASE("while NVML hangs its XIDs are heard") {
    const test::Hardware host(1);
    host.gpus("count=1\n");
    Sources sources(settings_for(host));
    sources.await_first(test::patience());
    const auto hear = [&](std::uint32_t code) { return hears(sources, code); };
    host.gpus("count=1\n0.xid=31\n0.xid_seq=1\n");
    CHECK(hear(31));
    const auto hangs = "count=1\n0.hang_ms=" + for_ever + "\n";
    host.gpus(hangs + "0.xid=31\n0.xid_seq=1\n");
    std::this_thread::sleep_for(200ms); // a sample begins each 20 ms
    host.gpus(hangs + "0.xid=119\n0.xid_seq=2\n");
    CHECK(hear(119));
    // Once NVML answers again the thread that samples hears them.
    host.gpus("count=1\n0.xid=48\n0.xid_seq=3\n");
    CHECK(hear(48));
}

TEST_CASE("a step of the wall's clock moves no window, and reports follow the wall") {
    const test::Hardware host(1);
    host.gpus("count=1\n0.reasons=0x80\n0.fail_times=3\n");
    Watching watching(host);
    const base::Time steady{std::chrono::seconds(1'000'000)}, wall{std::chrono::seconds(2'000'000)};
    for (int i = 0; i <= 6; ++i)
        watching.watcher.next(steady + i * 50ms, wall + i * 50ms);
    const auto [report, changes] = watching.watcher.next(steady + 350ms, wall + 350ms + 1h);
    REQUIRE(report.findings.size() == 1);
    CHECK(report.findings[0].since == wall + 1h);
}

TEST_CASE("--once prints what is there, for people and for machines") {
    const test::Hardware host(2);
    host.gpus("count=2\n1.reasons=0x80\n0.lost=1\n");
    host.set({"mlx5_1.link_downed=3"});
    auto settings = settings_for(host);
    settings.every_counter = true;
    Sources sources(settings);
    sources.await_first(test::patience());
    const auto reading = sources.read(base::now());
    const auto findings = Judge(Limits{}).judge(reading.sample);
    const auto text = print_text("n001", reading, findings);
    for (const auto* part :
         {"n001", "mlx5_1:1", "link_downed=3", "0x80 hw_power_brake", "lost", "gpu.lost"}) {
        INFO(part);
        CHECK(text.find(part) != std::string::npos);
    }
    const auto json = base::parse_json(print_json("n001", reading, findings));
    REQUIRE(json);
    CHECK(json->at("links").as_array().size() == 2);
    CHECK(json->at("links").at(1).at("counters").at("link_downed").to_number<int>() == 3);
    CHECK(json->at("links").at(0).at("counters").as_object().size() == 46);
    CHECK(json->at("gpus").at(0).at("lost").as_bool());
    CHECK(json->at("findings").at(0).at("rule").as_string() == "gpu.lost");
    CHECK(json->at("watching").at("nvml").as_bool());
}
