// Days of an agent on a clock that the test moves: the probes over the doubles of sysfs, NVML and the kernel
// log, the judge, reports, metrics and signals, while devices come and go. What it holds at the end of one
// day it holds at the end of the next. RAIL_SOAK_SECONDS=1 looks each second of that day, as nodewatchd does:
// half a minute of CPU, for changes of what is kept.
#include "restart/watch/metrics_board.hpp"
#include "restart/watch/watcher.hpp"
#include "unit/probe/hardware.hpp"
#include "unit/trials.hpp"

#include "probe/kmsg_log.hpp"
#include "probe/nvml_gpus.hpp"
#include "probe/proc_host.hpp"
#include "probe/sysfs_ib.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <malloc.h>
#include <unistd.h>

using namespace std::chrono_literals;
using namespace restart;

namespace {

SourceSettings nothing() {
    SourceSettings settings;
    settings.sysfs = settings.proc = "/nonexistent";
    settings.nvml = settings.kmsg = {};
    return settings;
}

std::size_t descriptors() {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

// Bytes that are in use; the sanitizers' allocator tells none, and finds what leaks by itself.
std::size_t heap() {
    return ::mallinfo2().uordblks;
}

double resident_mb() {
    std::ifstream file("/proc/self/statm");
    double total = 0, resident = 0;
    file >> total >> resident;
    return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1e6;
}

class Agent {
public:
    static constexpr int hcas = 8;

    // One look, so long after the last.
    void look(base::Duration step) {
        const auto before = second_;
        now_ += step;
        second_ = std::chrono::duration_cast<std::chrono::seconds>(now_ - start).count();
        for (auto second = before + 1; second <= second_; ++second)
            happens(second);
        Reading reading;
        reading.sample.now = now_;
        reading.sample.ib = ib_.sample(probe::SysfsIb::Depth::judged);
        reading.sample.gpus = gpus_.sample();
        if (second_ % 10 == 0) host_sample_ = host_.sample();
        reading.sample.host = host_sample_;
        auto lines = kmsg_.drain();
        reading.sample.xids = std::move(lines.xids);
        for (auto& xid : gpus_.wait_xids(0ms))
            reading.sample.xids.push_back(std::move(xid));
        reading.sample.driver_lines = std::move(lines.drivers);
        reading.sample.listed.emplace();
        reading.watching = {{"infiniband", true}, {"nvml", true}, {"kmsg", true}, {"host", true}};
        auto [report, changes] = watcher_.take(std::move(reading), now_);
        board_.put(watcher_.last(), now_, now_, 0.0001);
        most_findings_ = std::max(most_findings_, report.findings.size());
        began_ += changes.began.size();
        ended_ += changes.ended.size();
        if (second_ % 60 != 0) return;
        REQUIRE(Report::from_json(report.to_json()));
        REQUIRE(board_.page());
        if (second_ % 3600 == 0) REQUIRE_FALSE(watcher_.signals().to_json().empty());
    }
    void run(base::Duration time, base::Duration step) {
        for (const auto end = now_ + time; now_ < end;)
            look(step);
    }

    // What was found, of which there must be something for the day to be one.
    std::size_t most_findings_ = 0, began_ = 0, ended_ = 0;

private:
    // The same each day: each hour another device.
    void happens(std::int64_t second) {
        const auto hour = second / 3600 % 24;
        const auto device = hour % hcas;
        const auto path = [&](std::string_view file) {
            return fmt::format("class/infiniband/mlx5_{}/ports/1/{}", device, file);
        };
        const auto entry = hardware_.sysfs() / fmt::format("class/infiniband/mlx5_{}", device);
        if (second % 10 == 0)
            // In place: a file that is cut and written anew is written to the disk at once.
            std::ofstream(hardware_.sysfs() / path("counters/symbol_error"), std::ios::in | std::ios::out)
                << fmt::format("{:06}\n", ++errors_ % 100'000);
        switch (second % 3600) {
        case 300: std::filesystem::rename(entry, entry.string() + ".away"); break;
        case 360: std::filesystem::rename(entry.string() + ".away", entry); break;
        case 900: hardware_.gpus(fmt::format("count=8\n{}.reasons=0x80\n", device)); break;
        case 1020: hardware_.gpus("count=8\n"); break;
        case 1500:
            hardware_.gpus(fmt::format("count=8\n{0}.lost=1\n{1}.fail=999\n", device, (device + 1) % 8));
            break;
        case 1530:
            hardware_.gpus(fmt::format("count=8\n{}.xid=31\n{}.xid_seq={}\n", device, device, second));
            break;
        case 2100:
            for (int i = 0; i < 200; ++i)
                hardware_.log(
                    fmt::format("NVRM: Xid (PCI:0000:{:02x}:00): {}, made up\nmlx5_core 0000:13:00.0: "
                                "TX timeout detected\n",
                                0x14 + device * 28, 13 + i));
            break;
        case 2700: hardware_.write(path("state"), "1: DOWN\n"); break;
        case 2740: hardware_.write(path("state"), "4: ACTIVE\n"); break;
        case 3000:
        case 3300: watcher_.set_rules(Limits{}, second % 3600 == 3000 ? site_ : RuleSet()); break;
        default: break;
        }
    }

    static constexpr base::Time start{std::chrono::hours(480'000)};
    const RuleSet site_ = RuleSet::from_text("[[rule]]\nname = \"site.packets\"\nsignal = "
                                             "\"ib.counter.port_rcv_packets\"\ntest = \"delta\"\nvalue = 1\n"
                                             "window = \"1h\"\nseverity = \"info\"\nfault = \"other\"\n",
                                             "site")
                              .value();
    test::Hardware hardware_{hcas};
    probe::SysfsIb ib_{hardware_.sysfs(), RuleBook::counters({})};
    probe::NvmlGpus gpus_ = *probe::NvmlGpus::open(test::Hardware::nvml());
    probe::Kmsg kmsg_ = *probe::Kmsg::open(hardware_.kmsg());
    base::Time now_ = start;
    std::int64_t second_ = 0;
    std::uint64_t errors_ = 0;
    probe::ProcHost host_{"/proc", hardware_.sysfs(), [this] {
                              const auto since = std::chrono::duration_cast<base::Duration>(now_ - start);
                              return probe::Clocks{since, static_cast<double>(since.count()), true};
                          }};
    HostSample host_sample_;
    Sources sources_{nothing()};
    JobBook book_;
    Watcher watcher_{"n001", "boot", Limits{}, sources_, book_};
    MetricsBoard board_{"n001"};
};

} // namespace

TEST_CASE("a day of looks leaves memory and descriptors as they were") {
    Agent agent;
    // Windows look back for a day at most: then they hold what they ever will.
    agent.run(24h, 30s);
    const auto heap_before = heap();
    const auto open_before = descriptors();
    const auto resident_before = resident_mb();
    const auto began = agent.began_, ended = agent.ended_;
    const auto* seconds = std::getenv("RAIL_SOAK_SECONDS");
    agent.run(24h, std::chrono::seconds(seconds != nullptr ? std::max(1, std::atoi(seconds)) : 10));
    CHECK(descriptors() == open_before);
    const auto grown = static_cast<std::int64_t>(heap()) - static_cast<std::int64_t>(heap_before);
    CHECK(grown < 32 * 1024);
    INFO(fmt::format("{} B more in use, {:.1f} MB resident, was {:.1f}", grown, resident_mb(),
                     resident_before));
    // It has been a day: findings came and went.
    CHECK(agent.began_ - began > 24);
    CHECK(agent.ended_ - ended > 24);
    CHECK(agent.most_findings_ > 20);
    if (!test::sanitized) {
        CHECK(heap_before > 0);
        CHECK(resident_mb() < resident_before + 2);
    }
}
