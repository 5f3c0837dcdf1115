#include "restart/watch/metrics_page.hpp"

#include "restart/watch/pace_meter.hpp"
#include "restart/watch/rules/signal.hpp"

#include <railyard_config.h>

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <functional>
#include <iterator>
#include <string_view>
#include <vector>

namespace restart {
namespace {

// A counter file of sysfs and node_exporter's name for it, without "node_infiniband_" and "_total" (its
// collector/infiniband_linux.go).
struct CounterName {
    std::string_view file, name, help;
    unsigned scale = 1; // kernel units per metric unit
};
constexpr auto counter_names = std::to_array<CounterName>({
    {"VL15_dropped", "vl15_dropped", "Incoming VL15 packets dropped for lack of resources."},
    {"excessive_buffer_overrun_errors", "excessive_buffer_overrun_errors",
     "Buffer overruns in successive flow control periods."},
    {"link_downed", "link_downed", "Times that the link did not recover from an error and went down."},
    {"link_error_recovery", "link_error_recovery", "Times that the link recovered from an error."},
    {"local_link_integrity_errors", "local_link_integrity_errors",
     "Times that local physical errors exceeded their threshold."},
    {"multicast_rcv_packets", "multicast_packets_received", "Multicast packets received."},
    {"multicast_xmit_packets", "multicast_packets_transmitted", "Multicast packets transmitted."},
    {"port_rcv_constraint_errors", "port_constraint_errors_received", "Packets received and discarded."},
    {"port_rcv_data", "port_data_received_bytes", "Bytes received.", 4},
    {"port_rcv_errors", "port_errors_received", "Packets received with an error."},
    {"port_rcv_packets", "port_packets_received", "Packets received."},
    {"port_rcv_remote_physical_errors", "port_receive_remote_physical_errors",
     "Packets received that were marked bad on the way."},
    {"port_rcv_switch_relay_errors", "port_receive_switch_relay_errors",
     "Packets that could not be forwarded."},
    {"port_xmit_constraint_errors", "port_constraint_errors_transmitted", "Packets not transmitted."},
    {"port_xmit_data", "port_data_transmitted_bytes", "Bytes transmitted.", 4},
    {"port_xmit_discards", "port_discards_transmitted", "Outbound packets discarded."},
    {"port_xmit_packets", "port_packets_transmitted", "Packets transmitted."},
    {"port_xmit_wait", "port_transmit_wait", "Ticks in which the port had data and sent none."},
    {"symbol_error", "symbol_error", "Minor link errors on a lane or more."},
    {"unicast_rcv_packets", "unicast_packets_received", "Unicast packets received."},
    {"unicast_xmit_packets", "unicast_packets_transmitted", "Unicast packets transmitted."},
    {"duplicate_request", "duplicate_requests_packets", "Packets of requests that came before."},
    {"implied_nak_seq_err", "implied_nak_seq_errors", "Acknowledgements beyond what was expected."},
    {"local_ack_timeout_err", "local_ack_timeout_errors", "Acknowledgements that did not come in time."},
    {"out_of_buffer", "out_of_buffer_drops", "Packets dropped for lack of a receive request."},
    {"out_of_sequence", "out_of_sequence_packets_received", "Packets received out of sequence."},
    {"packet_seq_err", "packet_sequence_errors", "NAKs received for a sequence error."},
    {"req_cqe_error", "req_cqes_errors", "Completions with an error at the requester."},
    {"req_cqe_flush_error", "req_cqes_flush_errors", "Completions flushed with an error at the requester."},
    {"req_remote_access_errors", "req_remote_access_errors", "Remote access errors at the requester."},
    {"req_remote_invalid_request", "req_remote_invalid_request_errors",
     "Remote invalid request errors at the requester."},
    {"resp_cqe_error", "resp_cqes_errors", "Completions with an error at the responder."},
    {"resp_cqe_flush_error", "resp_cqes_flush_errors", "Completions flushed with an error at the responder."},
    {"resp_local_length_error", "resp_local_length_errors", "Local length errors at the responder."},
    {"resp_remote_access_errors", "resp_remote_access_errors", "Remote access errors at the responder."},
    {"rnr_nak_retry_err", "rnr_nak_retry_packets_received", "Receiver-not-ready NAKs received."},
});

// All bits set: the device does not answer.
constexpr auto no_value = ~std::uint64_t{0};

// Numbers as in the kernel's uverbs, which node_exporter reports.
unsigned state_number(std::string_view state) {
    constexpr std::array<std::string_view, 6> words{"", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER"};
    for (std::size_t i = 1; i < words.size(); ++i)
        if (state == words[i]) return static_cast<unsigned>(i);
    return 0;
}
unsigned physical_number(std::string_view state) {
    constexpr std::array<std::string_view, 8> words{
        "",        "Sleep", "Polling", "Disabled", "PortConfigurationTraining", "LinkUp", "LinkErrorRecovery",
        "Phy Test"};
    for (std::size_t i = 1; i < words.size(); ++i)
        if (state == words[i]) return static_cast<unsigned>(i);
    return 0;
}

std::string escape(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '\\' || c == '"') out += '\\';
        out += c == '\n' ? ' ' : c;
    }
    return out;
}

class Page {
public:
    // Prints one metric: its header, and what `samples` adds. Without samples nothing is printed.
    void metric(std::string_view name, std::string_view type, std::string_view help,
                const std::function<void()>& samples) {
        const auto before = text_.size();
        name_ = name;
        fmt::format_to(std::back_inserter(text_), "# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
        const auto head = text_.size();
        samples();
        if (text_.size() == head) text_.resize(before);
    }
    template <class Value>
    void sample(const std::string& labels, const Value& value, std::string_view suffix = {}) {
        fmt::format_to(std::back_inserter(text_), "{}{}{} {}\n", name_, suffix,
                       labels.empty() ? "" : "{" + labels + "}", value);
    }
    std::string take() && { return std::move(text_); }

private:
    std::string text_;
    std::string_view name_;
};

std::string port_labels(const PortSample& port) {
    return fmt::format("device=\"{}\",port=\"{}\"", escape(port.device), port.port);
}

void print_ports(Page& page, const std::vector<PortSample>& ports) {
    const auto each = [&](std::string_view name, std::string_view help, auto value) {
        page.metric(name, "gauge", help, [&] {
            for (const auto& port : ports)
                page.sample(port_labels(port), value(port));
        });
    };
    each("node_infiniband_state_id",
         "State of the port (0: none of these, 1: down, 2: init, 3: armed, 4: active, 5: act defer).",
         [](const PortSample& port) { return state_number(port.state); });
    each("node_infiniband_physical_state_id",
         "Physical state of the port (0: none of these, 1: sleep, 2: polling, 3: disabled, 4: training, 5: "
         "link "
         "up, 6: link error recovery, 7: phy test).",
         [](const PortSample& port) { return physical_number(port.phys_state); });
    each("node_infiniband_rate_bytes_per_second", "Signal rate of the port.",
         [](const PortSample& port) { return port.rate_gbps * 125e6; });
    for (const auto& counter : counter_names)
        page.metric(fmt::format("node_infiniband_{}_total", counter.name), "counter", counter.help, [&] {
            for (const auto& port : ports)
                if (const auto at = port.counters.find(std::string(counter.file));
                    at != port.counters.end() && at->second != no_value)
                    page.sample(port_labels(port), at->second * counter.scale);
        });
    // Counters of a site's rules without a name in node_exporter.
    page.metric("railyard_infiniband_counter_total", "counter",
                "A counter of the port that has no name above, by its file in sysfs.", [&] {
                    for (const auto& port : ports)
                        for (const auto& [file, value] : port.counters) {
                            const auto* named = std::find_if(
                                counter_names.begin(), counter_names.end(),
                                [&, file = std::string_view(file)](const auto& c) { return c.file == file; });
                            if (named == counter_names.end())
                                page.sample(fmt::format("{},counter=\"{}\"", port_labels(port), escape(file)),
                                            value);
                        }
                });
}

// The labels of dcgm-exporter, as far as NVML alone provides them.
std::string gpu_labels(const GpuSample& gpu, const std::string& host) {
    const auto pci = gpu.pci.find(':') == 4 ? "0000" + gpu.pci : gpu.pci;
    return fmt::format("gpu=\"{}\",pci_bus_id=\"{}\",device=\"nvidia{}\",Hostname=\"{}\"", gpu.index,
                       escape(pci), gpu.index, escape(host));
}

void print_work(Page& page, const MetricsOf& of) {
    std::vector<std::pair<std::string, GpuPace>> gpus; // with their labels
    for (const auto& gpu : *of.look->sample.gpus)
        if (!gpu.lost) gpus.emplace_back(gpu_labels(gpu, of.host), pace_of(gpu));
    page.metric(
        "railyard_gpu_state", "gauge",
        "1 for what the GPU does: idle, waiting (a kernel that has next to nothing to do), working or "
        "throttled.",
        [&] {
            for (const auto& [labels, gpu] : gpus)
                if (const auto work = work_of(gpu))
                    for (const auto state :
                         {GpuWork::idle, GpuWork::waiting, GpuWork::working, GpuWork::throttled})
                        page.sample(fmt::format("{},state=\"{}\"", labels, to_string(state)),
                                    *work == state ? 1 : 0);
        });
    const auto each = [&](std::string_view name, std::string_view help, auto value) {
        page.metric(name, "gauge", help, [&] {
            for (const auto& [labels, gpu] : gpus)
                if (const auto number = value(gpu)) page.sample(labels, *number);
        });
    };
    each("railyard_gpu_power_watts", "Power that the GPU draws, as the driver averages it.",
         [](const GpuPace& gpu) { return gpu.power_w; });
    each("railyard_gpu_power_limit_watts", "Its power limit.",
         [](const GpuPace& gpu) { return gpu.limit_w; });
    each("railyard_gpu_sm_active_ratio", "Multiprocessors that had something to do, by GPM.",
         [](const GpuPace& gpu) { return gpu.sm_active; });
    each("railyard_gpu_tensor_active_ratio", "Share of the time in which their tensor cores had, by GPM.",
         [](const GpuPace& gpu) { return gpu.tensor_active; });
}

void print_gpus(Page& page, const MetricsOf& of) {
    const auto& gpus = *of.look->sample.gpus;
    const auto each = [&](std::string_view name, std::string_view type, std::string_view help, auto value) {
        page.metric(name, type, help, [&] {
            for (const auto& gpu : gpus)
                // Other values of a lost GPU are stale.
                if (const auto number = value(gpu); number && !gpu.lost)
                    page.sample(gpu_labels(gpu, of.host), static_cast<std::uint64_t>(*number));
        });
    };
    page.metric("railyard_gpu_lost", "gauge", "1 when NVML says that the GPU is lost.", [&] {
        for (const auto& gpu : gpus)
            page.sample(gpu_labels(gpu, of.host), gpu.lost ? 1 : 0);
    });
    page.metric("DCGM_FI_DEV_XID_ERRORS", "gauge",
                "The last XID since the agent's start, 0 without one; railyard_xid_total counts them.", [&] {
                    for (const auto& gpu : gpus) {
                        const auto last = of.last_xid.find(fmt::format("gpu{}", gpu.index));
                        page.sample(gpu_labels(gpu, of.host), last == of.last_xid.end() ? 0 : last->second);
                    }
                });
    each("DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", "gauge", "Why the clocks are held down: NVML's bits.",
         [](const GpuSample& gpu) { return std::optional(gpu.reasons); });
    each("DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", "counter", "Corrected ECC errors since the driver was loaded.",
         [](const GpuSample& gpu) { return gpu.ecc_corrected; });
    each("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", "counter", "Uncorrected ECC errors since the driver was loaded.",
         [](const GpuSample& gpu) { return gpu.ecc_uncorrected; });
    each("DCGM_FI_DEV_ROW_REMAP_FAILURE", "gauge", "1 when a row could not be remapped.",
         [](const GpuSample& gpu) { return gpu.remap_failed; });
    each("DCGM_FI_DEV_ROW_REMAP_PENDING", "gauge", "1 when rows wait for a reset to be remapped.",
         [](const GpuSample& gpu) { return gpu.remap_pending; });
    each("DCGM_FI_DEV_PCIE_LINK_GEN", "gauge", "Generation of the PCIe link.",
         [](const GpuSample& gpu) { return gpu.pcie_generation; });
    each("DCGM_FI_DEV_PCIE_MAX_LINK_GEN", "gauge", "The highest generation that GPU and slot have.",
         [](const GpuSample& gpu) { return gpu.pcie_generation_max; });
    each("DCGM_FI_DEV_PCIE_LINK_WIDTH", "gauge", "Lanes of the PCIe link.",
         [](const GpuSample& gpu) { return gpu.pcie_width; });
    each("DCGM_FI_DEV_PCIE_MAX_LINK_WIDTH", "gauge", "Lanes that GPU and slot have.",
         [](const GpuSample& gpu) { return gpu.pcie_width_max; });
    each("DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "counter", "PCIe replays.",
         [](const GpuSample& gpu) { return gpu.pcie_replays; });
    print_work(page, of);
}

void print_xids(Page& page, const MetricsOf& of) {
    const auto labels = [](const auto& key) {
        return fmt::format("component=\"{}\",xid=\"{}\"", escape(key.first), escape(key.second));
    };
    page.metric(
        "railyard_xid_total", "counter",
        "XIDs since the agent's start; of equal ones within 5 seconds the first counts, as NVML and the "
        "kernel log both tell them.",
        [&] {
            for (const auto& [key, xid] : of.xids)
                page.sample(labels(key), xid.count);
        });
    page.metric("railyard_xid_last_timestamp_seconds", "gauge", "When such an XID came last.", [&] {
        for (const auto& [key, xid] : of.xids)
            page.sample(labels(key), base::to_seconds(xid.last));
    });
}

void print_agent(Page& page, const MetricsOf& of) {
    page.metric(
        "railyard_agent_info", "gauge", "The agent's version, and the host's name as it reports it.",
        [&] { page.sample(fmt::format("version=\"{}\",host=\"{}\"", PACKAGE_VERSION, escape(of.host)), 1); });
    page.metric("railyard_findings", "gauge", "Findings that hold, by rule and severity.", [&] {
        std::map<std::pair<std::string, Severity>, unsigned> counts;
        for (const auto& finding : of.look->findings)
            ++counts[{finding.rule, finding.severity}];
        for (const auto& [key, count] : counts)
            page.sample(fmt::format("rule=\"{}\",severity=\"{}\"", escape(key.first), to_string(key.second)),
                        count);
    });
    page.metric("railyard_source_watched", "gauge", "1 while this source of signals is watched, else 0.",
                [&] {
                    for (const auto& [source, watched] : of.look->watching)
                        page.sample(fmt::format("source=\"{}\"", escape(source)), watched ? 1 : 0);
                });
    page.metric("railyard_look_duration_seconds", "summary",
                "Time that the agent takes to collect what its sources have read and to judge it.", [&] {
                    page.sample("", of.look_seconds, "_sum");
                    page.sample("", of.looks, "_count");
                });
    page.metric("railyard_look_timestamp_seconds", "gauge", "When the agent looked last.",
                [&] { page.sample("", base::to_seconds(of.looked)); });
}

} // namespace

std::string metrics_page(const MetricsOf& of) {
    Page page;
    print_agent(page, of);
    print_xids(page, of);
    if (of.look->sample.ib) print_ports(page, of.look->sample.ib->ports);
    if (of.look->sample.gpus) print_gpus(page, of);
    return std::move(page).take();
}

} // namespace restart
