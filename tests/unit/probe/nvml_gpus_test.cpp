#include "probe/nvml_gpus.hpp"

#include "hardware.hpp"

#include <catch2/catch.hpp>
#include <thread>

using namespace std::chrono_literals;
using probe::NvmlGpus;

TEST_CASE("GPUs through NVML: what each tells") {
    const test::Hardware host(0);
    host.gpus("count=3\n1.reasons=0xc8\n1.ecc_unc=2\n1.ecc_cor=9\n2.remap_pending=1\n2.remap_failed=1\n"
              "1.pcie_gen=4\n1.pcie_width=8\n1.pcie_replay=11\n");
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
    CHECK(sample[2].remap_pending == true);
    CHECK(sample[2].remap_failed == true);
    CHECK(sample[0].remap_failed == false);

    host.gpus("count=3\n0.reasons=0x4\n2.lost=1\n"); // seen without opening anew
    sample = gpus->sample();
    CHECK(sample[0].reasons == 4);
    CHECK(sample[1].reasons == 0);
    CHECK(sample[2].lost);
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
    const auto events = gpus->wait_xids(10s);
    fault.join();
    REQUIRE(events.size() == 2);
    CHECK(events[0].pci == "0000:14:00.0");
    CHECK(events[0].code == 31);
    CHECK(events[1].code == 79);
    CHECK(gpus->wait_xids(0ms).empty());
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
