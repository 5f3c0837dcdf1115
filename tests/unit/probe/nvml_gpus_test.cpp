#include "probe/nvml_gpus.hpp"

#include "hardware.hpp"
#include "unit/patience.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <string_view>
#include <thread>
#include <unistd.h>

using namespace std::chrono_literals;
using probe::NvmlGpus;

TEST_CASE("GPUs through NVML: what each tells") {
    const test::Hardware host(0);
    host.gpus(
        "count=3\n1.reasons=0xc8\n1.ecc_unc=2\n1.ecc_cor=9\n2.remap_pending=1\n2.remap_failed=1\n"
        "1.pcie_gen=4\n1.pcie_width=8\n1.pcie_replay=11\n1.sm_mhz=1200\n1.mem_mhz=2600\n1.draws_mw=512345\n"
        "1.busy=97\n2.fail_busy=999\n2.fail_draws_mw=3\n");
    auto gpus = NvmlGpus::open(host.nvml());
    REQUIRE(gpus);
    auto sample = gpus->sample();
    REQUIRE(sample.size() == 3);
    CHECK(sample[1].pci == "0000:30:00.0");
    CHECK(sample[1].reasons == 0xc8);
    CHECK(sample[1].ecc_uncorrected == 2U);
    CHECK(sample[1].ecc_corrected == 9U);
    CHECK(sample[1].pcie_generation == 4U);
    CHECK(sample[1].pcie_generation_max == 5U);
    CHECK(sample[1].pcie_width == 8U);
    CHECK(sample[1].pcie_width_max == 16U);
    CHECK(sample[1].pcie_replays == 11U);
    CHECK(sample[1].sm_mhz == 1200U);
    CHECK(sample[1].mem_mhz == 2600U);
    CHECK(sample[1].power_mw == 512345U);
    CHECK(sample[1].busy_percent == 97U);
    CHECK_FALSE(sample[2].busy_percent);
    CHECK_FALSE(sample[2].power_mw); // not supported: nothing is hidden
    CHECK(sample[2].unseen == std::vector<std::string>{"utilization: NVML: Unknown Error (999)"});
    CHECK(sample[2].remap_pending == true);
    CHECK(sample[2].remap_failed == true);
    CHECK(sample[0].remap_failed == false);

    host.gpus("count=3\n0.reasons=0x4\n2.lost=1\n"); // seen without opening anew
    sample = gpus->sample();
    CHECK(sample[0].reasons == 4);
    CHECK(sample[1].reasons == 0);
    CHECK(sample[2].lost);
}

TEST_CASE(
    "NVLink, the NVSwitch fabric, violation times and the recovery action, of new drivers and of old ones") {
    const test::Hardware host(0);
    const std::string state = "count=2\n1.links_up=17\n1.crc=7\n1.replay=5\n1.recovery=3\n1.power_ms=1500\n"
                              "1.thermal_ms=20\n1.hw_thermal_ms=15\n1.sw_thermal_ms=5\n1.brake_ms=7\n1."
                              "action=2\n1.fabric=3\n1.fabric_status=999\n";
    for (const bool old : {false, true}) {
        INFO(old);
        host.gpus(state + (old ? "old=1\n" : ""));
        auto gpus = NvmlGpus::open(host.nvml());
        REQUIRE(gpus);
        const auto sample = gpus->sample();
        REQUIRE(sample.size() == 2);
        CHECK(sample[0].nvlinks_active == 18U);
        CHECK(sample[1].nvlinks_active == 17U);
        CHECK(sample[1].nvlink_crc == 7U);
        CHECK(sample[1].nvlink_replays == 5U);
        CHECK(sample[1].nvlink_recoveries == 3U);
        CHECK_FALSE(sample[1].nvlink_rcv_errors); // of NVLink 5
        CHECK(sample[1].power_violation_ms == 1500U);
        CHECK(sample[1].thermal_violation_ms == 20U);
        const auto counts = [&](std::uint64_t ms) { return old ? std::nullopt : std::optional(ms); };
        CHECK(sample[1].hw_thermal_ms == counts(15));
        CHECK(sample[1].sw_thermal_ms == counts(5));
        CHECK(sample[1].power_brake_ms == counts(7));
        CHECK(sample[1].fabric_state == 3U);
        CHECK(sample[1].fabric_status == 999U);
        CHECK(sample[1].recovery_action == (old ? std::nullopt : std::optional<std::uint32_t>(2)));
        CHECK(sample[0].unseen.empty()); // what an old driver does not have is not hidden
        CHECK(sample[1].unseen.empty());
    }
}

