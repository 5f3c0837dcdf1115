// What NVML does not show is no proof of health: GPUs that a host is known to have are missed.
#include "unit/restart/watch/sound_host.hpp"

#include <catch2/catch.hpp>

using namespace std::chrono_literals;
using namespace restart;
using test::find;
using test::Host;

namespace {

// At once to be avoided, and to be left after its window.
void is_missed(Host& host, std::string_view component, std::string_view why) {
    INFO(component);
    auto found = find(host.run(1s), "gpu.missing", component);
    REQUIRE(found);
    CHECK(found->severity == Severity::warn);
    CHECK(found->evidence.find(why) != std::string::npos);
    CHECK(find(host.run(118s), "gpu.missing", component)->severity == Severity::warn);
    found = find(host.run(3s), "gpu.missing", component);
    REQUIRE(found);
    CHECK(found->severity == Severity::evict);
    CHECK(found->evidence.find(why) != std::string::npos);
    CHECK(host.run(1s).size() == 1);
}

} // namespace

TEST_CASE("a GPU about which NVML answers nothing is missing, and back when it answers") {
    Host host;
    CHECK(host.run(5min).empty());
    auto silent = host.gpu(1);
    std::swap(silent, host.gpu(1));
    host.gpu(1) = GpuSample{};
    host.gpu(1).index = 1;
    host.gpu(1).silent = "NVML: Unknown Error (999)";
    SECTION("by its handle") {
        host.gpu(1).pci = silent.pci;
    }
    SECTION("without one, so that its address is not known") {
        host.sample.gpus_on_bus = {host.gpu(0).pci, silent.pci};
    }
    is_missed(host, "gpu1", "NVML: Unknown Error (999)");
    host.gpu(1) = silent;
    CHECK(host.run(1min).empty());
}

TEST_CASE("a GPU that the fabric file lists, the bus has or NVML has shown is missing where NVML has fewer") {
    Host host;
    const auto gone = host.gpu(1);
    std::string why;
    SECTION("in the fabric file") {
        host.sample.listed = Listing{"digest", {}, {}, {host.gpu(0).pci, gone.pci}};
        why = "the fabric file lists it, and NVML does not show it";
    }
    SECTION("on the bus") {
        host.sample.gpus_on_bus = {host.gpu(0).pci, gone.pci};
        why = "it is on the PCI bus";
    }
    SECTION("shown since the start") {
        host.run(2s);
        why = "NVML has shown it before";
    }
    host.sample.gpus->pop_back();
    is_missed(host, "gpu/0000:30:00", why);
    host.sample.gpus->push_back(gone);
    CHECK(host.run(1min).empty());
}

TEST_CASE("where NVML cannot start all GPUs are missing, those of a host that is known to have some") {
    Host host;
    const auto gpus = host.sample.gpus;
    host.sample.gpus.reset();
    host.sample.no_nvml = "libnvidia-ml.so.1: NVML: Driver/library version mismatch (18)";
    CHECK(host.run(5min).empty());
    host.sample.gpus_on_bus = {"0000:14:00.0", "0000:30:00.0"};
    is_missed(host, "gpu", "Driver/library version mismatch (18); the host has 2 GPUs");
    host.sample.gpus = gpus;
    host.sample.no_nvml.clear();
    CHECK(host.run(1min).empty());
}

TEST_CASE(
    "as many GPUs at other addresses than the file's, and those that are not for this agent, are no fault") {
    Host host;
    host.sample.listed = Listing{"digest", {}, {}, {"0000:80:00.0", "0000:81:00.0"}};
    CHECK(host.run(5min).empty());
    host.sample.listed->gpus = {host.gpu(0).pci, host.gpu(1).pci, "0000:80:00.0"};
    host.sample.gpus_on_bus = {"0000:81:00.0"};
    host.sample.gpus_ignored = {"mlx5_8", "0000:80:00.0", "0000:81:00"};
    CHECK(host.run(5min).empty());
    host.sample.gpus.reset(); // NVML hangs: neither there nor gone
    CHECK(host.run(5min).empty());
}
