#include "restart/watch/job_session.hpp"
#include "restart/watch/pace_meter.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <functional>
#include <limits>

using namespace std::chrono_literals;
using namespace restart;

namespace {

// A host of two GPUs and one port, which carries 100 MB/s each way in every fourth second, four times that.
struct Host {
    PaceMeter meter;
    base::Time now{std::chrono::seconds(1'700'000'000)};
    std::uint64_t words = 1'000, waits = 0, resent = 5;
    double mb_s = 100;
    std::uint32_t busy = 90;
    int second = 0;

    explicit Host(base::Duration window = 10s) { meter.set_window(window); }

    Sample sample() {
        Sample made;
        made.now = now;
        PortSample port;
        port.device = "mlx5_0";
        port.state = "ACTIVE";
        port.rate_gbps = 400;
        port.counters = {{"port_xmit_data", words},
                         {"port_rcv_data", words},
                         {"port_xmit_wait", waits},
                         {"local_ack_timeout_err", resent},
                         {"packet_seq_err", 0}};
        made.ib = IbSample{{port}, {}, {}};
        made.gpus.emplace(2);
        for (std::uint32_t i = 0; i < 2; ++i) {
            auto& gpu = (*made.gpus)[i];
            gpu.index = i;
            gpu.sm_mhz = 1700 + 10 * (second % 2);
            gpu.power_mw = 500'000;
            gpu.busy_percent = busy;
            gpu.pcie_generation = second == 3 ? 5 : 1; // at rest but once
            gpu.pcie_width = 16;
        }
        return made;
    }
    // One second; whether a window ended.
    bool pass() {
        now += 1s;
        ++second;
        if (second % 4 == 0) words += static_cast<std::uint64_t>(mb_s * 4e6 / 4);
        waits += 1'000;
        resent += 2;
        return meter.look(sample(), now);
    }
    std::optional<HostPace> window() {
        while (!pass()) {}
        return meter.pace(false);
    }
};

} // namespace

TEST_CASE("a window tells means, and the peak of traffic") {
    Host host;
    host.window();
    const auto pace = host.window();
    REQUIRE(pace);
    CHECK(pace->seconds == 10);
    CHECK(check(*pace));
    REQUIRE(pace->gpus.size() == 2);
    CHECK(pace->gpus[1].gpu == 1);
    CHECK(*pace->gpus[0].sm_mhz >= 1700);
    CHECK(*pace->gpus[0].sm_mhz <= 1710);
    CHECK(*pace->gpus[0].power_w == 500);
    CHECK(*pace->gpus[0].busy == 0.9);
    REQUIRE(pace->ports.size() == 1);
    CHECK(pace->ports[0].port == "mlx5_0:1");
    CHECK(pace->ports[0].peak_mb_s == 800); // both ways, in the seconds in which it carries something
    CHECK(pace->ports[0].mb_s > 100);
    CHECK(pace->ports[0].mb_s < 300);
    CHECK(pace->ports[0].waits == 1000.0);
    CHECK(pace->ports[0].resent == 2);
    CHECK(pace->ports[0].gbps == 400);
    const auto next = host.window();
    REQUIRE(next);
    CHECK(next->window > pace->window);
}

TEST_CASE("a window tells how long the power limit held a GPU down, and its clock then") {
    Host host;
    const auto pace = [&](const std::function<void(GpuSample&)>& change) {
        for (;;) {
            auto sample = host.sample();
            for (auto& gpu : *sample.gpus)
                change(gpu);
            host.now += 1s;
            ++host.second;
            sample.now = host.now;
            if (host.meter.look(sample, host.now)) return host.meter.pace(true)->gpus.at(1);
        }
    };
    const auto computes = [&](GpuSample& gpu) {
        const bool at_limit = host.second % 2 == 0;
        gpu.reasons = at_limit ? 0x4 : 0;
        gpu.sm_mhz = at_limit ? 1400 : 1980;
        gpu.power_limit_mw = 700'000;
        gpu.sm_active = 0.48;
    };
    pace(computes);
    const auto capped = pace(computes);
    CHECK(*capped.capped > 0.4);
    CHECK(*capped.capped < 0.6);
    CHECK(*capped.capped_mhz == 1400);
    CHECK(*capped.sm_mhz > 1600);
    CHECK(*capped.limit_w == 700);
    CHECK(*capped.slowed == 0);
    CHECK(*capped.sm_active == 0.48);
    CHECK_FALSE(capped.tensor_active);
    const auto braked = pace([](GpuSample& gpu) { gpu.reasons = 0x88; });
    CHECK(*braked.slowed == 1);
    CHECK(*braked.capped == 0);
    CHECK_FALSE(braked.capped_mhz);
    CHECK(work_of(braked) == GpuWork::throttled);
}

TEST_CASE("GPM knows who waits where power does not, and power what GPM has not counted yet") {
    GpuPace gpu;
    CHECK_FALSE(work_of(gpu));
    gpu.busy = 1;
    CHECK(work_of(gpu) == GpuWork::working); // nothing says that it waits
    gpu.power_w = 125;
    CHECK(work_of(gpu) == GpuWork::working);
    gpu.limit_w = 700;
    CHECK(work_of(gpu) == GpuWork::waiting);
    gpu.sm_active = 0.6; // small kernels
    CHECK(work_of(gpu) == GpuWork::working);
    gpu.sm_active = 0.1;
    CHECK(work_of(gpu) == GpuWork::waiting);
    gpu.tensor_active = 0.05;
    CHECK(work_of(gpu) == GpuWork::working);
    gpu.tensor_active = 0;
    gpu.power_w = 210;
    CHECK(work_of(gpu) == GpuWork::waiting);
    gpu.power_w = 500;
    CHECK(work_of(gpu) == GpuWork::working);
    gpu.busy = 0;
    CHECK(work_of(gpu) == GpuWork::idle);
}

TEST_CASE("a PCIe link that rested but once is as wide as it was then") {
    Host host;
    const auto pace = host.window();
    REQUIRE(pace);
    CHECK(*pace->gpus[0].pcie_gbs == 63);
}

TEST_CASE("a host on which nothing works has no pace, except where processes make marks") {
    Host host;
    host.mb_s = 0;
    host.busy = 0;
    CHECK_FALSE(host.window());
    CHECK(host.meter.pace(true));
    host.busy = 50;
    CHECK(host.window());
}

TEST_CASE("counters that are set back, and ports and GPUs that go, leave no wrong numbers") {
    Host host;
    host.window();
    host.words = 0; // the driver was loaded anew
    host.resent = 0;
    host.waits = 0;
    auto pace = host.window();
    REQUIRE(pace);
    CHECK(pace->ports[0].mb_s < 300);
    CHECK(pace->ports[0].peak_mb_s == 800);
    // Nothing is read for a while: no window ends out of nothing, and the next one has what came then.
    for (int i = 0; i < 30; ++i) {
        host.now += 1s;
        Sample empty;
        empty.now = host.now;
        host.meter.look(empty, host.now);
    }
    CHECK_FALSE(host.meter.pace(false));
    REQUIRE(host.window());
    for (const std::uint64_t count : {std::uint64_t{0}, std::numeric_limits<std::uint64_t>::max()}) {
        host.words = count;
        while (!host.pass()) {}
        if (const auto made = host.meter.pace(true)) {
            INFO(made->ports.size());
            CHECK(check(*made));
        }
    }
}

TEST_CASE("without a window there is no pace, and looks that follow closely count once") {
    Host off(0s);
    for (int i = 0; i < 100; ++i)
        CHECK_FALSE(off.pass());
    CHECK_FALSE(off.meter.pace(true));
    Host host;
    host.window();
    const auto again = host.sample();
    CHECK_FALSE(host.meter.look(again, host.now));
    CHECK_FALSE(host.meter.look(again, host.now + 100ms));
}

TEST_CASE("step marks of a host's processes become shares of its window") {
    JobBook book;
    UcxBook ucx; // nobody speaks of it here
    JobSession first(book, ucx, 1000), second(book, ucx, 1000);
    const base::Time now{std::chrono::seconds(1'700'000'000)};
    for (auto* session : {&first, &second})
        session->answer(R"({"op":"hello","job":12,"epoch":1,"rank":0})", now);
    const auto mark = [&](JobSession& session, int rank, int steps, double seconds, double waited) {
        return session.answer(
            fmt::format(R"({{"op":"mark","rank":{},"steps":{},"seconds":{},"waited_s":{}}})", rank, steps,
                        seconds, waited),
            now);
    };
    CHECK(mark(first, 0, 50, 5, 1) == "{\"ok\":true}\n");
    CHECK(mark(first, 0, 50, 5, 2) == "{\"ok\":true}\n");
    CHECK(mark(second, 1, 100, 10, 9) == "{\"ok\":true}\n");
    CHECK(book.entries()[0].ranks.empty()); // its window has not ended
    CHECK(book.end_window());
    CHECK(book.entries()[0].ranks == std::vector<RankPace>{{0, 10, 0.3}, {1, 10, 0.9}});
    // Steps that are longer than a window keep what was said last, for a while.
    mark(first, 0, 1, 10, 4);
    CHECK(book.end_window());
    CHECK(book.entries()[0].ranks == std::vector<RankPace>{{0, 0.1, 0.4}, {1, 10, 0.9}});
    for (int i = 0; i < 3; ++i)
        book.end_window();
    CHECK_FALSE(book.end_window());
    CHECK(book.entries()[0].ranks.empty());

    for (const auto& [steps, seconds, waited] :
         {std::tuple{1, 0.0, 0.0}, {1, 1.0, 2.0}, {1, 1.0, -1.0}, {1, 1e9, 0.0}})
        CHECK(mark(first, 0, steps, seconds, waited).find("\"ok\":false") != std::string::npos);
    for (int rank = 0; rank < 1'000; ++rank)
        mark(first, rank, 1, 1, 0.5);
    book.end_window();
    CHECK(book.entries()[0].ranks.size() == most_paced_ranks);
    Report report;
    report.host = "n001";
    report.jobs = book.entries();
    report.pace = HostPace{1, 10, {}, {}};
    CHECK(*Report::from_json(report.to_json()) == report);
}