TEST_CASE("a GPU's NVLink domain is the cluster and clique of a registration that has succeeded") {
    const test::Hardware host(0);
    const auto registered = [](int gpu) {
        const auto n = std::to_string(gpu);
        return n + ".fabric=3\n" + n + ".cluster=0x6b1f000000000a\n" + n + ".clique=" + n + "\n";
    };
    const std::string state = "count=6\n" + registered(0) + registered(1) + registered(2) +
                              "2.fabric_status=999\n" + registered(3) + registered(4) +
                              "4.lost=1\n5.fabric=3\n"; // of one host alone: no UUID
    for (const bool old : {false, true}) {
        INFO(old);
        host.gpus(state + (old ? "old=1\n" : ""));
        const auto gpus = NvmlGpus::open(host.nvml());
        REQUIRE(gpus);
        host.gpus(state + "3.fabric=2\n" + (old ? "old=1\n" : ""));
        CHECK(gpus->nvlink_domains() == std::vector<std::string>{"00000000-0000-0000-006b-1f000000000a.0",
                                                                 "00000000-0000-0000-006b-1f000000000a.1", "",
                                                                 "", "", ""});
    }
}

TEST_CASE("what NVML asks the driver for is asked with each tenth sample, the rest with each") {
    const test::Hardware host(0);
    host.gpus("count=1\n");
    auto gpus = NvmlGpus::open(host.nvml());
    REQUIRE(gpus);
    CHECK(gpus->sample()[0].nvlink_replays == 0U);
    host.gpus("count=1\n0.replay=9\n0.pcie_replay=7\n0.pcie_width=8\n0.pcie_gen=3\n0.reasons=4\n");
    for (int i = 1; i < 10; ++i) {
        const auto sample = gpus->sample();
        CHECK(sample[0].nvlink_replays == 0U);
        CHECK(sample[0].pcie_replays == 0U);
        CHECK(sample[0].pcie_width == 16U);
        CHECK(sample[0].pcie_generation == 3U);
        CHECK(sample[0].reasons == 4U);
    }
    const auto sample = gpus->sample();
    CHECK(sample[0].nvlink_replays == 9U);
    CHECK(sample[0].pcie_replays == 7U);
    CHECK(sample[0].pcie_width == 8U);
}

