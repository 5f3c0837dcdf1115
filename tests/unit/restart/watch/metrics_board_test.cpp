// What scrapes are told: by hand-made looks.
#include "restart/watch/metrics_board.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace std::chrono_literals;
using namespace restart;

namespace {

const base::Time start{std::chrono::seconds(1'700'000'000)};

LastLook look_with(std::vector<std::pair<std::string, std::uint32_t>> xids = {}) {
    LastLook look;
    look.sample.ib.emplace();
    look.sample.ib->ports.push_back(
        {"mlx5_0", 1, 7, 8, "", "ACTIVE", "LinkUp", 400, {{"symbol_error", 12}, {"port_rcv_data", 10}}});
    look.sample.gpus.emplace();
    auto& gpu = look.sample.gpus->emplace_back();
    gpu.index = 3;
    gpu.pci = "0000:14:00.0";
    gpu.reasons = 0x80;
    gpu.ecc_corrected = 5;
    look.watching = {{"infiniband", true}, {"nvml", false}};
    look.xids = std::move(xids);
    return look;
}

struct Board {
    MetricsBoard board{"n001"};
    base::Time now = start;

    void put(LastLook look, base::Duration passed = 1s) {
        now += passed;
        board.put(std::make_shared<const LastLook>(std::move(look)), now, now + 1h, 0.25);
    }
    bool has(std::string_view line) {
        const auto page = board.page();
        return ("\n" + *page).find(fmt::format("\n{}\n", line)) != std::string::npos;
    }
};

} // namespace

TEST_CASE("metrics have the names, labels and units of node_exporter and dcgm-exporter") {
    Board board;
    CHECK(board.board.page()->empty());
    board.put(look_with());
    INFO(*board.board.page());
    CHECK(board.has(R"(node_infiniband_state_id{device="mlx5_0",port="1"} 4)"));
    CHECK(board.has(R"(node_infiniband_physical_state_id{device="mlx5_0",port="1"} 5)"));
    CHECK(board.has(R"(node_infiniband_rate_bytes_per_second{device="mlx5_0",port="1"} 50000000000)"));
    CHECK(board.has(R"(node_infiniband_symbol_error_total{device="mlx5_0",port="1"} 12)"));
    CHECK(board.has(R"(node_infiniband_port_data_received_bytes_total{device="mlx5_0",port="1"} 40)"));
    const std::string gpu = R"({gpu="3",pci_bus_id="00000000:14:00.0",device="nvidia3",Hostname="n001"} )";
    CHECK(board.has("DCGM_FI_DEV_CLOCK_THROTTLE_REASONS" + gpu + "128"));
    CHECK(board.has("DCGM_FI_DEV_ECC_SBE_VOL_TOTAL" + gpu + "5"));
    CHECK(board.has("DCGM_FI_DEV_XID_ERRORS" + gpu + "0"));
    // What the GPU does not report has no metric at all, not even a head.
    CHECK(board.board.page()->find("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL") == std::string::npos);
    CHECK(board.has(R"(railyard_source_watched{source="nvml"} 0)"));
    CHECK(board.has("railyard_look_duration_seconds_sum 0.25"));
    CHECK(board.has("railyard_look_duration_seconds_count 1"));
    CHECK(board.has("railyard_look_timestamp_seconds 1700003601"));
}

TEST_CASE("a metric says what a GPU does") {
    Board board;
    auto look = look_with();
    auto& gpu = look.sample.gpus->front();
    gpu.busy_percent = 100;
    gpu.power_mw = 121'500;
    gpu.power_limit_mw = 700'000;
    gpu.sm_active = 0.007;
    board.put(look);
    INFO(*board.board.page());
    const std::string labels = R"(gpu="3",pci_bus_id="00000000:14:00.0",device="nvidia3",Hostname="n001")";
    for (const auto* state : {"idle", "waiting", "working", "throttled"})
        CHECK(board.has(fmt::format("railyard_gpu_state{{{},state=\"{}\"}} {}", labels, state,
                                    std::string_view(state) == "waiting" ? 1 : 0)));
    CHECK(board.has(fmt::format("railyard_gpu_power_watts{{{}}} 121.5", labels)));
    CHECK(board.has(fmt::format("railyard_gpu_power_limit_watts{{{}}} 700", labels)));
    CHECK(board.has(fmt::format("railyard_gpu_sm_active_ratio{{{}}} 0.007", labels)));
    CHECK(board.board.page()->find("railyard_gpu_tensor_active_ratio") == std::string::npos);
}

TEST_CASE("metrics tell of no value that is none") {
    Board board;
    auto look = look_with();
    look.sample.gpus->front().lost = true;
    look.sample.ib->ports.front().counters = {{"symbol_error", ~std::uint64_t{0}}, {"site\"s", 3}};
    look.sample.ib->ports.front().state = "what\"\\\n";
    board.put(look);
    const auto page = *board.board.page();
    INFO(page);
    CHECK(page.find("railyard_gpu_lost{gpu=\"3\"") != std::string::npos);
    CHECK(page.find("DCGM_FI_DEV_CLOCK_THROTTLE_REASONS") == std::string::npos); // from before
    CHECK(page.find("railyard_gpu_state") == std::string::npos);
    CHECK(page.find("symbol_error") == std::string::npos);
    CHECK(board.has(R"(node_infiniband_state_id{device="mlx5_0",port="1"} 0)"));
    CHECK(board.has(R"(railyard_infiniband_counter_total{device="mlx5_0",port="1",counter="site\"s"} 3)"));
    // Sources that did not answer leave nothing behind.
    look.sample.ib.reset();
    look.sample.gpus.reset();
    board.put(look);
    CHECK(board.board.page()->find("node_infiniband") == std::string::npos);
    CHECK(board.board.page()->find("DCGM") == std::string::npos);
}

TEST_CASE("findings are counted by rule and severity") {
    Board board;
    auto look = look_with();
    look.findings = {{"gpu.lost", "gpu0", Severity::fatal, start, "", ""},
                     {"gpu.lost", "gpu1", Severity::fatal, start, "", ""},
                     {"gpu.xid.13", "gpu1", Severity::info, start, "", ""}};
    board.put(look);
    CHECK(board.has(R"(railyard_findings{rule="gpu.lost",severity="fatal"} 2)"));
    CHECK(board.has(R"(railyard_findings{rule="gpu.xid.13",severity="info"} 1)"));
}

TEST_CASE("repeated XIDs are seen, and what two sources tell is one") {
    Board board;
    board.put(look_with({{"gpu3", 79}, {"gpu3", 79}})); // NVML and the kernel log
    board.put(look_with({{"gpu3", 79}}));
    CHECK(board.has(R"(railyard_xid_total{component="gpu3",xid="79"} 1)"));
    CHECK(board.has(R"(railyard_xid_last_timestamp_seconds{component="gpu3",xid="79"} 1700003602)"));
    // One each two seconds, for a minute: the flood neither hides itself nor counts twice.
    for (int i = 0; i < 30; ++i)
        board.put(look_with({{"gpu3", 79}, {"gpu3", 79}}), 2s);
    CHECK(board.has(R"(railyard_xid_total{component="gpu3",xid="79"} 11)"));
    board.put(look_with({{"gpu3", 13}}));
    CHECK(board.has(R"(railyard_xid_total{component="gpu3",xid="13"} 1)"));
    CHECK(board.board.page()->find("DCGM_FI_DEV_XID_ERRORS{gpu=\"3\"") != std::string::npos);
    CHECK(board.board.page()->find("Hostname=\"n001\"} 13\n") != std::string::npos);
    board.put(look_with());
    CHECK(board.has(R"(railyard_xid_total{component="gpu3",xid="13"} 1)")); // a counter stays
}

TEST_CASE("a kernel log that makes numbers up does not fill the page") {
    Board board;
    for (std::uint32_t i = 0; i < 5'000; ++i)
        board.put(look_with({{fmt::format("gpu/0000:{:02x}:00", i % 200), i}}), 6s);
    const auto page = *board.board.page();
    std::size_t lines = 0;
    for (std::size_t at = 0; (at = page.find("\nrailyard_xid_total{", at)) != std::string::npos; ++at)
        ++lines;
    CHECK(lines == MetricsBoard::most_xids);
    CHECK(board.has(fmt::format(R"(railyard_xid_total{{component="other",xid="other"}} {})",
                                5'000 - (MetricsBoard::most_xids - 1))));
}