TEST_CASE("GPM's counters are read of GPUs on which kernels run, soon and then seldom") {
    const test::Hardware host(0);
    const std::string works = "count=3\n0.busy=100\n1.busy=100\n1.gpm=0\n0.limit_mw=650000\n";
    host.gpus(works);
    auto gpus = NvmlGpus::open(host.nvml());
    REQUIRE(gpus);
    auto sample = gpus->sample();
    CHECK(sample[0].power_limit_mw == 650'000U);
    host.gpus(works + "0.sm_active=96\n0.tensor_active=93\n1.sm_active=9\n2.sm_active=9\n");
    const auto samples = [&](int n) {
        for (int i = 0; i < n; ++i)
            sample = gpus->sample();
    };
    samples(9);
    CHECK_FALSE(sample[0].sm_active); // nothing to compare with
    samples(1);
    CHECK(sample[0].sm_active == 0.96);
    CHECK(sample[0].tensor_active == 0.93);
    CHECK_FALSE(sample[1].sm_active); // it has none
    CHECK_FALSE(sample[2].sm_active); // no kernel runs there
    host.gpus(works + "0.sm_active=1\n");
    samples(39);
    CHECK(sample[0].sm_active == 0.96);
    samples(1);
    CHECK(sample[0].sm_active == 0.01);
    CHECK(sample[0].tensor_active == 0.0);
    // While its power says that it works they are read more seldom, and soon after it says so no more.
    const auto draws = works + "0.draws_mw=600000\n0.sm_active=";
    host.gpus(draws + "90\n");
    samples(40);
    CHECK(sample[0].sm_active == 0.9);
    host.gpus(draws + "80\n");
    samples(119);
    CHECK(sample[0].sm_active == 0.9);
    samples(1);
    CHECK(sample[0].sm_active == 0.8);
    samples(40);
    host.gpus(works + "0.sm_active=1\n");
    samples(2);
    CHECK(sample[0].sm_active == 0.8);
    samples(1);
    CHECK_FALSE(sample[0].sm_active);
    samples(10);
    CHECK(sample[0].sm_active == 0.01);
    host.gpus("count=3\n");
    samples(1);
    CHECK_FALSE(sample[0].sm_active);
    // A GPU that refuses them is not asked at each look.
    host.gpus(works + "0.fail_gpm=999\n");
    samples(1);
    CHECK(sample[0].unseen == std::vector<std::string>{"GPM counters: NVML: Unknown Error (999)"});
    samples(1);
    CHECK(sample[0].unseen.empty());
    host.gpus(works + "0.sm_active=50\n");
    samples(60);
    CHECK(sample[0].sm_active == 0.5);
}

TEST_CASE("times of a GPU that a brake slows are asked with each sample; a driver without them has a bit") {
    const test::Hardware host(0);
    host.gpus("count=2\n1.fail_times=3\n1.thermal_ms=20\n");
    auto gpus = NvmlGpus::open(host.nvml());
    REQUIRE(gpus);
    auto sample = gpus->sample();
    CHECK(sample[0].power_brake_ms == 0U);
    CHECK_FALSE(sample[1].power_brake_ms);
    CHECK(sample[1].thermal_violation_ms == 20U); // the older way
    host.gpus("count=2\n0.reasons=0x80\n0.brake_ms=500\n1.fail_times=3\n1.reasons=0x4\n1.pcie_width=8\n");
    sample = gpus->sample(); // which sees the reason
    CHECK(sample[0].power_brake_ms == 0U);
    sample = gpus->sample();
    CHECK(sample[1].pcie_width == 16U); // of the one whose power is capped, as always under load
    CHECK(sample[1].unseen.empty());
    const auto first = sample[0].power_brake_ms;
    REQUIRE(first);
    CHECK(*first >= 500);
    CHECK(test::eventually([&] { return *gpus->sample()[0].power_brake_ms > *first; }));
}

TEST_CASE("a GPU without a handle, and one that answers nothing, keep their place and say why") {
    const test::Hardware host(0);
    for (const int code : {1, 4, 16, 999}) {
        INFO(code);
        host.gpus(fmt::format("count=3\n1.fail_handle={}\n", code));
        auto gpus = NvmlGpus::open(host.nvml());
        REQUIRE(gpus);
        CHECK(gpus->has_silent());
        host.gpus(fmt::format("count=3\n1.fail_handle={0}\n2.fail={0}\n", code));
        const auto sample = gpus->sample();
        REQUIRE(sample.size() == 3);
        for (const auto& gpu : sample) {
            CHECK(gpu.silent.empty() == (gpu.index == 0));
            CHECK_FALSE(gpu.lost);
        }
        CHECK(sample[1].silent.find(fmt::format("({})", code)) != std::string::npos);
        CHECK(sample[2].silent == sample[1].silent);
        CHECK(sample[1].pci.empty());
        CHECK(gpus->has_silent());
    }
    host.gpus("count=1\n0.fail=3\n"); // not supported: nothing is hidden
    auto gpus = NvmlGpus::open(host.nvml());
    CHECK(gpus->sample().at(0).silent.empty());
    CHECK_FALSE(gpus->has_silent());
}

TEST_CASE("times are asked with each fortieth sample, and what they grew by is handed on evenly, all of it") {
    const test::Hardware host(0);
    host.gpus("count=2\n0.brake_ms=100\n1.brake_ms=100\n");
    auto gpus = NvmlGpus::open(host.nvml());
    REQUIRE(gpus);
    std::vector<std::uint64_t> before(2, 100);
    const auto grown = [&](std::size_t gpu) {
        const auto now = gpus->sample()[gpu].power_brake_ms;
        REQUIRE(now);
        return *now - std::exchange(before[gpu], *now);
    };
    CHECK(grown(0) == 0);
    host.gpus("count=2\n0.brake_ms=20100\n1.brake_ms=20100\n");
    for (int i = 1; i < 40; ++i)
        CHECK(grown(0) == 0);
    for (int i = 0; i < 39; ++i)
        CHECK(grown(0) == 501); // of 40 samples, 20 s: never more than half of the time
    CHECK(grown(0) == 20'000 - 39 * 501);
    host.gpus("count=2\n0.brake_ms=100\n1.brake_ms=100\n"); // the driver was loaded again
    before[0] = gpus->sample(NvmlGpus::Ask::all)[0].power_brake_ms.value();
    CHECK(before[0] == 100);
    CHECK(grown(0) == 0);
    // Who asks for all has it at once, as has who asks as often as the rules count on.
    host.gpus("count=2\n0.brake_ms=300\n1.brake_ms=300\n");
    CHECK(gpus->sample(NvmlGpus::Ask::all)[0].power_brake_ms == 300U);
}

TEST_CASE("every error of NVML makes a GPU that is partly unseen, or lost, and no value from before") {
    const test::Hardware host(0);
    host.gpus("count=1\n0.reasons=8\n");
    auto gpus = NvmlGpus::open(host.nvml());
    REQUIRE(gpus);
    gpus->sample();
    const auto samples = [&](int count) {
        auto sample = gpus->sample();
        while (--count > 0)
            sample = gpus->sample();
        return sample.at(0);
    };
    for (int code = 1; code <= 30; ++code) {
        for (const auto* what : {"fail", "fail_ecc", "fail_reasons", "fail_fields", "fail_links",
                                 "fail_fabric", "fail_violation", "fail_remap_cor", "fail_pcie_gen"}) {
            INFO(what << " " << code);
            host.gpus(fmt::format("count=1\nold={}\n0.{}={}\n",
                                  what == std::string_view("fail_violation") ? 1 : 0, what, code));
            const auto gpu = samples(40);
            const bool absent = code == 2 || code == 3 || code == 13 || code == 25;
            if (code == 15)
                CHECK((gpu.lost || what != std::string_view("fail")));
            else
                CHECK(gpu.unseen.empty() == absent);
            if (what == std::string_view("fail")) {
                CHECK_FALSE(gpu.reasons);
                CHECK_FALSE(gpu.ecc_corrected);
                CHECK_FALSE(gpu.nvlinks_active);
                CHECK_FALSE(gpu.fabric_state);
                CHECK_FALSE(gpu.power_violation_ms);
            }
        }
    }
    host.gpus("count=1\n0.fail_ecc=999\n");
    const auto gpu = samples(10);
    REQUIRE(gpu.unseen.size() == 2); // corrected and uncorrected
    CHECK(gpu.unseen[0] == "ECC errors: NVML: Unknown Error (999)");
    CHECK(gpu.reasons == 0U);
}

TEST_CASE("XIDs come as events, each once") {
    const test::Hardware host(0);
    host.gpus("count=2\n0.xid=31\n0.xid_seq=5\n");
    auto gpus = NvmlGpus::open(host.nvml());
    REQUIRE(gpus);
    REQUIRE(gpus->has_xid_events());
    CHECK(gpus->wait_xids(0ms).empty()); // from before
    std::thread fault([&] {
        std::this_thread::sleep_for(50ms);
        host.gpus("count=2\n0.xid=31\n0.xid_seq=6\n1.xid=79\n1.xid_seq=1\n");
    });
    const auto events = gpus->wait_xids(test::patience());
    fault.join();
    REQUIRE(events.size() == 2);
    CHECK(events[0].pci == "0000:14:00.0");
    CHECK(events[0].code == 31);
    CHECK(events[1].code == 79);
    CHECK(gpus->wait_xids(0ms).empty());
}

TEST_CASE("who computes on a GPU, and whether one user alone") {
    const test::Hardware host(0);
    const auto state = fmt::format("count=2\n0.pid={}\n1.pid=4194999\n", ::getpid());
    host.gpus(state);
    auto gpus = NvmlGpus::open(host.nvml());
    REQUIRE(gpus);
    auto sample = gpus->sample();
    CHECK(sample[0].users == std::vector<std::uint32_t>{::getuid()});
    CHECK_FALSE(sample[1].users); // of a process that is not seen
    CHECK(gpus->only_user(sample[0].pci) == ::getuid());
    CHECK_FALSE(gpus->only_user(sample[1].pci));
    CHECK_FALSE(gpus->only_user("0000:99:00.0"));
    host.gpus("count=2\n");
    for (int i = 0; i < 10; ++i)
        sample = gpus->sample();
    CHECK(sample[0].users == std::vector<std::uint32_t>{});
    CHECK_FALSE(gpus->only_user(sample[0].pci));
}

TEST_CASE("an event that is no XID has the next sample ask all; drivers without such events tell XIDs") {
    const test::Hardware host(0);
    for (const bool old : {false, true}) {
        INFO(old);
        const std::string state = fmt::format("count=1\nold={}\n", old ? 1 : 0);
        host.gpus(state);
        auto gpus = NvmlGpus::open(host.nvml());
        REQUIRE(gpus);
        REQUIRE(gpus->has_xid_events());
        gpus->sample();
        host.gpus(state + "0.pcie_width=8\n0.event=0x8000\n0.xid_seq=1\n");
        CHECK(gpus->wait_xids(old ? 0ms : 1s).empty());
        CHECK(gpus->sample()[0].pcie_width == (old ? 16U : 8U));
        host.gpus(state + "0.xid=31\n0.xid_seq=2\n");
        CHECK(gpus->wait_xids(test::patience()).size() == 1);
        CHECK(gpus->sample()[0].pcie_width == (old ? 16U : 8U));
    }
}

TEST_CASE("no library, a library of something else, a driver that is not loaded") {
    const auto missing = NvmlGpus::open("libnvidia-ml-of-nowhere.so.1");
    REQUIRE_FALSE(missing);
    CHECK(missing.error().code == base::Code::not_found);
    CHECK(missing.error().text.find("libnvidia-ml-of-nowhere.so.1") != std::string::npos);

    const auto other = NvmlGpus::open("libm.so.6");
    REQUIRE_FALSE(other);
    CHECK(other.error().text.find("is no NVML") != std::string::npos);

    const test::Hardware host(0);
    host.gpus("init=9\n");
    const auto idle = NvmlGpus::open(host.nvml());
    REQUIRE_FALSE(idle);
    CHECK(idle.error().code == base::Code::unavailable);
    CHECK(idle.error().text.find("Driver Not Loaded (9)") != std::string::npos);
}

TEST_CASE("the real NVML without a driver says so") {
    const auto gpus = NvmlGpus::open("libnvidia-ml.so.1");
    if (!gpus && gpus.error().code == base::Code::not_found) {
        WARN("SKIP: " << gpus.error().text);
        return;
    }
    if (!gpus) CHECK(gpus.error().text.find("NVML: ") != std::string::npos);
}
